//! What the thesis says about holding vectors back.

use crate::study::{Band, Claim};

pub(super) const THESIS_DROP_STD: Claim = Claim {
    id: "thesis-drop-std",
    says: &[
        (
            "thesis 3.3.3.1.1.1, figs 3.2, 3.3, 3.4",
            "the standard deviation due to the scheduling case is much lower as compared to the standard \
             deviation in the base case",
        ),
        ("thesis abstract", "even though they achieve a high degree of fairness"),
        (
            "thesis 3.1",
            "The scheduling approaches achieve a higher degree of fairness among the receivers at the cost of \
             increase in the mean",
        ),
    ],
    measure: "standard deviation under schedule-drop / under base",
    band: Band::AtMost(0.5),
    always: false,
};

pub(super) const THESIS_DROP_STD_PROJECTED: Claim = Claim {
    id: "thesis-drop-std-projected",
    measure: "standard deviation under schedule-drop-projected / under base",
    band: Band::AtMost(0.5),
    always: false,
    ..THESIS_DROP_STD
};

pub(super) const THESIS_DROP_MEAN: Claim = Claim {
    id: "thesis-drop-mean",
    says: &[
        ("thesis 3.3.3.1.1.2, figs 3.5, 3.6, 3.7", "the mean of the AEE increased multifold in the scheduling case #1"),
        ("thesis 3.3.3.1.1.2", "the overall inaccuracy of the system was much higher than the base case"),
        (
            "thesis 3.3.4.2.1.2",
            "the increase in the mean in the scheduling case #1 was considerable in comparison to the base case",
        ),
    ],
    measure: "mean under schedule-drop / under base",
    band: Band::AtLeast(2.0),
    always: false,
};

pub(super) const THESIS_DROP_MEAN_PROJECTED: Claim = Claim {
    id: "thesis-drop-mean-projected",
    measure: "mean under schedule-drop-projected / under base",
    band: Band::AtLeast(2.0),
    always: false,
    ..THESIS_DROP_MEAN
};

pub(super) const THESIS_DROP_EACH_HIGHER: Claim = Claim {
    id: "thesis-drop-each-higher",
    says: &[(
        "thesis 3.3.3.1.1.3, figs 3.8, 3.9, 3.10",
        "the accumulated export error of each player is greater in the scheduled case as compared to its \
             accumulated error in the base case",
    )],
    measure: "a receiver's error under schedule-drop / under base",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_DROP_EACH_HIGHER_PROJECTED: Claim = Claim {
    id: "thesis-drop-each-higher-projected",
    measure: "a receiver's error under schedule-drop-projected / under base",
    band: Band::Above(1.0),
    always: false,
    ..THESIS_DROP_EACH_HIGHER
};

pub(super) const THESIS_DROP_BEYOND_WORST: Claim = Claim {
    id: "thesis-drop-beyond-worst",
    says: &[(
        "thesis 3.3.3.1.1.3, figs 3.8-3.10",
        "the export errors of receivers are much greater than the highest export error in the base case",
    )],
    measure: "lowest error of a receiver under schedule-drop / highest under base",
    band: Band::AtLeast(2.0),
    always: false,
};

pub(super) const THESIS_DROP_BEYOND_WORST_PROJECTED: Claim = Claim {
    id: "thesis-drop-beyond-worst-projected",
    measure: "lowest error of a receiver under schedule-drop-projected / highest under base",
    band: Band::AtLeast(2.0),
    always: false,
    ..THESIS_DROP_BEYOND_WORST
};

pub(super) const THESIS_DROP_FEWER: Claim = Claim {
    id: "thesis-drop-fewer",
    says: &[("thesis 3.3.3.2", "we cut down on the total number of DR vectors sent to all the receivers")],
    measure: "vectors under schedule-drop / under base",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_DROP_FEWER_PROJECTED: Claim = Claim {
    id: "thesis-drop-fewer-projected",
    measure: "vectors under schedule-drop-projected / under base",
    band: Band::Below(1.0),
    always: false,
    ..THESIS_DROP_FEWER
};

pub(super) const THESIS_DROP_UNBOUNDED: Claim = Claim {
    id: "thesis-drop-unbounded",
    says: &[
        (
            "thesis 3.3.3.2",
            "keeps happening continually and leads to an unbounded increase in the export error of all the \
             receivers",
        ),
        (
            "thesis 5.2",
            "The first algorithm suffered a serious drawback of the unbounded rate of error build up at \
             receivers",
        ),
    ],
    measure: "smallest growth, over receivers and quarters of the run, of the error under schedule-drop less that under \
     base (m s)",
    band: Band::Above(0.0),
    always: false,
};

pub(super) const THESIS_DROP_UNBOUNDED_RATE: Claim = Claim {
    id: "thesis-drop-unbounded-rate",
    measure: "rate at which the mean error grows under schedule-drop, last quarter of the run / second quarter",
    band: Band::Above(1.15),
    always: false,
    ..THESIS_DROP_UNBOUNDED
};

pub(super) const THESIS_DROP_UNBOUNDED_PROJECTED: Claim = Claim {
    id: "thesis-drop-unbounded-projected",
    measure: "smallest growth, over receivers and quarters of the run, of the error under schedule-drop-projected less \
     that under base (m s)",
    band: Band::Above(0.0),
    always: false,
    ..THESIS_DROP_UNBOUNDED
};

pub(super) const THESIS_DROP_UNBOUNDED_RATE_PROJECTED: Claim = Claim {
    id: "thesis-drop-unbounded-rate-projected",
    measure: "rate at which the mean error grows under schedule-drop-projected, last quarter of the run / second quarter",
    band: Band::Above(1.15),
    always: false,
    ..THESIS_DROP_UNBOUNDED
};

pub(super) const THESIS_DROP_HYSTERESIS: Claim = Claim {
    id: "thesis-drop-hysteresis",
    says: &[(
        "thesis 3.3.3.2",
        "it leads the receiver sometimes to build up error beyond the highest export error and hence making \
             this receiver the one with the highest export error",
    )],
    measure: "share of vectors dropped under schedule-drop after which that receiver has, by the next trigger, more \
     error than anybody had before",
    band: Band::Between(0.0999, 0.9),
    always: false,
};

pub(super) const THESIS_DROP_HYSTERESIS_PROJECTED: Claim = Claim {
    id: "thesis-drop-hysteresis-projected",
    measure: "share of vectors dropped under schedule-drop-projected after which that receiver has, by the next trigger, \
     more error than anybody had before",
    band: Band::Between(0.0999, 0.9),
    always: false,
    ..THESIS_DROP_HYSTERESIS
};

pub(super) const THESIS_DROP_GAP_RATE: Claim = Claim {
    id: "thesis-drop-gap-rate",
    says: &[
        (
            "thesis 3.3.3.2",
            "when a DR vector is not sent for a long time to a receiver, the receiver’s trajectory is way off \
             of the sender’s trajectory and hence the receiver starts building up the error at a very high rate",
        ),
        (
            "paper section 5.1",
            "the receiver's trajectory is more and more off of the sender's trajectory and hence the rate of \
             buildup of the error at the receiver is higher",
        ),
        (
            "thesis 3.4.1.5",
            "When a receiver does not receive a DR vector for a long time, the receiver’s trajectory is more \
             and more off of the sender’s trajectory",
        ),
    ],
    measure: "smallest ratio of the mean distance between exported and placed path from one age of the vector in use to \
     the next (0-1, 1-2, 2-4, above 4 s)",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_DROP_GAP_RATE_HIGH: Claim = Claim {
    id: "thesis-drop-gap-rate-high",
    measure: "the same distance at the highest age that occurs / at 0-1 s",
    band: Band::AtLeast(2.0),
    always: false,
    ..THESIS_DROP_GAP_RATE
};

pub(super) const THESIS_SCHEDULE_EQUALISES_ON_RECEPTION: Claim = Claim {
    id: "thesis-schedule-equalises-on-reception",
    says: &[
        ("thesis 3.3.2", "all the receiver’s AEE equals the highest AEE after they receive the current DR vector"),
        (
            "thesis 3.3",
            "the cumulative export error of the receiver equals the highest cumulative export error at that \
             point in the future when it will get the scheduled DR vector",
        ),
        (
            "thesis 5.2",
            "at the reception of the DR vector, the receiver’s accumulated export error will be equal to the \
             highest accumulated export error",
        ),
    ],
    measure: "a receiver's error when a vector arrives / the highest error at that vector's trigger, median over the \
     vectors sent under schedule-drop",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const THESIS_SCHEDULE_EQUALISES_ON_RECEPTION_PROJECTED: Claim = Claim {
    id: "thesis-schedule-equalises-on-reception-projected",
    measure: "a receiver's error when a vector arrives / the highest error at that vector's trigger, median over the \
     vectors sent under schedule-drop-projected",
    band: Band::WithinOfOne(0.05),
    always: false,
    ..THESIS_SCHEDULE_EQUALISES_ON_RECEPTION
};

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
