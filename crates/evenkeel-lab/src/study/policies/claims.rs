//! What the papers say about which factor is best.

use crate::study::{Band, Claim};

pub(super) const THESIS_FIVE_STD: Claim = Claim {
    id: "thesis-five-std",
    says: &[
        (
            "thesis 3.4.1.4.1.1, fig. 3.15",
            "the standard deviation of all the probabilistic approaches is lower than the 1/3 base case",
        ),
        ("thesis 3.4.1.4.1.1", "all the approaches perform better than the 1/3 base case in terms of overall fairness"),
    ],
    measure: "standard deviation / that of base/3",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_PI_BEST: Claim = Claim {
    id: "thesis-pi-best",
    says: &[(
        "thesis 3.4.1.4.1.1, fig. 3.15",
        "The best approach among them being PI=1 where the Instantaneous Error was used as the factor",
    )],
    measure: "standard deviation under lottery-pi (error since the last acknowledged reception) / the lowest of the \
     other four cases",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_PI_BEST_TEXT: Claim = Claim {
    id: "thesis-pi-best-text",
    measure: "standard deviation under lottery-pi (error since the generation of the vector in use) / the lowest of the \
     other four cases",
    band: Band::Below(1.0),
    always: false,
    ..THESIS_PI_BEST
};

pub(super) const THESIS_FIVE_MEAN_HIGHER: Claim = Claim {
    id: "thesis-five-mean-higher",
    says: &[
        (
            "thesis 3.4.1.4.1.2, fig. 3.16",
            "the mean of the accumulated export error in all the probabilistic approaches is higher than the \
             mean in the 1/3 base case",
        ),
        ("thesis 3.4.1.6", "no probabilistic algorithm will be able to achieve what we intended to"),
    ],
    measure: "mean / that of base/3",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_FIVE_EACH_HIGHER: Claim = Claim {
    id: "thesis-five-each-higher",
    says: &[(
        "thesis 3.4.1.4.1.3, fig. 3.17",
        "accumulated export error of all the receivers are higher than the 1/3 base case",
    )],
    measure: "a receiver's error / that under base/3",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_PA_BEST: Claim = Claim {
    id: "thesis-credits-pa-best",
    says: &[(
        "thesis 3.4.2.2",
        "deterministic algorithm using accumulated export error alone as the factor performed the best in \
             comparison to all the other cases",
    )],
    measure: "standard deviation under credits-pa / the lowest of the other four cases",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_PA_BEST_MAX: Claim = Claim {
    id: "thesis-credits-pa-best-max",
    measure: "highest error of a receiver under credits-pa / the lowest of the other four cases",
    band: Band::Below(1.0),
    always: false,
    ..THESIS_CREDITS_PA_BEST
};

pub(super) const THESIS_CREDITS_PA_BEST_MEAN: Claim = Claim {
    id: "thesis-credits-pa-best-mean",
    measure: "mean under credits-pa / the lowest of the other four cases",
    band: Band::Below(1.0),
    always: false,
    ..THESIS_CREDITS_PA_BEST
};
