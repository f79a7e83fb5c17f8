//! What the paper says about holding vectors back.

use crate::study::{Band, Claim};

pub(super) const PAPER_THEOREM41: Claim = Claim {
    id: "paper-theorem41",
    says: &[
        ("paper section 4.2, theorem 4.1", "the accumulated export error is equalized at every scheduling instant"),
        (
            "paper section 4.2",
            "ensures that the accumulated export error (i.e., total actual error) for each receiver equalizes \
             at the transmission of each DR vector",
        ),
    ],
    measure: "largest relative difference, over triggers, between receivers' sums of what earlier vectors cost and what \
     the one at hand is scheduled to cost",
    band: Band::AtMost(3.5e-6),
    always: true,
};

pub(super) const PAPER_EQUAL_ARRIVAL: Claim = Claim {
    id: "paper-equal-arrival",
    says: &[("paper section 4.4", "so that they receive the DR vector at the same time")],
    measure: "largest difference between receivers in when one vector arrives, in seconds",
    band: Band::AtMost(1.0 / 60.0),
    always: false,
};

pub(super) const PAPER_SCHEDULING_STD: Claim = Claim {
    id: "paper-scheduling-std",
    says: &[
        (
            "paper section 4.7, fig. 4",
            "the standard deviation of the error with scheduling is much lower as compared to the base case",
        ),
        ("paper abstract", "This algorithm makes the game very fair"),
        (
            "paper section 1",
            "this algorithm makes the game very fair (we measure fairness in terms of the standard deviation of \
             the error)",
        ),
    ],
    measure: "standard deviation under schedule-paper / under base, linear vectors",
    band: Band::AtMost(0.5),
    always: false,
};

pub(super) const PAPER_SCHEDULING_MEAN: Claim = Claim {
    id: "paper-scheduling-mean",
    says: &[
        (
            "paper section 4.7, fig. 4",
            "the mean of the accumulated error increased multi-fold with scheduling in comparison to the base \
             case",
        ),
        ("paper abstract", "at the expense of increasing the overall mean error of all players"),
        ("paper section 6", "but tends to increase the mean error of the players"),
    ],
    measure: "mean under schedule-paper / under base, linear vectors",
    band: Band::AtLeast(2.0),
    always: false,
};

pub(super) const PAPER_SCHEDULING_EACH_HIGHER: Claim = Claim {
    id: "paper-scheduling-each-higher",
    says: &[
        ("paper section 4.7", "it pushes each receiver's total error higher"),
        ("paper section 4.7", "leads to the increase in the accumulated error for all the receivers"),
    ],
    measure: "a receiver's error under schedule-paper / under base, linear vectors",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const PAPER_SCHEDULING_TOWARD_WORST: Claim = Claim {
    id: "paper-scheduling-toward-worst",
    says: &[(
        "paper section 1",
        "it tends to push the error of all the players towards that of the player with the worst error \
             (which is the error at the farthest player",
    )],
    measure: "distance from 1 of a receiver's error / the farthest one's, under schedule-paper / the same under base",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const PAPER_SCHEDULING_TOWARD_WORST_FAR: Claim = Claim {
    id: "paper-scheduling-toward-worst-far",
    measure: "the farthest receiver's error / the highest of the others under base",
    band: Band::Above(1.0),
    always: false,
    ..PAPER_SCHEDULING_TOWARD_WORST
};

pub(super) const PAPER_SCHEDULING_DEVIATION_SHRINKS: Claim = Claim {
    id: "paper-scheduling-deviation-shrinks",
    says: &[("paper section 1", "with the deviation in the error becoming smaller as time progresses")],
    measure: "standard deviation over receivers of error per time under schedule-paper, at the end / at a quarter of the \
     run",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const PAPER_FLIP_FLOP: Claim = Claim {
    id: "paper-flip-flop",
    says: &[
        ("paper section 4.7", "This means that at the next trigger, this receiver will be the one with highest error"),
        (
            "paper section 4.7",
            "if the DR vector reaches late, it actually increases the error for a receiver beyond the highest \
             accumulated error",
        ),
    ],
    measure: "how much more there is under schedule-paper at ±100 ms than at ±0 ms: changes of the receiver with the \
     highest error per 100 triggers; mean / that of base",
    band: Band::Above(0.0),
    always: false,
};
