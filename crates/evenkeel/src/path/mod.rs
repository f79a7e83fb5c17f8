//! Piecewise paths, and the distance between two of them integrated over time: the export error.
//!
//! A sender's exported path is the sequence of its DR vectors; a receiver's placed path the sequence of those it got,
//! each from its reception on. Both are sequences of [`Piece`]s. [`export_error`] walks them side by side, cuts time
//! wherever one of them changes, and adds up [`distance_integral`] in between. It takes any iterator, so that a ring
//! buffer needs no copy, and allocates nothing. [`Path`] owns its pieces, for those who just want one.

mod antiderivative;
#[cfg(test)]
mod curves;
mod forms;
mod integral;
mod march;
mod owned;
mod quadrature;
#[cfg(test)]
mod reference;
mod relative;
mod taylor;

pub(crate) use antiderivative::Antiderivative;
pub use integral::{Integral, distance_integral};
pub use owned::{OutOfOrder, Path};

use crate::geometry::Vec3;
use crate::ids::VectorNumber;
use crate::motion::{Motion, State};
use crate::time::GlobalTime;
use core::borrow::Borrow;
use core::ops::{Add, AddAssign, Sub, SubAssign};

/// One piece of a piecewise path: it holds from `start` (inclusive) until the next piece starts.
///
/// ```
/// use evenkeel::{Duration, GlobalTime, Motion, Vec3, VectorNumber, path::Piece};
/// let generated = GlobalTime::from_millis(1_000);
/// let received = generated + Duration::from_millis(200);
/// let motion = Motion::linear(Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0));
/// let placed = Piece::new(received, generated, motion, VectorNumber::new(7));
/// let placed = placed.frozen_from(generated + Duration::from_secs(2));
/// assert_eq!(placed.position_at(received), Vec3::new(2.0, 0.0, 0.0));
/// assert_eq!(placed.position_at(generated + Duration::from_secs(5)), Vec3::new(20.0, 0.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Piece {
    /// When the piece begins to be shown.
    pub start: GlobalTime,
    /// When the motion starts: the position at `t` is that of the motion `t - epoch` later.
    pub epoch: GlobalTime,
    /// How it goes.
    pub motion: Motion,
    /// The DR vector it came with, if it came with one.
    pub vector: Option<VectorNumber>,
    /// From then on it stays where it was then, because extrapolating any further would be guessing.
    pub freeze: Option<GlobalTime>,
}

impl Piece {
    /// A piece that goes on for ever.
    pub const fn new(start: GlobalTime, epoch: GlobalTime, motion: Motion, vector: Option<VectorNumber>) -> Self {
        Self { start, epoch, motion, vector, freeze: None }
    }

    /// The same piece, staying where it is from `freeze` on.
    pub const fn frozen_from(self, freeze: GlobalTime) -> Self {
        Self { freeze: Some(freeze), ..self }
    }

    /// The position at `t`, also where another piece holds.
    pub fn position_at(&self, t: GlobalTime) -> Vec3 {
        let view = self.view();
        self.motion.position_at(view.age(view.thawed(t)))
    }

    /// The state at `t`, also where another piece holds. Frozen, it neither moves nor turns.
    pub fn at(&self, t: GlobalTime) -> State {
        self.view().at(t)
    }

    /// Whether it has stopped by `t`.
    pub fn is_frozen(&self, t: GlobalTime) -> bool {
        self.view().is_frozen(t)
    }
}

/// A piece whose motion is kept elsewhere: motions are large, and paths are walked far more often than kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceView<'a> {
    pub(crate) start: GlobalTime,
    pub(crate) epoch: GlobalTime,
    pub(crate) motion: &'a Motion,
    pub(crate) vector: Option<VectorNumber>,
    pub(crate) freeze: Option<GlobalTime>,
}

impl PieceView<'_> {
    /// The state at `t`, also where another piece holds. Frozen, it neither moves nor turns.
    pub(crate) fn at(&self, t: GlobalTime) -> State {
        let age = self.age(self.thawed(t));
        if self.is_frozen(t) { self.motion.frozen(age).at(0.0) } else { self.motion.at(age) }
    }

    fn is_frozen(&self, t: GlobalTime) -> bool {
        self.freeze.is_some_and(|freeze| freeze <= t)
    }

    /// The last moment up to `t` at which it moved.
    fn thawed(&self, t: GlobalTime) -> GlobalTime {
        self.freeze.map_or(t, |freeze| freeze.min(t))
    }

    fn age(&self, t: GlobalTime) -> f64 {
        t.since(self.epoch).as_secs_f64()
    }

    /// The motion that stands in for its own at `t`, if it has stopped by then.
    fn held_at(&self, t: GlobalTime) -> Option<Motion> {
        self.is_frozen(t).then(|| self.motion.frozen(self.age(self.thawed(t))))
    }

    /// When after `t` it freezes, if it does before `until`; else `until`.
    fn freeze_within(&self, t: GlobalTime, until: GlobalTime) -> GlobalTime {
        self.freeze.filter(|&freeze| freeze > t).map_or(until, |freeze| freeze.min(until))
    }

    /// Whether both are the same motion at the same age at `t`, as they are once a vector is received.
    fn coincides(&self, other: &PieceView<'_>, t: GlobalTime) -> bool {
        let alike = self.is_frozen(t) == other.is_frozen(t) && self.thawed(t) == other.thawed(t);
        alike && self.epoch == other.epoch && self.motion == other.motion
    }
}

/// What a path is made of: pieces, or views of them.
pub(crate) trait Segment {
    /// Itself without its motion.
    fn view(&self) -> PieceView<'_>;
}

impl Segment for Piece {
    fn view(&self) -> PieceView<'_> {
        let Self { start, epoch, ref motion, vector, freeze } = *self;
        PieceView { start, epoch, motion, vector, freeze }
    }
}

impl Segment for PieceView<'_> {
    fn view(&self) -> PieceView<'_> {
        *self
    }
}

/// A piece, or a reference to one.
struct Borrowed<P>(P);

impl<P: Borrow<Piece>> Segment for Borrowed<P> {
    fn view(&self) -> PieceView<'_> {
        self.0.borrow().view()
    }
}

/// Export error in distance times seconds, split by whether the receiver showed the vector that was exported.
///
/// ```
/// use evenkeel::path::SplitError;
/// let mut books = SplitError { before: 1.5, after: 0.0 };
/// books += SplitError { before: 0.5, after: 0.25 };
/// assert_eq!(books.total(), 2.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SplitError {
    /// While the receiver showed another vector than the exported one.
    pub before: f64,
    /// While both were on the same vector; zero if time is global.
    pub after: f64,
}

impl SplitError {
    /// Both parts together.
    pub fn total(self) -> f64 {
        self.before + self.after
    }
}

impl Add for SplitError {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { before: self.before + other.before, after: self.after + other.after }
    }
}

impl Sub for SplitError {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { before: self.before - other.before, after: self.after - other.after }
    }
}

impl AddAssign for SplitError {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for SplitError {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// The position on a piecewise path at `t`; none before its first piece. Pieces come in order of their start; of
/// those that start together the last one holds.
///
/// ```
/// use evenkeel::{GlobalTime, Motion, Vec3, VectorNumber, path::{Piece, position_on}};
/// let start = GlobalTime::from_millis(100);
/// let path = [Piece::new(start, start, Motion::stationary(Vec3::new(1.0, 2.0, 3.0)), VectorNumber::new(1))];
/// assert_eq!(position_on(&path, GlobalTime::ZERO), None);
/// assert_eq!(position_on(&path, start), Some(Vec3::new(1.0, 2.0, 3.0)));
/// ```
pub fn position_on<P>(path: P, t: GlobalTime) -> Option<Vec3>
where
    P: IntoIterator<Item: Borrow<Piece>>,
{
    let piece = path.into_iter().take_while(|piece| piece.borrow().start <= t).last()?;
    Some(piece.borrow().position_at(t))
}

/// The export error over `[from, to]`: the distance between two paths, integrated, and split by whether both show the
/// same vector.
///
/// Time before the first placed piece counts nothing, because a receiver that has nothing shows nothing; nor does time
/// before the first exported one. Pieces, or references to them, come in order of their start; of those that start
/// together the last one holds. Nothing is allocated.
///
/// ```
/// use evenkeel::{GlobalTime, Motion, Vec3, VectorNumber, path::{Piece, export_error}};
/// let ms = GlobalTime::from_millis;
/// let parked = Motion::stationary(Vec3::ZERO);
/// let driving = Motion::linear(Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0));
/// let [first, second] = [1, 2].map(VectorNumber::new);
/// let exported = [Piece::new(ms(0), ms(0), parked, first), Piece::new(ms(1_000), ms(1_000), driving, second)];
/// // Everything arrives 200 ms later.
/// let placed = [Piece::new(ms(200), ms(0), parked, first), Piece::new(ms(1_200), ms(1_000), driving, second)];
/// let error = export_error(&exported, &placed, ms(0), ms(5_000));
/// assert!((error.before - 0.2).abs() < 1e-12); // from 0 m to 2 m within 0.2 s
/// assert_eq!(error.after, 0.0);
/// ```
pub fn export_error<E, P>(exported: E, placed: P, from: GlobalTime, to: GlobalTime) -> SplitError
where
    E: IntoIterator<Item: Borrow<Piece>>,
    P: IntoIterator<Item: Borrow<Piece>>,
{
    error_between(exported.into_iter().map(Borrowed), placed.into_iter().map(Borrowed), from, to)
}

/// The same for any kind of segment.
pub(crate) fn error_between(
    exported: impl Iterator<Item: Segment>,
    placed: impl Iterator<Item: Segment>,
    from: GlobalTime,
    to: GlobalTime,
) -> SplitError {
    let (mut exported, mut placed) = (Cursor::new(exported), Cursor::new(placed));
    let mut error = SplitError::default();
    let mut now = from;
    while now < to {
        let until = exported.seek(now).min(to);
        if let Some(piece) = exported.holding() {
            error += error_of_piece(&piece, &mut placed, now, until);
        }
        now = until;
    }
    error
}

/// The distance between the real path and a placed one, integrated over `[from, to]`: what a player sees.
///
/// The real path is given as samples in order of time, with straight lines between them. Time before the first sample
/// and after the last counts nothing, nor does time before the first placed piece. Nothing is allocated.
///
/// ```
/// use evenkeel::{GlobalTime, Motion, Vec3, VectorNumber, path::{Piece, real_error}};
/// let ms = GlobalTime::from_millis;
/// let real = [(ms(0), Vec3::ZERO), (ms(500), Vec3::new(1.0, 0.0, 0.0)), (ms(1_000), Vec3::ZERO)];
/// let placed = [Piece::new(ms(0), ms(0), Motion::stationary(Vec3::ZERO), VectorNumber::new(1))];
/// let error = real_error(real, &placed, ms(0), ms(5_000));
/// assert!((error - 0.5).abs() < 1e-12);
/// ```
pub fn real_error<S, P>(samples: S, placed: P, from: GlobalTime, to: GlobalTime) -> f64
where
    S: IntoIterator<Item = (GlobalTime, Vec3)>,
    P: IntoIterator<Item: Borrow<Piece>>,
{
    let mut samples = samples.into_iter();
    let mut placed = Cursor::new(placed.into_iter().map(Borrowed));
    let Some((mut start, mut position)) = samples.next() else { return 0.0 };
    let mut error = 0.0;
    for (end, end_position) in samples {
        if start >= to {
            break;
        }
        if end > start && end > from {
            let velocity = (end_position - position) * (1.0 / end.since(start).as_secs_f64());
            let stretch = Piece::new(start, start, Motion::linear(position, velocity), None);
            error += error_of_piece(&stretch.view(), &mut placed, start.max(from), end.min(to)).total();
        }
        (start, position) = (end, end_position);
    }
    error
}

/// The error while one exported piece holds.
fn error_of_piece<I>(exported: &PieceView<'_>, placed: &mut Cursor<I>, from: GlobalTime, to: GlobalTime) -> SplitError
where
    I: Iterator<Item: Segment>,
{
    let mut error = SplitError::default();
    let mut now = from;
    while now < to {
        let mut until = exported.freeze_within(now, placed.seek(now).min(to));
        if let Some(shown) = placed.holding() {
            until = shown.freeze_within(now, until);
            let part = error_of_stretch(exported, &shown, now, until);
            if shown.vector == exported.vector {
                error.after += part;
            } else {
                error.before += part;
            }
        }
        now = until;
    }
    error
}

/// The error over a stretch in which neither piece changes or freezes.
fn error_of_stretch(exported: &PieceView<'_>, shown: &PieceView<'_>, from: GlobalTime, to: GlobalTime) -> f64 {
    if exported.coincides(shown, from) {
        return 0.0;
    }
    // What has stopped is the same at every age.
    let (a, b) = (exported.held_at(from), shown.held_at(from));
    let (a, b) = (a.as_ref().unwrap_or(exported.motion), b.as_ref().unwrap_or(shown.motion));
    distance_integral(a, exported.age(from), b, shown.age(from), to.since(from).as_secs_f64()).value
}

/// Walks a path forward with one piece of foresight.
struct Cursor<I: Iterator> {
    holding: Option<I::Item>,
    next: Option<I::Item>,
    rest: I,
}

impl<I: Iterator<Item: Segment>> Cursor<I> {
    fn new(mut rest: I) -> Self {
        Self { holding: None, next: rest.next(), rest }
    }

    /// Goes to the piece that holds at `t`, and says when the next one starts.
    fn seek(&mut self, t: GlobalTime) -> GlobalTime {
        while let Some(next) = &self.next {
            let start = next.view().start;
            if start > t {
                return start;
            }
            self.holding = self.next.take();
            self.next = self.rest.next();
        }
        GlobalTime::MAX
    }

    fn holding(&self) -> Option<PieceView<'_>> {
        self.holding.as_ref().map(Segment::view)
    }
}

#[cfg(test)]
mod tests {
    use super::reference::{vector, worst};
    use super::*;
    use crate::time::Duration;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn ms(t: i64) -> GlobalTime {
        GlobalTime::from_millis(t)
    }

    fn motion() -> impl Strategy<Value = Motion> {
        prop_oneof![
            vector(20.0).prop_map(Motion::stationary),
            (vector(20.0), vector(20.0)).prop_map(|(p, v)| Motion::linear(p, v)),
            (vector(20.0), -3.0..3.0f64, -25.0..25.0f64, -2.0..2.0f64)
                .prop_map(|(p, h, s, w)| Motion::circular(p, h, s, w)),
            (vector(20.0), vector(20.0), vector(9.0)).prop_map(|(p, v, a)| Motion::accelerated(p, v, a)),
            (vector(20.0), vector(20.0), vector(20.0), vector(20.0), 0.1..2.0f64)
                .prop_map(|(p, v, q, w, t)| Motion::spline(p, v, q, w, t)),
        ]
    }

    /// Vectors as generated: numbered, each starting when it is generated, some frozen after a while.
    fn exported() -> impl Strategy<Value = Vec<Piece>> {
        let freeze = prop_oneof![Just(None), (50..900i64).prop_map(Some)];
        prop::collection::vec((motion(), 0..600i64, freeze), 1..6).prop_map(|vectors| {
            let mut now = ms(0);
            let pieces = vectors.into_iter().zip(1..).map(|((motion, gap, freeze), number)| {
                now += Duration::from_millis(gap);
                let piece = Piece::new(now, now, motion, VectorNumber::new(number));
                freeze.map_or(piece, |age| piece.frozen_from(now + Duration::from_millis(age)))
            });
            pieces.collect()
        })
    }

    /// The same vectors as received: some lost, each late, the clock off by a little if at all.
    fn paths() -> impl Strategy<Value = (Vec<Piece>, Vec<Piece>)> {
        let fate = (any::<bool>(), 1..400i64, prop_oneof![Just(0i64), -20..20i64]);
        (exported(), prop::collection::vec(fate, 6)).prop_map(|(exported, fates)| {
            let mut placed = Vec::new();
            let mut newest = GlobalTime::MIN;
            for (piece, (lost, delay, skew)) in exported.iter().zip(fates) {
                let (start, epoch) =
                    (piece.start + Duration::from_millis(delay), piece.epoch + Duration::from_millis(skew));
                if !lost && start > newest {
                    newest = start;
                    placed.push(Piece { start, epoch, ..*piece });
                }
            }
            (exported, placed)
        })
    }

    fn piece_at(path: &[Piece], t: GlobalTime) -> Option<&Piece> {
        path.iter().rev().find(|piece| piece.start <= t)
    }

    /// The reference: time cut wherever anything may change, and each stretch integrated the slow way.
    fn slow_error(exported: &[Piece], placed: &[Piece], from: GlobalTime, to: GlobalTime) -> SplitError {
        let events = exported.iter().chain(placed).flat_map(|piece| {
            let Motion { course, .. } = piece.motion;
            let bend = match course {
                crate::Course::Spline { duration, .. } => Some(piece.epoch + Duration::from_secs_f64(duration)),
                _ => None,
            };
            [Some(piece.start), piece.freeze, bend]
        });
        let mut cuts: Vec<GlobalTime> = events.flatten().filter(|&t| t > from && t < to).collect();
        cuts.extend([from, to]);
        cuts.sort();
        let mut error = SplitError::default();
        for stretch in cuts.windows(2) {
            let (start, span) = (stretch[0], (stretch[1] - stretch[0]).as_secs_f64());
            let (Some(a), Some(b)) = (piece_at(exported, start), piece_at(placed, start)) else { continue };
            let place = |piece: &Piece, t: f64| {
                let end = piece.freeze.map_or(f64::MAX, |freeze| (freeze - piece.epoch).as_secs_f64());
                piece.motion.position_at(((start - piece.epoch).as_secs_f64() + t).min(end))
            };
            let part = reference::integrate(|t| place(a, t) - place(b, t), span, &[]);
            let share = if a.vector == b.vector { &mut error.after } else { &mut error.before };
            *share += part;
        }
        error
    }

    #[test]
    fn export_error_is_the_sum_over_all_stretches() {
        let cases = (paths(), 0..1_500i64, 1..3_000i64);
        worst("export error of random paths", 600, 1e-12, cases, |((exported, placed), from, span)| {
            let (from, to) = (ms(from), ms(from + span));
            let error = export_error(&exported, &placed, from, to);
            let slow = slow_error(&exported, &placed, from, to);
            let off = libm::fabs(error.before - slow.before) + libm::fabs(error.after - slow.after);
            // Splines end between two nanoseconds, and positions some 50 m from the origin round.
            (off - 1e-13).max(0.0) / slow.total().max(1e-3)
        });
    }

    #[test]
    fn real_error_is_export_error_with_lines_between_samples() {
        let samples = prop::collection::vec((1..300i64, vector(20.0)), 2..8);
        worst("real error of random paths", 600, 1e-12, (paths(), samples, 0..500i64, 1..3_000i64), |case| {
            let ((_, placed), samples, from, span) = case;
            let mut now = ms(0);
            let stamped = samples.into_iter().map(|(gap, p)| {
                now += Duration::from_millis(gap);
                (now, p)
            });
            let samples: Vec<_> = stamped.collect();
            let lines: Vec<_> = samples
                .windows(2)
                .map(|pair| {
                    let ((start, p), (end, q)) = (pair[0], pair[1]);
                    Piece::new(start, start, Motion::linear(p, (q - p) * (1.0 / (end - start).as_secs_f64())), None)
                })
                .collect();
            let (from, to) = (ms(from), ms(from + span));
            let slow = slow_error(&lines, &placed, from, to.min(samples[samples.len() - 1].0).max(from));
            let error = real_error(samples, &placed, from, to);
            (libm::fabs(error - slow.total()) - 1e-13).max(0.0) / slow.total().max(1e-3)
        });
    }

    #[test]
    fn cutting_time_changes_nothing() {
        let cases = (paths(), 0..2_000i64, 0..2_000i64);
        worst("error of two halves", 2_000, 1e-12, cases, |((exported, placed), one, other)| {
            let (middle, end) = (ms(one), ms(one + other));
            let whole = export_error(&exported, &placed, ms(0), end);
            let halves =
                export_error(&exported, &placed, ms(0), middle) + export_error(&exported, &placed, middle, end);
            let off = whole - halves;
            (libm::fabs(off.before) + libm::fabs(off.after)) / whole.total().max(1.0)
        });
    }

    #[test]
    fn a_vector_received_in_time_costs_nothing_more() {
        let motion = Motion::circular(Vec3::ZERO, 0.3, 20.0, 0.7);
        let exported = [Piece::new(ms(0), ms(0), motion, VectorNumber::new(1))];
        let placed = [Piece::new(ms(300), ms(0), motion, VectorNumber::new(1))];
        // Nothing shown counts nothing, and from then on both agree bit for bit.
        assert_eq!(export_error(exported, placed, ms(0), ms(9_000)), SplitError::default());
        // Without global time the receiver starts the motion when it gets it, and stays behind: the after error.
        let late = [Piece { epoch: ms(300), ..placed[0] }];
        let error = export_error(&exported, &late, ms(0), ms(1_300));
        assert!(error.before == 0.0 && error.after > 5.0 && error.after < 6.0);
        // Backwards, and nowhere.
        assert_eq!(export_error(&exported, &late, ms(900), ms(100)), SplitError::default());
        assert_eq!(export_error(&exported, &[], ms(0), ms(900)), SplitError::default());
        assert_eq!(export_error(&[], &late, ms(0), ms(900)), SplitError::default());
        assert_eq!(export_error(&exported, &late, GlobalTime::MIN, ms(200)), SplitError::default());
    }

    #[test]
    fn a_frozen_piece_stays_and_counts_from_there() {
        let driving = Motion::linear(Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0)).facing(0.0, 1.0);
        let exported = [Piece::new(ms(0), ms(0), driving, VectorNumber::new(1))];
        let placed = [exported[0].frozen_from(ms(1_000))];
        let error = export_error(&exported, &placed, ms(0), ms(2_000));
        assert!(libm::fabs(error.after - 5.0) < 1e-12);
        let state = placed[0].at(ms(5_000));
        assert_eq!((state.position.x, state.velocity), (10.0, Vec3::ZERO));
        assert_eq!(state.attitude.heading(), 1.0);
        // Frozen alike, they agree again; frozen before it starts, it never moves.
        assert_eq!(export_error(&placed, &placed, ms(0), ms(9_000)), SplitError::default());
        let never = [exported[0].frozen_from(ms(-1_000))];
        assert_eq!(position_on(never, ms(500)), Some(Vec3::new(-10.0, 0.0, 0.0)));
        assert!(libm::fabs(export_error(&exported, &never, ms(0), ms(1_000)).after - 15.0) < 1e-12);
    }

    #[test]
    fn pieces_out_of_order_neither_hang_nor_panic() {
        let motion = Motion::linear(Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0));
        let jumbled = [900, 100, 500, 100].map(|t| Piece::new(ms(t), ms(t), motion, VectorNumber::new(t as u32)));
        assert!(export_error(&jumbled, &jumbled[1..], ms(0), ms(2_000)).total().is_finite());
        assert!(
            real_error([(ms(5), Vec3::ZERO), (ms(5), Vec3::ZERO), (ms(1), Vec3::ZERO)], jumbled, ms(0), ms(9)) == 0.0
        );
    }
}
