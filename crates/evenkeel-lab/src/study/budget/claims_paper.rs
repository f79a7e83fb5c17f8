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

pub(super) const PAPER_BUDGET_SAME_COUNT: Claim = Claim {
    id: "paper-budget-same-count",
    says: &[
        ("paper section 5.1", "thus the two cases lead to the same number of DR vectors being sent out over time"),
        ("paper section 5.2", "so as to use the same number of DR vectors as in the 1/3 base case"),
        ("thesis 3.4.2.2", "same number of DR vectors as in 1/3 base case according to equation 3.5"),
        (
            "thesis 3.4.1.3",
            "ensuring that the budget of DR vectors over time is maintained the same as in the base case",
        ),
        (
            "thesis 3.4.1.5",
            "the probabilistic approach on average sends the same number of DR vectors as the 1/3 base case",
        ),
    ],
    measure: "vectors / those of base/3, with the policies as the papers have them",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const PAPER_BUDGET_FAR_GETS_MORE: Claim = Claim {
    id: "paper-budget-far-gets-more",
    says: &[
        (
            "paper section 1",
            "sending more DRs to players who are farther away from the sender compared to those who are closer",
        ),
        ("paper section 4.7", "this receiver would be sent more DR vectors than in the base case"),
        (
            "thesis abstract",
            "frequency of sending the dead reckoning information to receivers which are more inaccurate",
        ),
    ],
    measure: "smallest ratio of the vectors sent to a receiver to those sent to the next nearer one",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const PAPER_BUDGET_FAR_GETS_MORE_THAN_THIRD: Claim = Claim {
    id: "paper-budget-far-gets-more-than-third",
    measure: "vectors sent to the 800 ms receiver / under base/3",
    band: Band::Above(1.0),
    always: false,
    ..PAPER_BUDGET_FAR_GETS_MORE
};

pub(super) const PAPER_BUDGET_WORST_NOT_INCREASED: Claim = Claim {
    id: "paper-budget-worst-not-increased",
    says: &[(
        "paper section 6",
        "the error of the \"worst\" case players (who are furthest from the sender) are not increased \
             compared to the base case",
    )],
    measure: "highest error of a receiver / that under base/3",
    band: Band::AtMost(1.02),
    always: false,
};

pub(super) const PAPER_BUDGET_WORST_NOT_INCREASED_LITERAL: Claim = Claim {
    id: "paper-budget-worst-not-increased-literal",
    measure: "highest error of a receiver / that under base",
    band: Band::AtMost(1.02),
    always: false,
    ..PAPER_BUDGET_WORST_NOT_INCREASED
};

pub(super) const PAPER_BUDGET_MEAN_COMPARABLE: Claim = Claim {
    id: "paper-budget-mean-comparable",
    says: &[("paper section 6", "has comparable mean error to the base case")],
    measure: "mean / that of base/3",
    band: Band::WithinOfOne(0.15),
    always: false,
};

pub(super) const PAPER_BUDGET_MEAN_COMPARABLE_LITERAL: Claim = Claim {
    id: "paper-budget-mean-comparable-literal",
    measure: "mean / that of base",
    band: Band::WithinOfOne(0.15),
    always: false,
    ..PAPER_BUDGET_MEAN_COMPARABLE
};

pub(super) const PAPER_FEWER_SAME_ACCURACY: Claim = Claim {
    id: "paper-fewer-same-accuracy",
    says: &[
        (
            "paper abstract",
            "they require less number of DRs to be exchanged (compared to the current implementation of BZflag) \
             to achieve the same level of accuracy in game playing",
        ),
        (
            "paper section 1",
            "achieve the same level of accuracy of game playing as the current implementation of BZflag using \
             much less number of DR vectors",
        ),
    ],
    measure: "mean distance between real and placed path / that of base",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const PAPER_FEWER_SAME_ACCURACY_COUNT: Claim = Claim {
    id: "paper-fewer-same-accuracy-count",
    measure: "vectors / those of base",
    band: Band::AtMost(0.5),
    always: false,
    ..PAPER_FEWER_SAME_ACCURACY
};

pub(super) const PAPER_FEWER_SAME_ACCURACY_LOCAL: Claim = Claim {
    id: "paper-fewer-same-accuracy-local",
    measure: "mean distance between real and placed path / that of base with receivers that count from arrival",
    band: Band::AtMost(1.05),
    always: false,
    ..PAPER_FEWER_SAME_ACCURACY
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
