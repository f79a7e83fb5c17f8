//! What the paper says about budgets.

use crate::study::{Band, Claim};

pub(super) const PAPER_LOTTERY_STD: Claim = Claim {
    id: "paper-lottery-std",
    says: &[
        (
            "paper section 5.1, figs 5, 6",
            "the standard deviation of the accumulated error among the receivers with the probabilistic budget \
             based algorithm is less than the 1/3 base case",
        ),
        (
            "thesis 3.4.3.1, figs 3.22, 3.23",
            "deterministic algorithm and the budget based probabilistic algorithm is lower as compared to the \
             1/3 base case in a variable delay environment",
        ),
        ("paper section 6", "the algorithms reduce the standard deviation of the error"),
    ],
    measure: "standard deviation / that of base/3",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const PAPER_LOTTERY_MEAN: Claim = Claim {
    id: "paper-lottery-mean",
    says: &[
        ("paper section 5.1, figs 5, 6", "the mean is a little higher than the 1/3 base case"),
        (
            "paper section 5.1",
            "at the cost of increasing the mean error by a small amount as compared to the 1/3 base case",
        ),
    ],
    measure: "mean / that of base/3",
    band: Band::Between(1.0, 1.15),
    always: false,
};

pub(super) const PAPER_CREDITS_STD: Claim = Claim {
    id: "paper-credits-std",
    says: &[
        (
            "paper section 5.2, figs 5, 6",
            "the standard deviation of error in the deterministic budget based algorithm is less than the 1/3 \
             base case",
        ),
        (
            "thesis 3.4.2.2.1.1, fig. 3.19",
            "the standard deviation in the deterministic algorithm is lower than the base and the 1/3 base case",
        ),
        (
            "thesis 3.4.3.1, figs 3.22, 3.23",
            "The figure 3.22 and 3.23 show that the standard deviation in the budget based deterministic \
             algorithm",
        ),
        (
            "thesis 5.2",
            "the budget based deterministic algorithm performed better than the 1/3 base case not only in the \
             static delay environment but also in the variable delay environment",
        ),
    ],
    measure: "standard deviation under credits-pa / under base/3",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const PAPER_CREDITS_MEAN_SAME: Claim = Claim {
    id: "paper-credits-mean-same",
    says: &[
        ("paper section 5.2, figs 5, 6", "also has the same mean error as the 1/3 base case"),
        ("paper abstract", "improved fairness without increasing the mean error"),
        (
            "thesis 3.4.2.2.1.2, fig. 3.20",
            "the mean in the deterministic case is almost the same as in the 1/3 base case",
        ),
        (
            "thesis 3.4.3.2, figs 3.24, 3.25",
            "based deterministic algorithm is almost the same as the mean accumulated export error in the 1/3 \
             base case",
        ),
        (
            "thesis 3.4.3.3, figs 3.26, 3.27",
            "maintain the mean export error of the system as the same as in the 1/3 base case",
        ),
    ],
    measure: "mean under credits-pa / under base/3 (the paper: same)",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const PAPER_CREDITS_MEAN_SAME_ALMOST: Claim = Claim {
    id: "paper-credits-mean-same-almost",
    measure: "mean under credits-pa / under base/3 (the thesis: almost the same)",
    band: Band::WithinOfOne(0.1),
    always: false,
    ..PAPER_CREDITS_MEAN_SAME
};

pub(super) const PAPER_DET_MEAN_BELOW_PROB: Claim = Claim {
    id: "paper-det-mean-below-prob",
    says: &[("paper section 5.2", "the mean accumulated error was always less in the deterministic approach")],
    measure: "mean under credits-pa / under the lottery, seed by seed",
    band: Band::Below(1.0),
    always: true,
};

pub(super) const PAPER_DET_MEAN_BELOW_PROB_OTHERS: Claim = Claim {
    id: "paper-det-mean-below-prob-others",
    measure: "mean under credits / under the lottery with the same other weights, seed by seed",
    band: Band::Below(1.0),
    always: true,
    ..PAPER_DET_MEAN_BELOW_PROB
};

pub(super) const PAPER_DET_STD_LOW_VARIANCE: Claim = Claim {
    id: "paper-det-std-low-variance",
    says: &[(
        "paper section 5.2",
        "in the fixed or low variance cases, the deterministic approach was generally lower",
    )],
    measure: "share of seeds in which credits-pa has the lower standard deviation",
    band: Band::AtLeast(0.75),
    always: false,
};

pub(super) const PAPER_DET_STD_HIGH_VARIANCE: Claim = Claim {
    id: "paper-det-std-high-variance",
    says: &[(
        "paper section 5.2",
        "in higher variance cases, it was harder to draw conclusions as the probabilistic approach was \
             sometimes better than the deterministic approach",
    )],
    measure: "share of seeds in which the lottery has the lower standard deviation",
    band: Band::Between(0.0999, 0.9),
    always: false,
};

pub(super) const PAPER_LOTTERY_IRREGULAR: Claim = Claim {
    id: "paper-lottery-irregular",
    says: &[
        (
            "paper section 5.1",
            "it sometimes sends DR vectors to a receiver less frequently and sometimes more frequently than the \
             1/3 base case due to its probabilistic nature",
        ),
        (
            "thesis 3.4.1.5",
            "frequently and sometimes more frequently than the 1/3 base case due to its probabilistic nature",
        ),
        (
            "thesis 3.4.2.1",
            "there is no irregularity in sending the DR vector to any receiver as was observed in the budget \
             based probabilistic algorithm",
        ),
        ("paper section 5.2", "every receiver has a guaranteed schedule of receiving DR vectors"),
    ],
    measure: "share of gaps between vectors to a receiver that are shorter, or longer, than base/3's three triggers",
    band: Band::Between(0.0999, 0.9),
    always: false,
};

pub(super) const PAPER_LOTTERY_IRREGULAR_SMOOTH: Claim = Claim {
    id: "paper-lottery-irregular-smooth",
    measure: "coefficient of variation of gaps under credits-pa / under lottery-pa",
    band: Band::AtMost(0.5),
    always: false,
    ..PAPER_LOTTERY_IRREGULAR
};

pub(super) const PAPER_LOTTERY_IRREGULAR_GUARANTEED: Claim = Claim {
    id: "paper-lottery-irregular-guaranteed",
    measure: "longest gap under credits-pa, in triggers",
    band: Band::AtMost(30.0),
    always: true,
    ..PAPER_LOTTERY_IRREGULAR
};
