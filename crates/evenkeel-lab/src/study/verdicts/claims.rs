//! What "Managing latency and fairness in networked games" says about what should wait how long; it gives no numbers.

use crate::study::{Band, Claim};

const PAPER: &str = "managing latency and fairness, trading inconsistencies";

/// Nobody notices one wrong verdict in a thousand.
pub(super) const POSITIONS_LESS_LAG: Claim = Claim {
    id: "verdicts-positions-less-lag",
    says: &[(
        PAPER,
        "actions affecting avatar's positions could use less local lag than actions affecting avatar's life state",
    )],
    measure: "share of verdicts decided wrongly at 200 ms if movements do not wait and verdicts wait 220 ms",
    band: Band::AtMost(0.001),
    always: false,
};

pub(super) const TAILORED_BETTER: Claim = Claim {
    id: "verdicts-tailored-better",
    says: &[(
        PAPER,
        "it could be more effective to tailor the synchronization parameters for each action type rather than binding the \
         whole game state to the same synchronization fate",
    )],
    measure: "share of verdicts decided wrongly at 200 ms if everything waits as long as movements do, less that if verdicts \
              wait until 200 ms are over",
    band: Band::Above(0.0),
    always: false,
};

/// Typically: nine times in ten.
pub(super) const POSITION_ERRORS_HARMLESS: Claim = Claim {
    id: "verdicts-position-errors-harmless",
    says: &[(
        PAPER,
        "an error in the avatar's position would not typically affect the actions of other participants due to limited \
         acceleration and speed",
    )],
    measure: "share of shots at what is seen that are decided wrongly if nothing waits",
    band: Band::AtMost(0.1),
    always: false,
};

pub(super) const CONSERVATIVE_NONE: Claim = Claim {
    id: "verdicts-conservative-none",
    says: &[
        (
            PAPER,
            "a conservative synchronization scheme between the decision points which eliminates the probability of paradoxes \
             altogether. Examples include conservative local lag",
        ),
        (
            "managing latency and fairness, figure 1",
            "The local lag compensates the inter-decision point inconsistencies assuming there is no jitter or packet loss.",
        ),
    ],
    measure: "share of verdicts announced wrongly with operations if movements wait 220 ms at 200 ms without jitter",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const ROLLBACK_HEALS: Claim = Claim {
    id: "verdicts-rollback-heals",
    says: &[(
        "managing latency and fairness, playability and fairness",
        "If causality is to be maintained, paradoxical game states have to be healed by rolling back to an earlier time point.",
    )],
    measure: "verdicts that are wrong or missing at any host once all operations are in and late ones were rolled back for",
    band: Band::AtMost(0.0),
    always: true,
};
