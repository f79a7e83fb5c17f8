//! What the clients really drew.
//!
//! Every client of a bed writes down, frame by frame, where its radar shows its own tank and everybody else's. All of them tell the time
//! by the machine's one clock, so that the one's own place is the truth about what the others show of it. The radar is flat: heights do
//! not count. It does not say whose tank a mark is: it is that of the nearest tank.

use std::collections::BTreeMap;
use std::time::Duration;

/// Where a client writes it, in its home.
pub(super) const FILE: &str = "eyes";

/// A mark that is farther than this from every tank, in metres, is of one that is not there any more.
const FARTHEST_M: f64 = 100.0;

/// A tank that moves farther than this between two frames, in metres, has come to life elsewhere.
const JUMP_M: f64 = 3.0;

/// How far a tank was drawn from where it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// How many marks were looked at.
    pub marks: usize,
    /// The mean, in metres.
    pub mean_m: f64,
    /// What half of them stay below.
    pub median_m: f64,
    /// What 99 % of them stay below.
    pub p99_m: f64,
}

/// One client's frames, in order of time.
pub(super) type Frames = Vec<Frame>;

/// One frame: its time in seconds, the client's own tank and the others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    seconds: f64,
    own: [f64; 2],
    others: Vec<[f64; 2]>,
}

/// Reads what a client wrote. A line that is being written is left out.
pub(super) fn read(text: &str) -> Frames {
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().filter_map(frame).collect()
}

fn frame(line: &str) -> Option<Frame> {
    let mut cells = line.split(' ');
    let nanos: i64 = cells.next()?.parse().ok()?;
    let numbers: Vec<f64> =
        cells.map(|cell| cell.parse().ok().filter(|n: &f64| n.is_finite())).collect::<Option<_>>()?;
    let (places, _) = numbers.as_chunks::<2>();
    let (own, others) = places.split_first()?;
    Some(Frame { seconds: nanos as f64 * 1e-9, own: *own, others: others.to_vec() })
}

/// Compares what everybody drew with where everybody was.
pub(super) fn compare(looks: &BTreeMap<String, Frames>, skip: Duration) -> BTreeMap<String, Drawn> {
    let begin = looks.values().filter_map(|frames| frames.first()).map(|frame| frame.seconds).fold(0.0, f64::max);
    let begin = begin + skip.as_secs_f64();
    let of = |viewer: &String, frames: &Frames| {
        let mut errors = Vec::new();
        for frame in frames.iter().filter(|frame| frame.seconds >= begin) {
            let rest = looks.iter().filter(|(name, _)| *name != viewer);
            let tanks: Vec<[f64; 2]> = rest.filter_map(|(_, frames)| place(frames, frame.seconds)).collect();
            let nearest = |mark: &[f64; 2]| tanks.iter().map(|tank| distance(*tank, *mark)).min_by(f64::total_cmp);
            errors.extend(frame.others.iter().filter_map(nearest).filter(|error| *error <= FARTHEST_M));
        }
        Drawn::of(errors)
    };
    looks.iter().map(|(viewer, frames)| (viewer.clone(), of(viewer, frames))).collect()
}

/// Where a client's own tank was, if it was anywhere for sure.
fn place(frames: &Frames, seconds: f64) -> Option<[f64; 2]> {
    let after = frames.partition_point(|frame| frame.seconds <= seconds);
    let (a, b) = (frames.get(after.checked_sub(1)?)?, frames.get(after)?);
    if distance(a.own, b.own) > JUMP_M {
        return None;
    }
    let part = (seconds - a.seconds) / (b.seconds - a.seconds);
    Some([0, 1].map(|axis| a.own[axis] + part * (b.own[axis] - a.own[axis])))
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

impl Drawn {
    fn of(mut errors: Vec<f64>) -> Self {
        errors.sort_by(f64::total_cmp);
        let at = |share: f64| errors.get((errors.len() as f64 * share) as usize).copied().unwrap_or_default();
        Self {
            marks: errors.len(),
            mean_m: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
            median_m: at(0.5),
            p99_m: at(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drives east at 10 m/s; B stands and shows it a tenth of a second late.
    #[test]
    fn what_is_drawn_late_is_seen_to_be() {
        let mut looks = BTreeMap::from([("A".to_string(), String::new()), ("B".to_string(), String::new())]);
        for n in 0..200_i64 {
            let (nanos, x) = (n * 20_000_000, n as f64 * 0.2);
            looks.get_mut("A").unwrap().push_str(&format!("{nanos} {x} 5 0.0 50.0\n"));
            looks.get_mut("B").unwrap().push_str(&format!("{} 0.0 50.0 {} 5\n", nanos + 7, x - 1.0));
        }
        looks.get_mut("B").unwrap().push_str("4000000000 0.0 5");
        let looks = looks.into_iter().map(|(name, text)| (name, read(&text))).collect();
        let drawn = compare(&looks, Duration::from_secs(1));
        assert!((drawn["B"].mean_m - 1.0).abs() < 1e-3 && drawn["B"].marks > 140, "{drawn:?}");
        assert!(drawn["A"].mean_m < 1e-3 && drawn["A"].p99_m < 1e-3, "{drawn:?}");
    }

    #[test]
    fn whoever_comes_to_life_elsewhere_is_nowhere_in_between() {
        let frames = read("0 0 0 1 1\n1000000000 50 0 1 1\n2000000000 50 0 1 1\n3");
        assert_eq!(place(&frames, 0.5), None);
        assert_eq!(place(&frames, 1.5), Some([50.0, 0.0]));
        assert_eq!((place(&frames, -1.0), place(&frames, 2.5)), (None, None));
    }

    #[test]
    fn whatever_is_no_frame_is_left_out() {
        assert_eq!(read("x\n\n1 2\n1 2 3\n1 2 nan 4\nnonsense 1 2\n"), read("1 2 3\n"));
        assert!(compare(&BTreeMap::new(), Duration::ZERO).is_empty());
    }
}
