//! What we expected of lag, and what the paper on managing latency says about making everybody wait alike.

use crate::study::{Band, Claim};

/// Our own design's sentence.
const DESIGN: &[(&str, &str)] = &[(
    "design, local lag",
    "at 20-250 ms a lag of 100 ms cuts mean error 75 % and std 64 %; at 200/500/800 only an unplayable lag does, so \
     scheduling is needed there",
)];

pub(super) const DESIGN_NEAR_MEAN: Claim = Claim {
    id: "design-lag-near-mean",
    says: DESIGN,
    measure: "mean with a lag of 100 ms / without, base case, 20-250 ms",
    band: Band::AtMost(0.25),
    always: false,
};

pub(super) const DESIGN_NEAR_STD: Claim = Claim {
    id: "design-lag-near-std",
    measure: "standard deviation with a lag of 100 ms / without, base case, 20-250 ms",
    band: Band::AtMost(0.36),
    ..DESIGN_NEAR_MEAN
};

pub(super) const DESIGN_FAR_MEAN: Claim = Claim {
    id: "design-lag-far-mean",
    measure: "mean with a lag of 100 ms / without, base case, 800/500/200 ms",
    band: Band::Above(0.25),
    ..DESIGN_NEAR_MEAN
};

pub(super) const DESIGN_FAR_UNPLAYABLE: Claim = Claim {
    id: "design-lag-far-unplayable",
    measure: "shortest lag that takes 75 % off the mean and 64 % off the standard deviation, base case, 800/500/200 ms, in ms",
    band: Band::Above(100.0),
    ..DESIGN_NEAR_MEAN
};

pub(super) const DESIGN_FAR_SCHEDULING: Claim = Claim {
    id: "design-lag-far-scheduling",
    measure: "standard deviation of even at a third of the vectors / of the base case with all, both with a lag of 100 ms, \
              800/500/200 ms",
    band: Band::Below(1.0),
    ..DESIGN_NEAR_MEAN
};

/// What we hope of the combination.
const TOGETHER: &[(&str, &str)] =
    &[("design, local lag", "Lag and fairness together: [...] scheduling is needed there")];

pub(super) const TOGETHER_THAN_EVEN_MEAN: Claim = Claim {
    id: "design-together-than-even-mean",
    says: TOGETHER,
    measure: "mean of even with a lag of 100 ms / of even without lag",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const TOGETHER_THAN_EVEN_STD: Claim = Claim {
    id: "design-together-than-even-std",
    measure: "standard deviation of even with a lag of 100 ms / of even without lag",
    ..TOGETHER_THAN_EVEN_MEAN
};

pub(super) const TOGETHER_THAN_LAG_MEAN: Claim = Claim {
    id: "design-together-than-lag-mean",
    measure: "mean of even / of base/3, both with a lag of 100 ms",
    ..TOGETHER_THAN_EVEN_MEAN
};

pub(super) const TOGETHER_THAN_LAG_STD: Claim = Claim {
    id: "design-together-than-lag-std",
    measure: "standard deviation of even / of base/3, both with a lag of 100 ms",
    ..TOGETHER_THAN_EVEN_MEAN
};

pub(super) const TOGETHER_KEEPS_MEAN: Claim = Claim {
    id: "design-together-keeps-mean",
    measure: "even's mean as a multiple of base/3's, with a lag of 100 ms / the same without lag",
    band: Band::AtMost(1.02),
    ..TOGETHER_THAN_EVEN_MEAN
};

pub(super) const TOGETHER_KEEPS_STD: Claim = Claim {
    id: "design-together-keeps-std",
    measure: "even's standard deviation as a multiple of base/3's, with a lag of 100 ms / the same without lag",
    band: Band::AtMost(1.02),
    ..TOGETHER_THAN_EVEN_MEAN
};

/// The paper on managing latency and fairness.
const SEED: &[(&str, &str)] = &[(
    "Managing latency and fairness in networked games, Tuning the game infrastructure",
    "It is always possible to increase the level of inconsistencies in a game by artificially delaying information. This \
     technique enables the equalization of inconsistencies amongst players effectively improving the game fairness at the \
     cost of overall playability",
)];

pub(super) const SEED_EQUALISE_RESPONSES: Claim = Claim {
    id: "latency-equalise-responses",
    says: SEED,
    measure: "standard deviation of response times, padded / as they are",
    band: Band::AtMost(1e-6),
    always: true,
};

pub(super) const SEED_EQUALISE_PRICE: Claim = Claim {
    id: "latency-equalise-responses-price",
    measure: "mean response time, padded / as they are",
    band: Band::Above(1.0),
    ..SEED_EQUALISE_RESPONSES
};

pub(super) const SEED_EQUALISE_ERRORS: Claim = Claim {
    id: "latency-equalise-errors",
    measure: "standard deviation of export errors, information delayed to the farthest's delay / as it is",
    band: Band::AtMost(1e-6),
    ..SEED_EQUALISE_RESPONSES
};

pub(super) const SEED_EQUALISE_ERRORS_PRICE: Claim = Claim {
    id: "latency-equalise-errors-price",
    measure: "mean export error, information delayed to the farthest's delay / as it is",
    band: Band::Above(1.0),
    ..SEED_EQUALISE_RESPONSES
};
