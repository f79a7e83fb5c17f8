//! What "Managing latency and fairness in networked games" says about the synchronisation of decision points; it gives no
//! numbers.

use crate::study::{Band, Claim};

const PLAYABILITY: &str = "latency paper, playability and fairness";
const TRADING: &str = "latency paper, trading inconsistencies";
const FIGURE_1: &str = "latency paper, figure 1";

pub(super) const CENTRAL_NO_PARADOX: Claim = Claim {
    id: "sync-central-no-paradox",
    says: &[(PLAYABILITY, "Paradoxes [...] cannot happen in the central server model")],
    measure: "paradoxes at the central server",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const PARADOX_NEEDS_DISCREPANCY: Claim = Claim {
    id: "sync-paradox-needs-discrepancy",
    says: &[(PLAYABILITY, "Paradoxes arise only due to the discrepancy between decision points")],
    measure: "paradoxes about ticks at which all mirrors had the same state, optimistic",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const DISTRIBUTED_CLOSER: Claim = Claim {
    id: "sync-distributed-closer",
    says: &[
        (
            PLAYABILITY,
            "The distributed architecture may help reducing response time by bringing decision points closer to players",
        ),
        (
            "latency paper, anatomy",
            "distributed architectures [...] may improve player's experience if the decision points are located close to \
             participants",
        ),
    ],
    measure: "response time, optimistic mirrors / central server",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const INTRODUCES_INCONSISTENCY: Claim = Claim {
    id: "sync-introduces-inconsistency",
    says: &[(PLAYABILITY, "However, it introduces inter-decision point inconsistency")],
    measure: "mean distance between the same craft at two mirrors, optimistic",
    band: Band::Above(0.0),
    always: true,
};

pub(super) const OUT_OF_ORDER: Claim = Claim {
    id: "sync-out-of-order",
    says: &[(PLAYABILITY, "This can cause some decision points to evaluate actions out of order")],
    measure: "share of operations that come after a mirror has executed their tick, optimistic",
    band: Band::Above(0.0),
    always: true,
};

pub(super) const OPTIMISTIC_PARADOX: Claim = Claim {
    id: "sync-optimistic-paradox",
    says: &[
        (PLAYABILITY, "possibly violating causality and taking incompatible decisions"),
        (
            FIGURE_1,
            "In optimistic synchronization, the sync message from server 2 can create a paradox on server 1 if it conflicts \
             with Player A's action",
        ),
    ],
    measure: "paradoxes per minute, optimistic",
    band: Band::Above(0.0),
    always: false,
};

pub(super) const HEALED: Claim = Claim {
    id: "sync-healed",
    says: &[
        (PLAYABILITY, "paradoxical game states have to be healed by rolling back to an earlier time point"),
        (TRADING, "it may be essential to heal a paradoxical game state using roll backs"),
    ],
    measure: "share of mirrors whose settled states and verdicts are those of all operations executed in order",
    band: Band::AtLeast(1.0),
    always: true,
};

pub(super) const MUST_BE_HEALED: Claim = Claim {
    id: "sync-must-be-healed",
    says: &[(
        PLAYABILITY,
        "If causality is to be maintained, paradoxical game states have to be healed by rolling back to an earlier time point",
    )],
    measure: "share of mirrors that end like all operations executed in order if nothing is rolled back, optimistic",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const CONSERVATIVE_NONE: Claim = Claim {
    id: "sync-conservative-none",
    says: &[(
        TRADING,
        "a conservative synchronization scheme between the decision points which eliminates the probability of paradoxes \
         altogether",
    )],
    measure: "paradoxes, conservative, lag for the longest delay that occurs",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const CONSERVATIVE_SLOWER: Claim = Claim {
    id: "sync-conservative-slower",
    says: &[(TRADING, "Such schemes, however, would affect the game's responsiveness")],
    measure: "response time, conservative / optimistic",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const CONSERVATIVE_NEGATES_SOME: Claim = Claim {
    id: "sync-conservative-negates-some",
    says: &[(TRADING, "negating some of the benefits of using distributed architecture")],
    measure: "response time that conservative mirrors lose to optimistic ones / what those gain on the central server",
    // Some, but not all.
    band: Band::Between(0.0, 1.0),
    always: false,
};

pub(super) const LAG_BUYS_CONSISTENCY: Claim = Claim {
    id: "sync-lag-buys-consistency",
    says: &[(
        TRADING,
        "inter-decision point inconsistency can be traded for an increase in response time by adding local lag, assuming no \
         packet loss or jitter",
    )],
    measure: "mean inconsistency at a lag / at the next shorter lag, the largest of four",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const LAG_COSTS_RESPONSE: Claim = Claim {
    id: "sync-lag-costs-response",
    says: &[(TRADING, "traded for an increase in response time by adding local lag")],
    measure: "response time added / lag added, optimistic to conservative",
    // What is added to the one is added to the other; a tick of rounding is allowed for.
    band: Band::WithinOfOne(0.1),
    always: false,
};

pub(super) const LAG_COMPENSATES: Claim = Claim {
    id: "sync-lag-compensates",
    says: &[(
        FIGURE_1,
        "The local lag compensates the inter-decision point inconsistencies assuming there is no jitter or packet loss",
    )],
    measure: "share of time in which mirrors differ, lag for the longest delay, no jitter",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const JITTER_MATTERS: Claim = Claim {
    id: "sync-jitter-matters",
    says: &[(FIGURE_1, "assuming there is no jitter or packet loss")],
    measure: "share of time in which mirrors differ, lag for the longest delay before jitter",
    band: Band::Above(0.0),
    always: false,
};

pub(super) const PARTIAL_REDUCES: Claim = Claim {
    id: "sync-partial-reduces",
    says: &[(
        TRADING,
        "Partial local lag can also be used to reduce [...] the duration of the inter-decision point inconsistency",
    )],
    measure: "share of time in which mirrors differ, partial / optimistic",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const PARTIAL_REMAINS: Claim = Claim {
    id: "sync-partial-remains",
    says: &[(TRADING, "without fully eliminating, the duration of the inter-decision point inconsistency")],
    measure: "share of time in which mirrors differ, partial",
    band: Band::Above(0.0),
    always: false,
};

pub(super) const LONGER_MORE_PARADOX: Claim = Claim {
    id: "sync-longer-more-paradox",
    says: &[(TRADING, "The longer this duration, the higher the probability of paradox")],
    measure: "rank correlation of the time in which mirrors differ with the share of verdicts that are paradoxes, over five lags",
    band: Band::AtLeast(0.7),
    always: false,
};
