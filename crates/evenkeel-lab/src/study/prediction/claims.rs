//! What "Managing latency and fairness in networked games" says about lag compensation at terminals; it gives no numbers.

use crate::study::{Band, Claim};

const TRADING: &str = "latency paper, trading inconsistencies";

const IF_THE_SAME: &str = "if the predicted parameters are the same as the authoritative updates received from the decision \
                           point, then the perceived response time or presentation consistency are significantly improved";

pub(super) const RESPONSE_IMPROVED: Claim = Claim {
    id: "prediction-response-improved",
    says: &[
        (TRADING, IF_THE_SAME),
        (
            TRADING,
            "For actions originated by the player, this is referred to as client-side prediction and reduces the perceived response time",
        ),
    ],
    measure: "response time to one's own operations, predicted / as the authority tells",
    // Significantly: half of it, or less.
    band: Band::AtMost(0.5),
    always: false,
};

pub(super) const PRESENTATION_IMPROVED: Claim = Claim {
    id: "prediction-presentation-improved",
    says: &[
        (TRADING, IF_THE_SAME),
        (
            TRADING,
            "The state of other avatars may be anticipated by dead reckoning using knowledge about the previous values",
        ),
    ],
    measure: "mean distance from where others are to where they are shown, dead reckoned / as the authority told last",
    band: Band::AtMost(0.5),
    always: false,
};

pub(super) const MAY_BE_REVOKED: Claim = Claim {
    id: "prediction-may-be-revoked",
    says: &[(
        TRADING,
        "There is a probability, however, that the authoritative decisions would have to revoke the local predictions if they \
         were incorrect",
    )],
    measure: "share of the authority's states that revoke a prediction of one's own tank",
    // A probability: neither never nor always.
    band: Band::Between(0.0, 0.999),
    always: false,
};

pub(super) const ONLY_IF_INCORRECT: Claim = Claim {
    id: "prediction-only-if-incorrect",
    says: &[(TRADING, "would have to revoke the local predictions if they were incorrect")],
    measure: "revocations per minute without a hit, where every operation reaches the authority in time",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const TRADED_FOR_REVOCATION: Claim = Claim {
    id: "prediction-traded-for-revocation",
    says: &[(
        TRADING,
        "In essence, these techniques trade improved response time and presentation consistency for an increased probability \
         of revocation",
    )],
    measure: "rank correlation of the response time that is saved with revocations per minute, over five round trips",
    band: Band::AtLeast(0.7),
    always: false,
};
