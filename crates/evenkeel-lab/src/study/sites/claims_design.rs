//! What we say about our own way of choosing servers, and about the paper's on measured latencies.

use crate::study::{Band, Claim};

const DESIGN: &str = "design, decision points";

pub(super) const NEVER_WORSE_HEURISTIC: Claim = Claim {
    id: "design-sites-never-worse-than-heuristic",
    says: &[(DESIGN, "the exact method is never worse than the heuristic")],
    measure: "critical response, ours / heuristic",
    band: Band::AtMost(1.0),
    always: true,
};

pub(super) const NEVER_WORSE_CENTRAL: Claim = Claim {
    id: "design-sites-never-worse-than-central",
    says: &[(DESIGN, "nor than the best central server")],
    measure: "critical response, ours / best central server",
    ..NEVER_WORSE_HEURISTIC
};

pub(super) const PROVEN: Claim = Claim {
    id: "design-sites-proven",
    says: &[(DESIGN, "exact to 0.1 ms on every larger instance")],
    measure: "critical response of our servers - what is proven to be least, in ms",
    band: Band::AtMost(0.1),
    always: true,
};

pub(super) const BEATS_HEURISTIC: Claim = Claim {
    id: "design-sites-better-than-heuristic",
    says: &[(DESIGN, "the exact method beats both: the heuristic")],
    measure: "critical response, ours / heuristic",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const BEATS_CENTRAL: Claim = Claim {
    id: "design-sites-7-19-percent",
    says: &[(DESIGN, "and the best single server, by 7-19 % of its critical response")],
    measure: "critical response, ours / best central server",
    band: Band::AtMost(0.93),
    always: false,
};

pub(super) const BOTH: Claim = Claim {
    id: "design-sites-mean-plus-std",
    says: &[(DESIGN, "pure std as an objective is a trap: offer mean+std")],
    measure: "mean plus standard deviation, ours for that / the least of all other ways",
    band: Band::AtMost(1.0),
    always: true,
};

pub(super) const OFTEN_WORSE: Claim = Claim {
    id: "design-sites-heuristic-often-worse",
    says: &[(DESIGN, "on real matrices the paper's heuristic is often worse than the best single server")],
    measure: "share of runs in which the heuristic's critical response is above the best central server's",
    band: Band::AtLeast(0.25),
    always: false,
};
