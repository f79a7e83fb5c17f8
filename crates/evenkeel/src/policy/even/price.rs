//! What a vector costs.

use crate::policy::Budget;
use crate::policy::charges::Charges;
use crate::time::GlobalTime;

/// The price starts at the mean over the offers of so many triggers, and follows the budget after so many.
const OPENING: f64 = 20.0;
/// With a share s of the base case, the first price is the worth of a trigger times s^-SCARCITY: where errors fall like the square root
/// of the rate, one vector more is worth that much more. Without a share it is the worth of a trigger times [`FIRST_PRICE`].
const SCARCITY: f64 = 1.5;
const FIRST_PRICE: f64 = 2.0;
/// Prices beyond this power of e, either way, are the work of chance.
const MOST: f64 = 60.0;
/// The audience is averaged over so many triggers.
const AUDIENCE_TRIGGERS: f64 = 100.0;
/// The income of how many windows the bucket holds, and how full it should be.
///
/// With a share of the base case, what is not spent in a calm moment is there for the next busy one: on BZFlag b that is worth 4 % of the
/// mean against half of the bucket, and 13 % against a quarter. It is nearly empty most of the time. Filling it takes 0.08 x 20 s of
/// income, 2.7 % of the first minute's; so of any minute of people's motion, which has no such moments, 97 % or more are used.
const SHARE: Bucket = Bucket { windows: 1.0, level: 0.08 };
/// With a budget per second at least 97 % are used in every minute.
const RATE: Bucket = Bucket { windows: 0.25, level: 0.2 };
/// The level counts as no lower and no higher than this.
const EMPTY: f64 = 0.01;
const FULL: f64 = 0.999;
/// How strongly the price answers to the level at once, and how much of that answer stays after as much has come in as the bucket
/// holds. With demand that falls like 1/price this is close to critical damping.
const ANSWER: f64 = 0.5;
const FOLLOW: f64 = 0.25;
/// How far the price rises for an offer that is worth it and finds the bucket empty, at most, as a logarithm.
const MISSED: f64 = 0.25;
/// So many vectors are lent for every first vector in the opening, which is this share of the window; this share of the income pays
/// the loan back. With a budget per second the whole loan is at most the income that the bucket holds: a line that carries 200 vectors a
/// second does not carry more because there are many entities.
const LENT: f64 = 2.0;
const LENDING: f64 = 0.25;
const REPAID: f64 = 0.25;

/// The price at the bucket's level as a logarithm, what is in the bucket without the loan, and how much it holds.
type State = (Option<f64>, f64, f64);

/// How much is saved.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    windows: f64,
    level: f64,
}

/// One price for all entities of a sender, in weighted metre-seconds per vector, so that as much is sent as the budget allows.
///
/// The budget fills a bucket of tokens; every vector takes one out, and none goes out without. The price rises as the bucket
/// empties and falls as it fills (proportional to the log-odds of its level), and drifts towards the price that keeps the
/// bucket at its level. An offer above the price that finds the bucket empty raises the price at once: otherwise the next tokens
/// would go to the first who asks instead of to the best offer.
///
/// The first price needs no constant with a unit: the offers at the first triggers are worth about one threshold each, and a policy
/// that may send a third of the vectors should wait for about five times as much. At the beginning of a session everything
/// starts to move at once, before there is any income; so the bucket starts with a loan that a part of the income pays back. The
/// loan does not lower the price.
///
/// Tokens are vectors or bytes, as the budget has it. In bytes a vector takes out the mean of late, and what was really sent is
/// reconciled with that.
#[derive(Clone, Debug)]
pub(super) struct Price {
    budget: Budget,
    charges: Charges,
    bucket: Bucket,
    /// The price that holds for the offers at hand, and what it follows from: asked for far more often than that changes.
    quoted: f64,
    quoted_for: Option<State>,
    /// The natural logarithm of the price at the bucket's level, once anything was offered.
    log: Option<f64>,
    /// The price at the bucket's level: asked for time and again.
    value: f64,
    /// Offers that the first price was made of.
    offers: f64,
    triggers: f64,
    /// For how many receivers triggers are on average.
    audience: f64,
    tokens: f64,
    /// What is left of the loan, included in `tokens`.
    owed: f64,
    /// What came in, with the past fading over the window.
    income: f64,
    seconds: f64,
    last: Option<GlobalTime>,
}

impl Price {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            charges: Charges::new(budget),
            bucket: if budget.rate().is_some() { RATE } else { SHARE },
            quoted: 0.0,
            quoted_for: None,
            log: None,
            value: 0.0,
            offers: 0.0,
            triggers: 0.0,
            audience: 1.0,
            tokens: 0.0,
            owed: 0.0,
            income: 0.0,
            seconds: 0.0,
            last: None,
        }
    }

    /// Returns the price at the bucket's level; 0 as long as there is none.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Returns the price at present; 0 as long as there is none.
    pub(super) fn now(&self) -> f64 {
        self.log.map_or(0.0, |log| libm::exp(log + ANSWER * self.answer()))
    }

    /// Fixes the price at what it is now.
    pub(super) fn quote(&mut self) {
        let state = self.state();
        if self.quoted_for.replace(state) != Some(state) {
            self.quoted = self.now();
        }
    }

    /// All that the price at present follows from.
    fn state(&self) -> State {
        (self.log, self.tokens - self.owed, self.capacity())
    }

    /// Returns the price that was fixed last.
    pub(super) fn quoted(&self) -> f64 {
        self.quoted
    }

    /// Whether there may be too little for everybody: the best offers must come first.
    pub(super) fn is_scarce(&self) -> bool {
        self.tokens < self.audience * self.charges.cost()
    }

    /// Takes in how many vectors and bytes were sent so far.
    pub(super) fn reconcile(&mut self, sent: (u64, u64)) {
        let rate = self.budget.rate().unwrap_or(0.0);
        self.tokens = self.charges.settle(self.tokens, sent, rate, self.audience);
    }

    /// Lends some vectors for an entity that so many receivers are told of for the first time, if the session has just begun.
    pub(super) fn lend(&mut self, receivers: f64, window: f64) {
        if self.seconds <= LENDING * window {
            let most = self.budget.rate().map_or(f64::INFINITY, |rate| RATE.windows * window * rate);
            let lent = (LENT * receivers * self.charges.cost()).min(most - self.owed).max(0.0);
            self.owed += lent;
            self.tokens += lent;
        }
    }

    /// Takes in what a trigger for so many receivers allows to send, or the time since the last one. `window` is how long the past
    /// counts, in seconds.
    pub(super) fn trigger(&mut self, receivers: f64, window: f64, now: GlobalTime) {
        if receivers == 0.0 {
            return;
        }
        self.triggers += 1.0;
        self.audience += (receivers - self.audience) / self.triggers.min(AUDIENCE_TRIGGERS);
        let share = match self.budget {
            Budget::Unlimited => 1.0,
            Budget::OfBase { share } => share,
            _ => 0.0,
        };
        self.pass(window, now);
        self.earn(share * receivers);
    }

    /// Lets time go on.
    pub(super) fn pass(&mut self, window: f64, now: GlobalTime) {
        if self.last == Some(now) {
            return;
        }
        let since = self.last.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64().max(0.0));
        self.seconds += since;
        self.income *= libm::exp(-since / window);
        if let Some(rate) = self.budget.rate() {
            // After a pause no more may be spent than the bucket holds.
            self.earn(rate * since.min(self.bucket.windows * window));
        }
    }

    fn earn(&mut self, income: f64) {
        self.income += income;
        let repaid = self.owed.min(REPAID * income);
        self.owed -= repaid;
        let capacity = self.capacity();
        self.tokens = (self.tokens + income - repaid).min(capacity + self.owed);
        if self.triggers > OPENING {
            self.shift(FOLLOW * self.answer() * income / (capacity + self.owed));
        }
    }

    /// How much the bucket holds, without the loan: the income of a window or a part of it, and at least what two triggers may take.
    fn capacity(&self) -> f64 {
        (self.bucket.windows * self.income).max(2.0 * self.audience * self.charges.cost())
    }

    /// The log-odds of the bucket's level against the level it should have: 0 there, large as it empties, negative as it fills.
    fn answer(&self) -> f64 {
        let level = ((self.tokens - self.owed) / self.capacity()).clamp(EMPTY, FULL);
        let aim = self.bucket.level;
        libm::log((1.0 - level) / level * (aim / (1.0 - aim)))
    }

    fn shift(&mut self, by: f64) {
        if let Some(log) = self.log {
            self.set((log + by).clamp(-MOST, MOST));
        }
    }

    fn set(&mut self, log: f64) {
        (self.log, self.value) = (Some(log), libm::exp(log));
    }

    /// Makes the first price of what triggers are worth. What was not due to a change (not
    /// `changed`) counts only as long as nothing else was offered.
    pub(super) fn offered(&mut self, worth: f64, changed: bool) {
        if !worth.is_finite() || self.offers >= OPENING * self.audience || !(changed || self.log.is_none()) {
            return;
        }
        self.offers += 1.0;
        let times = match self.budget {
            Budget::OfBase { share } => libm::pow(share, -SCARCITY),
            _ => FIRST_PRICE,
        };
        let log = libm::log(worth * times).clamp(-MOST, MOST);
        let mean = self.log.unwrap_or(log);
        self.set(mean + (log - mean) / self.offers);
    }

    /// Takes the tokens for a vector, if there are enough.
    pub(super) fn pay(&mut self) -> bool {
        let pays = self.tokens >= self.charges.cost();
        if pays {
            self.tokens -= self.charges.charge(1.0);
        }
        pays
    }

    /// Raises the price if an offer was worth more, and there was nothing to pay with.
    pub(super) fn missed(&mut self, worth: f64) {
        let times = worth / self.now();
        if times > 1.0 {
            self.shift(MISSED * libm::log(times).min(1.0));
        }
    }

    /// Returns what part of the quoted price something is worth; nothing if there is nothing to pay with.
    pub(super) fn share_of(&self, worth: f64) -> f64 {
        if self.tokens < self.charges.cost() { 0.0 } else { worth / self.quoted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    const WINDOW: f64 = 20.0;

    fn buys(price: &mut Price, worth: f64) -> bool {
        price.offered(worth, true);
        let times = worth / price.now();
        let bought = times >= 1.0 && price.pay();
        if times >= 1.0 && !bought {
            price.missed(worth);
        }
        bought
    }

    #[test]
    fn the_bucket_is_never_overdrawn() {
        let mut price = Price::new(Budget::of_base(1, 3));
        let (mut paid, mut filled) = (0.0, 0.0);
        for i in 0..10_000u32 {
            if i % 7 == 0 {
                price.trigger(3.0, WINDOW, GlobalTime::from_millis(i64::from(i)));
                filled += 1.0;
            }
            paid += f64::from(u8::from(buys(&mut price, f64::INFINITY)));
            assert!(price.tokens >= 0.0 && paid <= filled);
        }
    }

    /// Everybody asks for everything all the time: what was lent is spent at once, and then missing until it is paid back.
    #[test]
    fn a_loan_is_paid_back() {
        let mut price = Price::new(Budget::of_base(1, 3));
        price.lend(3.0, WINDOW);
        let (mut paid, mut filled) = (0.0, 0.0);
        for i in 0..1_000i64 {
            price.trigger(3.0, WINDOW, GlobalTime::from_millis(i * 100));
            filled += 1.0;
            paid += (0..3).map(|_| f64::from(u8::from(buys(&mut price, f64::INFINITY)))).sum::<f64>();
            assert!(paid <= filled + LENT * 3.0);
        }
        assert!(price.owed == 0.0 && paid <= filled && paid > 0.97 * filled, "{paid} of {filled}");
        let tokens = price.tokens;
        price.lend(3.0, WINDOW);
        assert_eq!(price.tokens, tokens, "nothing is lent later on");
    }

    /// A thousand entities begin at once on a line that carries a hundred vectors a second.
    #[test]
    fn a_loan_is_no_more_than_seconds_of_income() {
        for budget in [Budget::PerSecond(100.0), Budget::BytesPerSecond(100.0), Budget::PerSecondEach(100.0)] {
            let mut price = Price::new(budget);
            (0..1_000).for_each(|_| price.lend(32.0, WINDOW));
            assert_eq!(price.tokens, 100.0 * RATE.windows * WINDOW, "{budget}");
        }
    }

    /// Vectors take 37 bytes, which nobody knows beforehand.
    #[test]
    fn bytes_are_spent_like_vectors() {
        let mut price = Price::new(Budget::BytesPerSecond(100.0));
        let (mut vectors, mut spent_at) = (0, vec![0.0]);
        price.reconcile((0, 0));
        for i in 0..3_000i64 {
            price.trigger(3.0, WINDOW, GlobalTime::from_millis(i * 100));
            let worths = [0.31, 0.73, 0.57].map(|x| libm::exp(2.0 * (i as f64 * 0.618_034 + x) % 1.0));
            vectors += worths.iter().filter(|worth| buys(&mut price, **worth)).count() as u64;
            price.reconcile((vectors, 37 * vectors));
            spent_at.push(37.0 * vectors as f64);
            assert!(spent_at[i as usize] <= 10.0 * i as f64 + 3.0 * 37.0, "{} after {i}", spent_at[i as usize]);
        }
        let minutes = (200..2_400).map(|i| (spent_at[i + 600] - spent_at[i]) / 6_000.0);
        assert!(minutes.clone().all(|share| (0.97..1.03).contains(&share)), "{:?}", minutes.reduce(f64::min));
    }

    /// An hour in which nobody has anything to be told must not add up to more than a bucket.
    #[test]
    fn nothing_is_saved_up_over_a_pause() {
        for budget in [Budget::PerSecond(3.0), Budget::PerSecondEach(3.0)] {
            let mut price = Price::new(budget);
            (0..1_000).for_each(|i| price.trigger(3.0, WINDOW, GlobalTime::from_millis(i * 100)));
            let full = price.capacity();
            price.trigger(3.0, WINDOW, GlobalTime::from_millis(3_600_000));
            assert!(price.tokens <= 1.02 * full, "{budget}: {} after a pause, {full} before", price.tokens);
        }
    }

    #[test]
    fn triggers_for_nobody_change_nothing() {
        let mut price = Price::new(Budget::of_base(1, 3));
        (0..100).for_each(|i| price.trigger(3.0, WINDOW, GlobalTime::from_millis(i)));
        let tokens = price.tokens;
        price.trigger(0.0, WINDOW, GlobalTime::from_millis(100));
        assert_eq!(price.tokens, tokens);
    }

    /// Worths spread evenly over two powers of e: a third are worth more than a price at two thirds of the way.
    #[test]
    fn the_price_finds_the_share_that_may_be_sent() {
        let mut price = Price::new(Budget::of_base(1, 3));
        let mut sent = 0;
        for i in 0..6_000u32 {
            price.trigger(1.0, WINDOW, GlobalTime::from_millis(i64::from(i) * 100));
            let worth = libm::exp(2.0 * (f64::from(i) * 0.618_034 % 1.0));
            sent += u32::from(buys(&mut price, worth) && i >= 3_000);
        }
        assert!((970..1_030).contains(&sent), "{sent} of 3000");
        let log = libm::log(price.value());
        assert!((log - 4.0 / 3.0).abs() < 0.2, "{log}");
    }

    /// Worths rise fifty-fold after the opening: the price must not take minutes to follow, because until then tokens go to whatever
    /// comes first.
    #[test]
    fn a_price_that_is_far_too_low_rises_within_seconds() {
        let mut price = Price::new(Budget::of_base(1, 10));
        let worth = |i: i64| libm::exp((i as f64 * 0.618_034) % 1.0) * if i < 100 { 1.0 } else { 50.0 };
        for i in 0..250 {
            price.trigger(3.0, WINDOW, GlobalTime::from_millis(i * 40));
            for _ in 0..3 {
                buys(&mut price, worth(i));
            }
        }
        // Six seconds later.
        assert!(price.now() > 50.0, "{}", price.now());
    }

    /// In every minute, also the first, and also where what is worth something comes and goes.
    #[test]
    fn what_may_be_spent_is_spent() {
        let shares = [Budget::of_base(1, 3), Budget::of_base(1, 10)];
        for budget in [shares[0], shares[1], Budget::PerSecond(3.0), Budget::PerSecondEach(3.0)] {
            let mut price = Price::new(budget);
            let per_minute = budget.rate().map_or(600.0 * 3.0 * budget.share_of_base(0.0), |rate| 60.0 * rate);
            for minute in 0..10 {
                let mut sent = 0.0;
                for i in 0..600 {
                    price.trigger(3.0, WINDOW, GlobalTime::from_millis(60_000 * minute + 100 * i));
                    let busy = if (i / 40) % 2 == 0 { 1.0 } else { 0.3 };
                    let worths = [0.31, 0.73, 0.57].map(|x| busy * libm::exp(2.0 * (i as f64 * 0.618_034 + x) % 1.0));
                    sent += worths.iter().filter(|worth| buys(&mut price, **worth)).count() as f64;
                }
                let share = sent / per_minute;
                assert!((0.93..1.05).contains(&share), "{budget}: {share:.3} in minute {minute}");
            }
        }
    }
}
