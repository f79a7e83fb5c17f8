//! What the paper says about both of its budget policies.

use crate::study::{Band, Claim};

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
