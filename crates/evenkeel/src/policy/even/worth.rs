//! What a vector is worth to a receiver, learned by looking back.

use super::class::CLASSES;
use crate::geometry::Vec3;
use crate::ids::VectorNumber;
use crate::ledger::{EntityIndex, Ledger, PairView};
use crate::motion::Motion;
use crate::time::{Duration, GlobalTime};
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cell::Cell;

/// Up to these times since the last change, and these delays, things are told apart: as multiples of how long motions last.
const AGES: [f64; 2] = [0.1, 0.5];
const DELAYS: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// So many choices are kept at most until their future has come.
const MOST_PENDING: usize = 256;
/// What is found about a receiver's vector is kept for so many vectors of an entity.
const PRESENTS: usize = 8;
const GOLDEN: f64 = 0.618_033_988_75;
/// Old lessons fade: about so many of each kind are remembered.
const REMEMBERED: f64 = 2000.0;
/// For how many lessons of its own kind the general rule counts.
const GENERAL: f64 = 20.0;
/// What a metre apart now, and one at arrival, gains at arrival as long as nothing is known.
const PRIOR: Rule = Rule { now: 0.3, arrival: 0.4 };
/// The least that a metre apart now counts for: what lasts must be told in the end.
const LEAST: f64 = 0.3;

/// What is less of the way that an entity makes while it is extrapolated comes from rounding.
const NOISE: f64 = 1e-9;
/// How much less certain the rule for one distance is made where the two always go together, as a share of their squares.
const TOGETHER: f64 = 1e-9;

/// Two vectors of one entity between which a receiver's future lies: with the new one, or without.
///
/// Most are made, looked at and forgotten: those borrow the motions from the ledger. The few that are kept own them.
#[derive(Clone, Copy, Debug)]
struct Choice<M> {
    entity: EntityIndex,
    /// The newest vector.
    new: (GlobalTime, M),
    /// The one that the receiver has, or is about to get.
    old: (GlobalTime, M),
    now: GlobalTime,
    /// When it would arrive, sent now.
    arrival: GlobalTime,
    /// When there will be a newer one to send, at the latest.
    next: GlobalTime,
    /// The new one's kind of motion.
    class: usize,
    /// For how many seconds the entity has kept its course, and for how many motions last on average.
    held: f64,
    lasts: f64,
    /// For how long receivers extrapolate.
    max_age: Duration,
}

impl Choice<&Motion> {
    fn owned(&self) -> Choice<Motion> {
        let Self { entity, new, old, now, arrival, next, class, held, lasts, max_age } = *self;
        Choice { entity, new: (new.0, *new.1), old: (old.0, *old.1), now, arrival, next, class, held, lasts, max_age }
    }
}

impl<M: Borrow<Motion>> Choice<M> {
    fn place(&self, (generated, motion): &(GlobalTime, M), at: GlobalTime) -> Vec3 {
        if at == *generated {
            return motion.borrow().position;
        }
        motion.borrow().position_at(at.since(*generated).min(self.max_age).as_secs_f64())
    }

    /// Where the new one is at a time.
    fn new_at(&self, at: GlobalTime) -> Vec3 {
        self.place(&self.new, at)
    }

    /// How far from a place the old one's course is, and how much further off it is for being no longer extrapolated.
    fn old_from(&self, place: Vec3, at: GlobalTime) -> (f64, f64) {
        let shown = self.place(&self.old, at).distance(place);
        let age = at.since(self.old.0);
        if age <= self.max_age {
            return (shown, 0.0);
        }
        let course = self.old.1.borrow().position_at(age.as_secs_f64()).distance(place);
        (shown.min(course), (shown - course).max(0.0))
    }

    /// What is lost, in metre-seconds, if the old one is no longer extrapolated before the next could arrive. No course needs to
    /// change for that, so nothing has to be learned about it. It counts only until then: somebody who can wait is better
    /// served with the next one, which holds for longer.
    ///
    /// A vector that is sent spares this loss for as long as vectors are extrapolated, not only until the next one: what is lost on
    /// average until then counts for all of that time.
    fn frozen(&self) -> f64 {
        let wait = self.next.since(self.now).max(Duration::ZERO);
        let (until, from) = (self.arrival + wait, self.arrival.max(self.old.0 + self.max_age));
        let seconds = until.since(from).max(Duration::ZERO).as_secs_f64();
        if seconds <= 0.0 {
            return 0.0;
        }
        let left_behind = |at: GlobalTime| {
            let moves = at.since(self.old.0) <= self.max_age;
            if moves { 0.0 } else { self.old_from(self.place(&self.new, at), at).1 }
        };
        let lost = 0.5 * (left_behind(from) + left_behind(until)) * seconds;
        lost * (self.max_age.as_secs_f64() / wait.as_secs_f64()).max(1.0)
    }

    /// What is the same for all receivers that have the same vector. `here` is where the new one is now, and `speed` how fast it is.
    fn present(&self, here: Vec3, speed: f64) -> Present {
        let (old, max_age) = (self.old.1.borrow().speed(), self.max_age.as_secs_f64());
        let noise = NOISE * speed.max(old) * max_age;
        let heartbeat = self.next.since(self.new.0).as_secs_f64();
        let stake = 0.5 * old * heartbeat * heartbeat.max(max_age);
        let used = (self.now.since(self.old.0).as_secs_f64() / max_age).clamp(0.0, 1.0);
        Present { apart: self.old_from(here, self.now).0, noise, stake, used, then: None }
    }

    /// How far apart the two are now, and will be at arrival. `there` is where the new one will be then.
    fn apart_now_and_then(&self, present: &Present, there: Vec3) -> (f64, f64) {
        let above = |apart: f64| if apart > present.noise { apart } else { 0.0 };
        (above(present.apart), above(self.old_from(there, self.arrival).0))
    }

    /// What the new one would have gained at arrival, now that it is known where the entity was. `there` is where the new one would
    /// have been.
    fn gained(&self, truth: Vec3, there: Vec3) -> f64 {
        self.old_from(truth, self.arrival).0 - there.distance(truth)
    }

    /// Which delays, and which kind of choice among those with such a delay.
    fn kind(&self) -> (usize, usize) {
        let band = |bounds: &[f64], value: f64| bounds.iter().filter(|bound| value >= **bound * self.lasts).count();
        let delay = band(&DELAYS, self.arrival.since(self.now).as_secs_f64());
        (delay, band(&AGES, self.held) * CLASSES + self.class)
    }
}

/// What is the same for all receivers that have the same vector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    /// How far apart it and the new one are now, and below which distances that is rounding.
    apart: f64,
    noise: f64,
    /// What one heartbeat without extrapolation would cost, in metre-seconds.
    pub(super) stake: f64,
    /// Which part of the time for which it is extrapolated is over.
    pub(super) used: f64,
    /// The worth at the last arrival that was asked for: many receivers are equally far away.
    then: Option<(GlobalTime, f64)>,
}

impl Present {
    /// The worth of an arrival at a time, found anew if another one was asked for last.
    fn worth_at(&mut self, arrival: GlobalTime, find: impl FnOnce(&Self) -> f64) -> f64 {
        match self.then {
            Some((at, worth)) if at == arrival => worth,
            _ => {
                let worth = find(self);
                self.then = Some((arrival, worth));
                worth
            }
        }
    }
}

/// What was found about the few vectors of an entity that receivers have: most share theirs with others.
#[derive(Debug, Default)]
pub(super) struct Presents<'a> {
    /// Their numbers, apart from the rest: looked through for every receiver.
    numbers: [Option<VectorNumber>; PRESENTS],
    known: [Option<Known<'a>>; PRESENTS],
    next: usize,
}

/// A vector that receivers have.
#[derive(Clone, Copy, Debug)]
struct Known<'a> {
    old: (GlobalTime, &'a Motion),
    present: Present,
}

impl<'a> Presents<'a> {
    /// Finds what is known of a pair's vector, and makes it known if it is not. `None` if the pair has no vector.
    fn of(&mut self, subject: &Subject<'a>, pair: &PairView<'a>, number: VectorNumber) -> Option<&mut Known<'a>> {
        let place = self.numbers.iter().position(|known| *known == Some(number));
        let place = match place {
            Some(place) => place,
            None => {
                let (_, generated, motion) = pair.reference_motion()?;
                let old = (generated, motion);
                let present = subject.choice(old, subject.now).present(subject.here(), subject.speed);
                let place = self.next;
                (self.numbers[place], self.known[place]) = (Some(number), Some(Known { old, present }));
                self.next = (place + 1) % PRESENTS;
                place
            }
        };
        self.known[place].as_mut()
    }
}

/// A motion of an entity that could be sent: what an offer says to every receiver alike.
pub(super) struct Subject<'a> {
    pub(super) entity: EntityIndex,
    /// The vector, if it is made already.
    pub(super) number: Option<VectorNumber>,
    pub(super) generated: GlobalTime,
    pub(super) motion: &'a Motion,
    /// How fast it is.
    pub(super) speed: f64,
    pub(super) now: GlobalTime,
    /// When there will be a newer one to send, at the latest.
    pub(super) next: GlobalTime,
    /// Its kind of motion.
    pub(super) class: usize,
    /// For how many seconds the entity has kept its course.
    pub(super) held: f64,
    /// What the gain at arrival is multiplied by, in seconds.
    pub(super) times: f64,
    /// How long any motion lasts, in seconds.
    pub(super) lasts: f64,
    pub(super) max_age: Duration,
    /// Where it is now, and at the arrival that was asked for last.
    pub(super) here: Cell<Option<Vec3>>,
    pub(super) there: Cell<Option<(GlobalTime, Vec3)>>,
}

impl<'a> Subject<'a> {
    fn here(&self) -> Vec3 {
        self.here.get().unwrap_or_else(|| {
            let here = self.choice((self.generated, self.motion), self.now).new_at(self.now);
            self.here.set(Some(here));
            here
        })
    }

    fn there(&self, choice: &Choice<&'a Motion>) -> Vec3 {
        match self.there.get() {
            Some((arrival, there)) if arrival == choice.arrival => there,
            _ => {
                let there = choice.new_at(choice.arrival);
                self.there.set(Some((choice.arrival, there)));
                there
            }
        }
    }

    /// The choice between this and the vector that a receiver has, sent now.
    fn choice(&self, old: (GlobalTime, &'a Motion), arrival: GlobalTime) -> Choice<&'a Motion> {
        let Self { entity, generated, motion, now, next, class, held, lasts, max_age, .. } = *self;
        Choice { entity, new: (generated, motion), old, now, arrival, next, class, held, lasts, max_age }
    }
}

/// What an offer is worth to a receiver before anything is weighed.
pub(super) struct Worth {
    /// What the new vector may be expected to gain, in metre-seconds.
    pub(super) gain: f64,
    /// What one heartbeat without extrapolation would cost, in metre-seconds, and which part of that time is over.
    pub(super) stake: f64,
    pub(super) used: f64,
    /// When the vector was generated that the receiver has.
    pub(super) generated: GlobalTime,
}

/// What being a metre apart, now and at arrival, gains at arrival.
#[derive(Clone, Copy, Debug)]
struct Rule {
    now: f64,
    arrival: f64,
}

/// Sums for a regression of what was gained on the distances now and at arrival.
#[derive(Clone, Copy, Debug, Default)]
struct Lessons {
    count: f64,
    now_now: f64,
    now_then: f64,
    then_then: f64,
    now_gain: f64,
    then_gain: f64,
}

impl Lessons {
    fn add(&mut self, (now, then): (f64, f64), gain: f64) {
        let terms = [1.0, now * now, now * then, then * then, now * gain, then * gain];
        let sums = [
            &mut self.count,
            &mut self.now_now,
            &mut self.now_then,
            &mut self.then_then,
            &mut self.now_gain,
            &mut self.then_gain,
        ];
        for (sum, term) in sums.into_iter().zip(terms) {
            *sum = *sum * (1.0 - 1.0 / REMEMBERED) + term;
        }
    }

    /// The rule that fits best, drawn towards a more general one as long as there is little to go by.
    fn rule(&self, general: Rule) -> Rule {
        let pull = GENERAL / self.count.max(1.0);
        let least = TOGETHER * (self.now_now + self.then_then);
        if least == 0.0 {
            return general;
        }
        let (pull_now, pull_then) = (pull * self.now_now + least, pull * self.then_then + least);
        let (now_now, then_then) = (self.now_now + pull_now, self.then_then + pull_then);
        let now_gain = self.now_gain + pull_now * general.now;
        let then_gain = self.then_gain + pull_then * general.arrival;
        let determinant = now_now * then_then - self.now_then * self.now_then;
        Rule {
            now: (now_gain * then_then - then_gain * self.now_then) / determinant,
            arrival: (then_gain * now_now - now_gain * self.now_then) / determinant,
        }
    }
}

/// What new vectors turned out to gain, by delay, kind of motion and time since the last change.
#[derive(Clone, Debug)]
pub(super) struct Experience {
    /// By delay, over all kinds.
    general: Vec<(Lessons, Rule)>,
    /// By delay and kind.
    particular: Vec<(Lessons, Rule)>,
    /// Choices whose future has not come yet, and when it does: looked through at every trigger, and so apart from what is large.
    pending: Vec<Choice<Motion>>,
    arrivals: Vec<GlobalTime>,
    /// Which choices to keep: those at which this passes a whole number.
    turn: f64,
    /// When choices were last looked through.
    looked_back: Option<GlobalTime>,
}

impl Experience {
    pub(super) fn new() -> Self {
        let kinds = (AGES.len() + 1) * CLASSES;
        let delays = DELAYS.len() + 1;
        Self {
            general: alloc::vec![(Lessons::default(), PRIOR); delays],
            particular: alloc::vec![(Lessons::default(), PRIOR); delays * kinds],
            pending: Vec::new(),
            arrivals: Vec::new(),
            turn: 0.0,
            looked_back: None,
        }
    }

    /// What the new vector may be expected to gain at arrival, in metres. `there` is where it will be then.
    fn gain<M: Borrow<Motion>>(&self, choice: &Choice<M>, present: &Present, there: Vec3) -> f64 {
        let (now, then) = choice.apart_now_and_then(present, there);
        let (delay, kind) = choice.kind();
        let rule = self.particular[delay * (AGES.len() + 1) * CLASSES + kind].1;
        (rule.now * now + rule.arrival * then).max(LEAST * now)
    }

    /// What a motion of an entity is worth to a receiver that it would reach at a time. `None` if the receiver has nothing of the entity;
    /// nothing if it has this very vector.
    pub(super) fn worth<'a>(
        &mut self,
        subject: &Subject<'a>,
        presents: &mut Presents<'a>,
        pair: &PairView<'a>,
        arrival: GlobalTime,
    ) -> Option<Worth> {
        let number = pair.reference_number()?;
        if subject.number == Some(number) {
            return Some(Worth { gain: 0.0, stake: 0.0, used: 0.0, generated: subject.generated });
        }
        let Known { old, present, .. } = presents.of(subject, pair, number)?;
        if self.is_turn() {
            self.keep(subject.choice(*old, arrival).owned());
        }
        let gain = present.worth_at(arrival, |present| {
            let choice = subject.choice(*old, arrival);
            subject.times * self.gain(&choice, present, subject.there(&choice)) + choice.frozen()
        });
        Some(Worth { gain, stake: present.stake, used: present.used, generated: old.0 })
    }

    /// Whether to keep a choice to learn from: most of them as long as there is room, fewer as it fills. The golden ratio sees to it
    /// that no receiver is always the one left out.
    fn is_turn(&mut self) -> bool {
        self.turn += GOLDEN / (1.0 + 4.0 * self.pending.len() as f64 / MOST_PENDING as f64);
        let is_turn = self.turn >= 1.0;
        self.turn -= f64::from(u8::from(is_turn));
        is_turn
    }

    fn keep(&mut self, choice: Choice<Motion>) {
        if self.pending.len() < MOST_PENDING {
            self.arrivals.push(choice.arrival);
            self.pending.push(choice);
        }
    }

    /// Learns from choices whose future has come, once at a time.
    pub(super) fn look_back(&mut self, ledger: &Ledger, now: GlobalTime) {
        if self.looked_back.replace(now) == Some(now) {
            return;
        }
        let mut index = 0;
        while let Some(arrival) = self.arrivals.get(index) {
            if *arrival > now {
                index += 1;
                continue;
            }
            let choice = &self.pending[index];
            if let Some(truth) = exported_at(ledger, choice.entity, choice.arrival) {
                let (here, there) = (choice.new_at(choice.now), choice.new_at(choice.arrival));
                let apart = choice.apart_now_and_then(&choice.present(here, choice.new.1.speed()), there);
                let (kind, gain) = (choice.kind(), choice.gained(truth, there));
                self.learn(apart, kind, gain);
            }
            self.arrivals.swap_remove(index);
            self.pending.swap_remove(index);
        }
    }

    fn learn(&mut self, apart: (f64, f64), (delay, kind): (usize, usize), gain: f64) {
        let general = &mut self.general[delay];
        general.0.add(apart, gain);
        general.1 = general.0.rule(PRIOR);
        let particular = &mut self.particular[delay * (AGES.len() + 1) * CLASSES + kind];
        particular.0.add(apart, gain);
        particular.1 = particular.0.rule(general.1);
    }

    pub(super) fn entity_left(&mut self, entity: EntityIndex) {
        self.pending.retain(|choice| choice.entity != entity);
        self.arrivals.clear();
        self.arrivals.extend(self.pending.iter().map(|choice| choice.arrival));
    }
}

/// Where the exported path was.
fn exported_at(ledger: &Ledger, entity: EntityIndex, at: GlobalTime) -> Option<Vec3> {
    let mut vector = ledger.newest(entity)?;
    while vector.generated > at {
        vector = ledger.vector(entity, vector.number.previous()?)?;
    }
    Some(vector.motion.position_at(at.since(vector.generated).as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Choice<Motion> {
        fn apart(&self, at: GlobalTime) -> f64 {
            self.old_from(self.new_at(at), at).0
        }

        fn found(&self) -> Present {
            self.present(self.new_at(self.now), self.new.1.speed())
        }

        fn expected(&self, experience: &Experience) -> f64 {
            experience.gain(self, &self.found(), self.new_at(self.arrival))
        }
    }

    fn choice(held: f64, delay_ms: i64) -> Choice<Motion> {
        let standing = Motion::linear(Vec3::ZERO, Vec3::ZERO);
        let driving = Motion::linear(Vec3::new(1.0, 0.0, 0.0), Vec3::new(10.0, 0.0, 0.0));
        let now = GlobalTime::from_millis(1_000);
        Choice {
            entity: EntityIndex(0),
            new: (now, driving),
            old: (now, standing),
            now,
            arrival: now + Duration::from_millis(delay_ms),
            next: now + Duration::from_secs(1),
            class: 3,
            held,
            lasts: 1.0,
            max_age: Duration::from_secs(10),
        }
    }

    /// Whatever is learned about one kind of choice, others learn only the general rule.
    #[test]
    fn what_was_gained_is_expected_again() {
        let mut experience = Experience::new();
        let (sudden, lasting) = (choice(0.0, 500), choice(1.0, 500));
        for i in 0..2_000u32 {
            // Sudden changes gain half of how far apart they are at arrival; lasting ones all of it.
            let stretch = 1.0 + f64::from(i % 7);
            for (mut choice, share) in [(sudden, 0.5), (lasting, 1.0)] {
                choice.new.1 = Motion::linear(Vec3::new(f64::from(i % 3), 0.0, 0.0), Vec3::new(stretch, 0.0, 0.0));
                let gain = share * choice.apart(choice.arrival);
                experience.learn(
                    choice.apart_now_and_then(&choice.found(), choice.new_at(choice.arrival)),
                    choice.kind(),
                    gain,
                );
            }
        }
        let expected = |choice: &Choice<Motion>| choice.expected(&experience) / choice.apart(choice.arrival);
        assert!((expected(&sudden) - 0.5).abs() < 0.03, "{}", expected(&sudden));
        assert!((expected(&lasting) - 1.0).abs() < 0.03, "{}", expected(&lasting));
        let near = choice(0.0, 20);
        assert!((near.expected(&experience) - (0.3 + 0.4 * 1.2)).abs() < 1e-9, "another delay is another matter");
    }

    #[test]
    fn hindsight_tells_a_gain_from_a_loss() {
        let choice = choice(0.0, 500);
        let there = choice.new_at(choice.arrival);
        assert!((choice.gained(Vec3::new(6.0, 0.0, 0.0), there) - 6.0).abs() < 1e-12, "it went on as the new one says");
        assert!((choice.gained(Vec3::ZERO, there) + 6.0).abs() < 1e-12, "it did not");
    }

    /// Heartbeats of something that keeps its course, at 10 m/s, extrapolated for 3 s: one is worth much only if the next would
    /// come too late.
    #[test]
    fn a_heartbeat_is_worth_something_before_the_old_one_freezes() {
        let frozen = |age: i64| {
            let mut choice = choice(0.0, 100);
            (choice.old, choice.max_age) = (choice.new, Duration::from_secs(3));
            choice.old.0 = choice.now - Duration::from_secs(age);
            choice.old.1.position -= Vec3::new(10.0, 0.0, 0.0) * age as f64;
            assert!(choice.apart(choice.arrival) < 1e-12, "the course is the same");
            choice.frozen()
        };
        // From 0.1 s after the trigger at the age of 3 s to 1.1 s after it, 1 m to 11 m behind; and so again in each of the 3 s for
        // which the new one is extrapolated.
        let expected = [0.0, 0.0, 3.0 * 0.5 * 1.0 * 0.1, 3.0 * 0.5 * (1.0 + 11.0)];
        (0..)
            .zip(expected)
            .for_each(|(age, worth)| assert!((frozen(age) - worth).abs() < 1e-9, "{age} s: {}", frozen(age)));
    }

    #[test]
    fn what_waits_is_bounded_and_everybody_has_a_turn() {
        let mut experience = Experience::new();
        let mut kept = [0; 8];
        let choice = choice(0.0, 500);
        for i in 0..8_000 {
            let before = experience.pending.len();
            if experience.is_turn() {
                experience.keep(choice);
            }
            kept[i % 8] += experience.pending.len() - before;
        }
        assert_eq!(experience.pending.len(), MOST_PENDING);
        assert!(kept.iter().all(|n| *n > 10), "{kept:?}");
    }
}
