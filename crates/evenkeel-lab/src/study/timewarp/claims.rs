//! What the papers say about roll backs and about how short a local lag may be; they give no numbers.

use crate::study::{Band, Claim};

const MANAGING: &str = "managing latency and fairness, trading inconsistencies";
const GS_DR_LL: &str = "globally synchronized dead-reckoning with local lag, 4 and 5";

/// Reduced is what is a twentieth smaller; not eliminated is what is left.
pub(super) const PARTIAL_REDUCES: Claim = Claim {
    id: "timewarp-partial-lag-reduces",
    says: &[(
        MANAGING,
        "Partial local lag can also be used to reduce, without fully eliminating, the duration of the inter-decision point \
         inconsistency.",
    )],
    measure: "share of time in which a host's state is not the true one with a lag of half the delay, relative to no lag",
    band: Band::Between(0.0, 0.95),
    always: false,
};

pub(super) const LONGER_MORE_PARADOXES: Claim = Claim {
    id: "timewarp-longer-more-paradoxes",
    says: &[(MANAGING, "The longer this duration, the higher the probability of paradox.")],
    measure: "paradoxes per true verdict without lag, less those with a lag of half the delay",
    band: Band::Above(0.0),
    always: false,
};

/// Repairs are the rule if more than half of what comes in asks for one.
pub(super) const SHORT_LAG_FLOODS: Claim = Claim {
    id: "timewarp-short-lag-floods",
    says: &[(
        GS_DR_LL,
        "traditional local lag requests that the lag value must be larger than typical network transmission delay otherwise \
         state repairs would flood the system",
    )],
    measure: "share of others' operations that come late with a lag of half the delay",
    band: Band::AtLeast(0.5),
    always: false,
};

/// A flood is more repairing than executing.
pub(super) const FLOOD_OF_WORK: Claim = Claim {
    id: "timewarp-flood-of-work",
    says: &[(GS_DR_LL, "otherwise state repairs would flood the system")],
    measure: "ticks executed again for each tick executed, with a lag of half the delay",
    band: Band::AtLeast(1.0),
    always: false,
};

/// Exceptional: one in twenty.
pub(super) const LONG_LAG_SPARES: Claim = Claim {
    id: "timewarp-long-lag-spares",
    says: &[(
        "globally synchronized dead-reckoning with local lag, 1",
        "in order to tackle the inconsistency caused by exceptional network transmission delay, a time warp based mechanism is \
         proposed to repair the state",
    )],
    measure: "share of others' operations that come late with a lag of one and a half times the delay",
    band: Band::AtMost(0.05),
    always: false,
};

pub(super) const STATES_NO_CONSTRAINT: Claim = Claim {
    id: "timewarp-states-no-constraint",
    says: &[(
        GS_DR_LL,
        "there does not exist any constraint on the selection of the lag. With GS-DR-LL a system would work fine even if the lag \
         is much smaller than the network transmission delay",
    )],
    measure: "vectors that a receiver takes in with a lag of a quarter of the delay, relative to a lag of the delay",
    band: Band::WithinOfOne(0.05),
    always: true,
};

pub(super) const STATES_DECREASED: Claim = Claim {
    id: "timewarp-states-decreased",
    says: &[(
        GS_DR_LL,
        "in this case the before inconsistency caused by network transmission delay still exists but it can be decreased",
    )],
    measure: "mean distance between exported and shown with a lag of a quarter of the delay, relative to no lag",
    band: Band::Between(0.0, 0.95),
    always: false,
};
