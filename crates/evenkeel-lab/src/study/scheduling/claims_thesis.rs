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
