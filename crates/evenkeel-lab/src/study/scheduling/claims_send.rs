//! What the thesis says about its algorithm 2, which drops nothing.

use crate::study::{Band, Claim};

pub(super) const THESIS_SEND_STD: Claim = Claim {
    id: "thesis-send-std",
    says: &[
        (
            "thesis 3.3.4.2.1.1, fig. 3.11",
            "in the scheduling case #2 is lower than as compared the standard deviation in the base case",
        ),
        (
            "thesis 3.3.4",
            "This allows the standard deviation of error among the receivers to fall down in comparison with \
             the base case",
        ),
        (
            "thesis 5.2",
            "the second algorithm achieved higher degree of fairness than in the base case and worked fine in \
             the static delay environment",
        ),
    ],
    measure: "standard deviation under schedule-send / under base",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_SEND_MEAN: Claim = Claim {
    id: "thesis-send-mean",
    says: &[
        (
            "thesis 3.3.4.2.1.2, fig. 3.12",
            "there is a moderate increase in the mean of the accumulated export error due to scheduling \
             algorithm #2",
        ),
        ("thesis 3.3.4.2.1.3", "the mean of the accumulated export error has gone up in comparison with the base case"),
    ],
    measure: "mean under schedule-send / under base",
    band: Band::Between(1.15, 2.0),
    always: false,
};

pub(super) const THESIS_SEND_FAR_AS_BASE: Claim = Claim {
    id: "thesis-send-far-as-base",
    says: &[(
        "thesis 3.3.4.2.1.3, fig. 3.13",
        "the player 3 – who is the farthest player is doing as good as in the base case",
    )],
    measure: "error of the 800 ms receiver under schedule-send / under base",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const THESIS_SEND_NEAR_MORE: Claim = Claim {
    id: "thesis-send-near-more",
    says: &[
        (
            "thesis 3.3.4.2.1.3, fig. 3.13",
            "the other players have incurred more AEE and hence achieving fairness to an extent",
        ),
        (
            "thesis 3.3.4",
            "it will allow the receiver to buildup some error but less than what would be required to equalize \
             it to the highest accumulated export error",
        ),
    ],
    measure: "a nearer receiver's error under schedule-send / under base",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_SEND_NEAR_MORE_SHORT: Claim = Claim {
    id: "thesis-send-near-more-short",
    measure: "a nearer receiver's error / the highest, under schedule-send",
    band: Band::Below(1.0),
    always: false,
    ..THESIS_SEND_NEAR_MORE
};

pub(super) const THESIS_SEND_BELOW_DROP_MEAN: Claim = Claim {
    id: "thesis-send-below-drop-mean",
    says: &[
        (
            "thesis 3.3.4.2.1.2",
            "scheduling algorithm #2 overcomes the unbounded error build up problem and at the same time \
             alleviates the hysteresis effect observed in scheduling algorithm #1",
        ),
        (
            "thesis 3.3.4.3",
            "scheduling algorithm #2 overcomes the unbounded rate of error build up problem of algorithm #1",
        ),
    ],
    measure: "mean under schedule-send / under schedule-drop",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_SEND_BELOW_DROP_MEAN_RATE: Claim = Claim {
    id: "thesis-send-below-drop-mean-rate",
    measure: "rate at which the mean error grows under schedule-send, last quarter of the run / second quarter",
    band: Band::AtMost(1.15),
    always: false,
    ..THESIS_SEND_BELOW_DROP_MEAN
};

pub(super) const THESIS_SEND_CONVERGENCE: Claim = Claim {
    id: "thesis-send-convergence",
    says: &[(
        "thesis 3.3.4.3",
        "convergence of the accumulated export error of all the receivers has dropped down considerably as \
             compared to algorithm #1",
    )],
    measure: "standard deviation / mean over receivers under schedule-send / the same under schedule-drop",
    band: Band::AtLeast(1.33),
    always: false,
};

pub(super) const THESIS_SEND_HYSTERESIS_NEGLIGIBLE: Claim = Claim {
    id: "thesis-send-hysteresis-negligible",
    says: &[(
        "thesis 3.3.4.3",
        "though the impact of the effect is negligible as compared to the scheduling algorithm #1",
    )],
    measure: "what jitter adds to mean / base's mean under schedule-send, against what schedule-drop adds to base's mean \
     at that jitter",
    band: Band::AtMost(0.1),
    always: false,
};

pub(super) const THESIS_SEND_VARIABLE_ALL_HIGHER: Claim = Claim {
    id: "thesis-send-variable-all-higher",
    says: &[(
        "thesis 5.2",
        "also suffered from the hysteresis effect in a variable delay environment which led to increase in \
             the accumulated export error of all the receivers in the system as compared to the base case",
    )],
    measure: "a receiver's error under schedule-send / under base",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_SEND_NOTHING_DROPPED: Claim = Claim {
    id: "thesis-send-nothing-dropped",
    says: &[("thesis 3.3.4.1", "modified in such a way that no DR vector is discarded at the next trigger")],
    measure: "largest difference over receivers between vectors sent under schedule-send and under base",
    band: Band::AtMost(1.0),
    always: false,
};
