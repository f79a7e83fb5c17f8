//! What the thesis says about budgets.

use crate::study::{Band, Claim};

pub(super) const THESIS_LOTTERY_MEAN_HIGHER: Claim = Claim {
    id: "thesis-lottery-mean-higher",
    says: &[
        (
            "thesis 3.4.3.2, figs 3.24, 3.25",
            "the budget based probabilistic algorithm is higher than the mean accumulated export error in the \
             1/3 base case",
        ),
        ("thesis abstract", "hence increased the mean inaccuracy of the system"),
        ("thesis 3.4.1.6", "the probabilistic approaches increased the mean accumulated export error of the system"),
    ],
    measure: "mean under lottery-pa / under base/3",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_STD_BELOW_BASE: Claim = Claim {
    id: "thesis-credits-std-below-base",
    says: &[(
        "thesis 3.4.2.2.1.1, fig. 3.19",
        "the standard deviation in the deterministic algorithm is lower than the base and the 1/3 base case",
    )],
    measure: "standard deviation under credits-pa / under base with all its vectors",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_CONSIDERABLY_FAIRER: Claim = Claim {
    id: "thesis-credits-considerably-fairer",
    says: &[("thesis abstract", "it achieved a considerably higher degree of fairness as compared to the base case")],
    measure: "standard deviation under credits-pa / under base/3",
    band: Band::AtMost(0.75),
    always: false,
};

pub(super) const THESIS_CREDITS_CONSIDERABLY_FAIRER_LITERAL: Claim = Claim {
    id: "thesis-credits-considerably-fairer-literal",
    measure: "standard deviation under credits-pa / under base",
    band: Band::AtMost(0.75),
    always: false,
    ..THESIS_CREDITS_CONSIDERABLY_FAIRER
};

pub(super) const THESIS_LOTTERY_FIXED_EACH_HIGHER: Claim = Claim {
    id: "thesis-lottery-fixed-each-higher",
    says: &[
        (
            "thesis 3.4.1.5, fig. 3.18",
            "the AEE of each receiver is higher in the probabilistic case as compared to the 1/3 base case",
        ),
        ("thesis 3.4.1.5", "to build up more error in 1/3 probabilistic case as compared to the 1/3 base case"),
    ],
    measure: "a receiver's error under lottery-fixed / under base/3",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_ONE_DOWN_ONE_UP: Claim = Claim {
    id: "thesis-credits-one-down-one-up",
    says: &[
        (
            "thesis 3.4.2.2.1.3, fig. 3.21",
            "there is a receiver whose error has fallen down as compared to the 1/3 base case and there is a \
             receiver whose error has gone up",
        ),
        ("thesis 3.4.2.2.1.2", "some receivers whose error must have increased"),
    ],
    measure: "lowest over receivers of error under credits-pa / under base/3",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_ONE_DOWN_ONE_UP_UP: Claim = Claim {
    id: "thesis-credits-one-down-one-up-up",
    measure: "highest over receivers of error under credits-pa / under base/3",
    band: Band::Above(1.0),
    always: false,
    ..THESIS_CREDITS_ONE_DOWN_ONE_UP
};

pub(super) const THESIS_CREDITS_HIGHEST_DOWN: Claim = Claim {
    id: "thesis-credits-highest-down",
    says: &[
        ("thesis 3.4.2.2.1.3, fig. 3.21", "we can manage to bring down the highest error"),
        (
            "thesis abstract",
            "deterministic algorithm also succeeded in increasing the accuracy of more inaccurate receivers in \
             the system",
        ),
        ("thesis 3.5", "improving the performance of the game for receivers with higher accumulated export errors"),
    ],
    measure: "error under credits-pa / under base/3, of the receiver with the highest and of the farthest one",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_TOWARD_MEAN: Claim = Claim {
    id: "thesis-credits-toward-mean",
    says: &[
        (
            "thesis 3.5",
            "pushing the accumulated export error of all the receivers towards the mean export error of the \
             system",
        ),
        ("thesis 5.2", "push the export error of all the receivers towards the mean export error of the system"),
    ],
    measure: "a receiver's distance from base/3's mean under credits-pa / under base/3",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const THESIS_CREDITS_MEAN_BASE_CASE: Claim = Claim {
    id: "thesis-credits-mean-base-case",
    says: &[
        ("thesis abstract", "maintains the mean inaccuracy of the system same as in the base case"),
        (
            "thesis 3.5",
            "without increasing the mean error of the system using the budget based deterministic algorithm",
        ),
        (
            "thesis abstract",
            "same overall budget of dead reckoning vectors as in the base case and hence at no extra cost",
        ),
    ],
    measure: "mean under credits-pa / under base with all its vectors",
    band: Band::WithinOfOne(0.05),
    always: false,
};
