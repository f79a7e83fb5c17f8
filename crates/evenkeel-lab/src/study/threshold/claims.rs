//! What the papers say about thresholds.

use crate::study::{Band, Claim};

/// Nothing, but for what the wire rounds positions to: half a step of 5 mm along each axis.
const ZERO: f64 = 1e-6 + 0.005 * 0.866_025_5;

pub(super) const THRESHOLD_MORE_TRIGGERS: Claim = Claim {
    id: "threshold-more-triggers",
    says: &[
        ("paper section 5", "Lower the threshold, more DR vectors are generated during a given time period"),
        ("thesis 3.4.1.1", "the threshold was lowered, which leads to more triggers"),
    ],
    measure: "triggers / those at twice the threshold",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THRESHOLD_ZERO_EXACT: Claim = Claim {
    id: "threshold-zero-exact",
    says: &[(
        "paper section 1",
        "a DR vector is generated at every time unit thereby making the real and exported paths the same",
    )],
    measure: "largest distance between real and exported path at ticks, with a vector every tick (m)",
    band: Band::AtMost(ZERO),
    always: false,
};

pub(super) const THRESHOLD_EQ35: Claim = Claim {
    id: "threshold-eq35",
    says: &[
        ("thesis 3.4.1.1, Eq. 3.5", "From the equation 3.5, we get the budget per trigger, n1, to be 1"),
        ("paper section 5.1", "We want to ensure n't' = nt"),
    ],
    measure: "vectors at the lowered threshold / those of base at the coarse one",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const THRESHOLD_LOWER_BETTER: Claim = Claim {
    id: "threshold-lower-better",
    says: &[
        (
            "thesis 3.4.1.1",
            "The lower the threshold, the better as we can have a higher frequency of sending DR vectors to the \
             receiver with higher error",
        ),
        (
            "thesis 3.5",
            "the lower the threshold, the better, as that will allow the sender to increase the frequency of \
             sending DR vectors to the receiver with the highest accumulated error",
        ),
    ],
    measure: "standard deviation under credits-pa / that at twice the threshold",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THRESHOLD_LOWER_BETTER_FAR: Claim = Claim {
    id: "threshold-lower-better-far",
    measure: "error of the 800 ms receiver under credits-pa / that at twice the threshold",
    band: Band::Below(1.0),
    always: false,
    ..THRESHOLD_LOWER_BETTER
};

pub(super) const THRESHOLD_LOWER_BETTER_SHARE: Claim = Claim {
    id: "threshold-lower-better-share",
    measure: "share of vectors that go to the 800 ms receiver under credits-pa / that at twice the threshold",
    band: Band::AtLeast(0.98),
    always: false,
    ..THRESHOLD_LOWER_BETTER
};

pub(super) const THRESHOLD_TRUE_BASE: Claim = Claim {
    id: "threshold-true-base",
    says: &[
        (
            "paper section 4.7",
            "we wish to decrease the error of the receiver with the highest accumulated error in the base case",
        ),
        ("thesis 3.4", "we can ensure fairness among the receivers"),
        ("thesis 3.4", "lead to lowering the AEE of the receiver having high AEE in the base case"),
        ("thesis abstract", "maintains the mean inaccuracy of the system same as in the base case"),
    ],
    measure: "standard deviation under credits-pa at the lowered threshold / under base at the coarse one",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THRESHOLD_TRUE_BASE_FAR: Claim = Claim {
    id: "threshold-true-base-far",
    measure: "error of the 800 ms receiver under credits-pa at the lowered threshold / under base at the coarse one",
    band: Band::Below(1.0),
    always: false,
    ..THRESHOLD_TRUE_BASE
};

pub(super) const THRESHOLD_TRUE_BASE_MEAN: Claim = Claim {
    id: "threshold-true-base-mean",
    measure: "mean under credits-pa at the lowered threshold / under base at the coarse one",
    band: Band::WithinOfOne(0.05),
    always: false,
    ..THRESHOLD_TRUE_BASE
};

pub(super) const THRESHOLD_VERY_LOW_TOWARD_MEAN: Claim = Claim {
    id: "threshold-very-low-toward-mean",
    says: &[
        (
            "thesis 3.5",
            "accumulated export error as a factor and a very low threshold it is possible to achieve a higher \
             degree of fairness and push the accumulated export error of all the receivers towards the mean",
        ),
        ("thesis 5.2", "using a very low threshold, it is possible to achieve a higher degree of fairness"),
    ],
    measure: "a receiver's distance from the mean in terms of the mean, under credits-pa at the lowest threshold / at \
     the coarsest",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THRESHOLD_VERY_LOW_TOWARD_MEAN_STD: Claim = Claim {
    id: "threshold-very-low-toward-mean-std",
    measure: "standard deviation under credits-pa at the lowest threshold / under base at the coarsest",
    band: Band::Below(1.0),
    always: false,
    ..THRESHOLD_VERY_LOW_TOWARD_MEAN
};
