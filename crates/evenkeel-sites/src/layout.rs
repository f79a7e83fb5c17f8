//! A picture of distances: nodes in the plane, about as far apart as they should be.

/// So many nodes at most are placed by themselves; the others by their distances to these.
const LANDMARKS: usize = 200;
/// Beyond so many nodes, the picture is not polished: it takes the square of their number.
const POLISHED: usize = 2_000;

/// Places nodes in the plane so that they are about as far from each other as `distances` says: for a picture of round-trip times
/// where nobody knows where the nodes are.
///
/// `distances` has `n` rows of `n` values. Of two directions the mean counts; what is infinite or no distance is as far as the farthest.
/// The middle is at (0, 0), the unit is that of the distances, and the picture is spread from left to right. The same distances give the
/// same picture.
///
/// Nothing if there are not `n * n` distances.
///
/// ```
/// use evenkeel_sites::layout;
/// let places = layout(3, &[0.0, 3.0, 5.0, 3.0, 0.0, 4.0, 5.0, 4.0, 0.0]).unwrap();
/// let apart = |a: usize, b: usize| (places[a][0] - places[b][0]).hypot(places[a][1] - places[b][1]);
/// assert!((apart(0, 1) - 3.0).abs() < 1e-6 && (apart(1, 2) - 4.0).abs() < 1e-6 && (apart(0, 2) - 5.0).abs() < 1e-6);
/// ```
///
/// Method: classical scaling of up to 200 landmarks far from each other (Torgerson 1952), the others placed by their distances to
/// those (de Silva, Tenenbaum 2004), then, up to 2,000 nodes, a few steps of majorisation of the stress (SMACOF, de Leeuw 1977).
pub fn layout(n: usize, distances: &[f32]) -> Option<Vec<[f64; 2]>> {
    if n.checked_mul(n) != Some(distances.len()) {
        return None;
    }
    if n == 0 {
        return Some(Vec::new());
    }
    let distances = Distances::new(n, distances);
    let landmarks = landmarks(&distances);
    let mut places = scaled(&distances, &landmarks);
    if n <= POLISHED {
        for _ in 0..30 {
            places = polished(&distances, &places);
        }
    }
    centre(&mut places);
    Some(places)
}

struct Distances<'a> {
    n: usize,
    values: &'a [f32],
    farthest: f64,
}

impl<'a> Distances<'a> {
    fn new(n: usize, values: &'a [f32]) -> Self {
        let usable = values.iter().copied().filter(|value| value.is_finite());
        Self { n, values, farthest: f64::from(usable.fold(0.0, f32::max)) }
    }

    fn one_way(&self, a: usize, b: usize) -> f64 {
        let value = f64::from(self.values[a * self.n + b]);
        if value.is_finite() && value >= 0.0 { value } else { self.farthest }
    }

    fn get(&self, a: usize, b: usize) -> f64 {
        if a == b { 0.0 } else { (self.one_way(a, b) + self.one_way(b, a)) / 2.0 }
    }
}

/// Node 0, and again and again the one that is farthest from all so far.
fn landmarks(distances: &Distances<'_>) -> Vec<usize> {
    let mut chosen = Vec::new();
    let mut apart = vec![f64::INFINITY; distances.n];
    let mut next = 0;
    while chosen.len() < LANDMARKS.min(distances.n) {
        chosen.push(next);
        for (i, apart) in apart.iter_mut().enumerate() {
            *apart = apart.min(distances.get(next, i));
        }
        // Not again, even if others are at the same place.
        apart[next] = -1.0;
        next = (0..distances.n).fold(0, |best, i| if apart[i] > apart[best] { i } else { best });
    }
    chosen
}

/// All nodes by their squared distances to the landmarks.
fn scaled(distances: &Distances<'_>, landmarks: &[usize]) -> Vec<[f64; 2]> {
    let k = landmarks.len();
    let squares = |i: usize| landmarks.iter().map(move |j| distances.get(i, *j).powi(2));
    let mean = |i: usize| squares(i).sum::<f64>() / k as f64;
    let means: Vec<f64> = landmarks.iter().map(|i| mean(*i)).collect();
    let total = means.iter().sum::<f64>() / k as f64;
    // The products of the places, if their middle is at 0.
    let mut products = Vec::with_capacity(k * k);
    for (i, own) in landmarks.iter().zip(&means) {
        products.extend(squares(*i).zip(&means).map(|(square, other)| -(square - own - other + total) / 2.0));
    }
    let axes = [axis(&mut products, k), axis(&mut products, k)];
    let place = |i: usize| {
        axes.each_ref().map(|(strength, axis)| {
            let along: f64 = squares(i).zip(&means).zip(axis).map(|((square, mean), a)| (square - mean) * a).sum();
            if *strength > 0.0 { -along / (2.0 * strength.sqrt()) } else { 0.0 }
        })
    };
    (0..distances.n).map(place).collect()
}

/// The strongest direction of a symmetric matrix and its strength, by power iteration; takes it out of the matrix.
fn axis(matrix: &mut [f64], k: usize) -> (f64, Vec<f64>) {
    // No eigenvalue is less than minus this: added to all, the greatest is the strongest.
    let shift = matrix.chunks_exact(k).map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max);
    // Any start will do that is not square to the direction: uneven, and always the same.
    let mut vector: Vec<f64> = (0..k).map(|i| 1.0 + (i * i % 97) as f64).collect();
    for _ in 0..300 {
        let times = |row: &[f64]| row.iter().zip(&vector).map(|(a, b)| a * b).sum::<f64>();
        let mut next: Vec<f64> =
            matrix.chunks_exact(k).zip(&vector).map(|(row, own)| times(row) + shift * own).collect();
        let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length <= 0.0 {
            return (0.0, vec![0.0; k]);
        }
        next.iter_mut().for_each(|x| *x /= length);
        vector = next;
    }
    let rows = matrix.chunks_exact(k).zip(&vector);
    let strength = rows.map(|(row, own)| own * row.iter().zip(&vector).map(|(a, b)| a * b).sum::<f64>()).sum();
    for (row, a) in matrix.chunks_exact_mut(k).zip(&vector) {
        row.iter_mut().zip(&vector).for_each(|(x, b)| *x -= strength * a * b);
    }
    (strength, vector)
}

/// Every node goes to the mean of where the others would have it.
fn polished(distances: &Distances<'_>, places: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = places.len() as f64;
    let moved = |i: usize| {
        let mut sum = [0.0; 2];
        for (j, other) in places.iter().enumerate() {
            let off = [places[i][0] - other[0], places[i][1] - other[1]];
            let apart = (off[0] * off[0] + off[1] * off[1]).sqrt();
            let stretch = if apart > 0.0 { distances.get(i, j) / apart } else { 0.0 };
            sum = [sum[0] + other[0] + stretch * off[0], sum[1] + other[1] + stretch * off[1]];
        }
        sum.map(|sum| sum / n)
    };
    (0..places.len()).map(moved).collect()
}

fn centre(places: &mut [[f64; 2]]) {
    let n = places.len() as f64;
    let middle = [0, 1].map(|axis| places.iter().map(|place| place[axis]).sum::<f64>() / n);
    places.iter_mut().for_each(|place| *place = [place[0] - middle[0], place[1] - middle[1]]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use proptest::prelude::*;

    fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
        ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
    }

    fn plane(n: usize) -> Vec<f32> {
        let mut random = Random::new(1);
        let points: Vec<[f64; 2]> = (0..n).map(|_| [random.between(0.0, 300.0), random.between(0.0, 150.0)]).collect();
        points.iter().flat_map(|a| points.iter().map(|b| apart(*a, *b) as f32)).collect()
    }

    #[test]
    fn points_of_the_plane_are_found_again() {
        for n in [3, 40, 500] {
            let distances = plane(n);
            let places = layout(n, &distances).unwrap();
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let wanted = f64::from(distances[i * n + j]);
                assert!((apart(places[i], places[j]) - wanted).abs() < 0.1, "{n}: {i} and {j}");
            }
            let spread = [0, 1].map(|axis| places.iter().map(|place| place[axis].powi(2)).sum::<f64>());
            assert!(spread[0] > spread[1], "from left to right");
            assert_eq!(layout(n, &distances), Some(places));
        }
    }

    #[test]
    fn what_is_flat_needs_no_polish() {
        let values = plane(300);
        let distances = Distances::new(300, &values);
        let places = scaled(&distances, &landmarks(&distances));
        let off = |i: usize| (apart(places[i], places[0]) - distances.get(i, 0)).abs();
        assert!((0..300).all(|i| off(i) < 0.1));
    }

    #[test]
    fn what_does_not_fit_in_the_plane_is_spread_out() {
        let network = crate::topology::TransitStub::default().generate(1);
        let distances: Vec<f32> = (0..600).flat_map(|i| network.row(i).to_vec()).collect();
        let places = layout(600, &distances).unwrap();
        let pairs = (0..600).flat_map(|i| (0..i).map(move |j| (i, j)));
        let (mut off, mut all) = (0.0, 0.0);
        for (i, j) in pairs {
            let wanted = f64::from(distances[i * 600 + j]);
            off += (apart(places[i], places[j]) - wanted).powi(2);
            all += wanted * wanted;
        }
        assert!(off / all < 0.06, "stress {}", off / all);
    }

    #[test]
    fn what_is_infinite_is_far() {
        let inf = f32::INFINITY;
        let places = layout(3, &[0.0, 10.0, inf, 10.0, 0.0, f32::NAN, inf, -1.0, 0.0]).unwrap();
        assert!(apart(places[0], places[2]) > 9.0 && apart(places[1], places[2]) > 9.0, "{places:?}");
        assert_eq!(layout(2, &[0.0; 3]), None);
        assert_eq!((layout(0, &[]), layout(1, &[5.0])), (Some(vec![]), Some(vec![[0.0, 0.0]])));
        assert_eq!(layout(2, &[0.0; 4]), Some(vec![[0.0, 0.0]; 2]));
    }

    proptest! {
        #[test]
        fn any_distances_give_finite_places(n in 0usize..8, values in proptest::collection::vec(any::<f32>(), 64)) {
            let places = layout(n, &values[..n * n]).unwrap();
            prop_assert!(places.iter().flatten().all(|x| x.is_finite()), "{places:?}");
        }
    }
}
