//! What a vector costs.

use crate::policy::Budget;
use crate::time::GlobalTime;

/// Over the first so many triggers the price is found out by buying.
const OPENING: f64 = 20.0;
/// It starts at the mean of what was paid for about so many vectors: the first offers of all are no guide, because at first nobody
/// lacks anything.
const OF_LATE: f64 = 8.0;
/// How much the price moves with one trigger's worth of vectors, once it has settled: as a power of e.
const SLOW: f64 = 0.0005;
/// How much more it moves at first: by so much over ten more than the number of triggers so far.
const FAST: f64 = 3.0;
/// Prices beyond this power of e, either way, are the work of chance.
const MOST: f64 = 60.0;
/// The audience is averaged over so many triggers.
const AUDIENCE_TRIGGERS: f64 = 100.0;
/// The bucket holds so many triggers' worth of vectors.
pub(super) const BUCKET_TRIGGERS: f64 = 200.0;
/// Or, where the budget is a rate, so many seconds' worth.
const BUCKET_SECONDS: f64 = 60.0;
/// How full it is when the market has opened.
pub(super) const FULL_AT_START: f64 = 0.3;

/// One price for all entities of a sender, in weighted metre-seconds per vector, moving slowly so that as much is sent as the
/// budget allows. A bucket of tokens stands behind it as a safety valve: it can never be overdrawn, and the price rises as it
/// runs empty.
///
/// Nobody knows beforehand what things are worth. So at the opening everything is bought that can be paid for out of what
/// comes in, the best offers first, and the price starts at the mean of what was paid of late. A wrong start costs more than it seems:
/// at a tenth of the vectors it takes minutes to make up for.
#[derive(Clone, Debug)]
pub(super) struct Price {
    budget: Budget,
    /// The natural logarithm of the price, once something was bought.
    log: Option<f64>,
    /// Vectors bought at the opening.
    bought: f64,
    triggers: f64,
    /// For how many receivers triggers are on average.
    audience: f64,
    tokens: f64,
    capacity: f64,
    last_refill: Option<GlobalTime>,
}

impl Price {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            log: None,
            bought: 0.0,
            triggers: 0.0,
            audience: 1.0,
            tokens: 0.0,
            capacity: 0.0,
            last_refill: None,
        }
    }

    /// The price; 0 as long as there is none.
    pub(super) fn value(&self) -> f64 {
        self.log.map_or(0.0, libm::exp)
    }

    /// Whether there may be too little for everybody: the best offers must come first.
    pub(super) fn is_scarce(&self) -> bool {
        self.tokens < self.audience
    }

    /// A trigger for so many receivers, or the time since the last one, allows for more vectors, and lowers the price.
    pub(super) fn refill(&mut self, receivers: f64, now: GlobalTime) {
        if receivers == 0.0 {
            return;
        }
        self.triggers += 1.0;
        self.audience += (receivers - self.audience) / self.triggers.min(AUDIENCE_TRIGGERS);
        let since = self.last_refill.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64().max(0.0));
        let (income, capacity) = match self.budget {
            Budget::Unlimited => (receivers, BUCKET_TRIGGERS * self.audience),
            Budget::OfBase { share } => (share * receivers, share * BUCKET_TRIGGERS * self.audience),
            Budget::PerSecond(rate) => (rate * since, rate * BUCKET_SECONDS),
        };
        self.capacity = capacity.max(2.0 * self.audience);
        self.tokens = (self.tokens + income).min(self.capacity);
        if self.triggers == OPENING {
            self.tokens = self.tokens.max(FULL_AT_START * self.capacity);
        }
        // With a bucket near empty it does not fall: what little comes in would be spent at once, and never on the best.
        let shortage = self.imbalance().max(0.0);
        self.shift(income / self.audience * (shortage * shortage * shortage - 1.0));
    }

    /// Buys a vector of this worth, if it is worth its price and there is something to pay with. `first` if it has not been
    /// offered before.
    pub(super) fn buys(&mut self, worth: f64, first: bool) -> bool {
        if !self.accepts(worth) {
            return false;
        }
        let pays = self.tokens >= 1.0;
        if pays {
            self.tokens -= 1.0;
        }
        if self.is_opening() {
            self.learn(worth, pays);
        } else if pays || first {
            // What cannot be paid for shows that the price is too low, but the same offer must not say so twice.
            self.shift(1.0 / self.audience);
        }
        pays
    }

    fn is_opening(&self) -> bool {
        self.triggers < OPENING || self.log.is_none()
    }

    /// The price at the opening is the mean of what was paid of late.
    fn learn(&mut self, worth: f64, paid: bool) {
        if paid && worth.is_finite() {
            self.bought += 1.0;
            let log = libm::log(worth);
            let mean = self.log.get_or_insert(log);
            *mean += (log - *mean) / self.bought.min(OF_LATE);
        }
    }

    /// Moves the price for so many triggers' worth of vectors more than there should be.
    fn shift(&mut self, excess: f64) {
        if !self.is_opening() {
            let step = SLOW + FAST / (10.0 + self.triggers);
            self.log = self.log.map(|log| (log + step * excess).clamp(-MOST, MOST));
        }
    }

    /// Whether something is worth the price. A bucket that runs low makes everything dearer, a full one cheaper.
    fn accepts(&self, worth: f64) -> bool {
        let Some(log) = self.log.filter(|_| worth.is_finite() && !self.is_opening()) else { return true };
        let imbalance = self.imbalance();
        libm::log(worth) >= log + imbalance * imbalance * imbalance
    }

    /// From -1 for a full bucket to 1 for an empty one.
    fn imbalance(&self) -> f64 {
        1.0 - 2.0 * self.tokens / self.capacity.max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bucket_is_never_overdrawn() {
        let mut price = Price::new(Budget::of_base(1, 3));
        let (mut paid, mut filled) = (0.0, 0.0);
        for i in 0..10_000u32 {
            if i % 7 == 0 {
                price.refill(3.0, GlobalTime::from_millis(i64::from(i)));
                filled += 1.0;
            }
            paid += f64::from(u8::from(price.buys(f64::INFINITY, true)));
            assert!(price.tokens >= 0.0);
        }
        assert!(paid <= filled + BUCKET_TRIGGERS * FULL_AT_START + 1.0, "{paid} paid, {filled} filled");
    }

    #[test]
    fn triggers_for_nobody_change_nothing() {
        let mut price = Price::new(Budget::of_base(1, 3));
        (0..100).for_each(|i| price.refill(3.0, GlobalTime::from_millis(i)));
        let tokens = price.tokens;
        price.refill(0.0, GlobalTime::from_millis(100));
        assert_eq!(price.tokens, tokens);
    }

    /// Worths spread evenly over two powers of e: a third are worth more than a price at two thirds of the way.
    #[test]
    fn the_price_finds_the_share_that_may_be_sent() {
        let mut price = Price::new(Budget::of_base(1, 3));
        let mut sent = 0;
        for i in 0..6_000u32 {
            price.refill(1.0, GlobalTime::from_millis(i64::from(i) * 100));
            let worth = libm::exp(2.0 * (f64::from(i) * 0.618_034 % 1.0));
            sent += u32::from(price.buys(worth, true) && i >= 3_000);
        }
        assert!((900..1_100).contains(&sent), "{sent} of 3000");
        let log = libm::log(price.value());
        assert!((log - 4.0 / 3.0).abs() < 0.2, "{log}");
    }
}
