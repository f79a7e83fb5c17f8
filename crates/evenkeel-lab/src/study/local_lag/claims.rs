//! What the paper says ("Globally synchronized dead-reckoning with local lag for continuous distributed multiplayer games"),
//! with the digits that its text has lost left out as [...].

use crate::study::{Band, Claim};

pub(super) const LL_FILTERS: Claim = Claim {
    id: "ll-filters-updates",
    says: &[
        ("abstract", "DR can filter most unnecessary state updates and improve the scalability of a system"),
        ("section 1", "DR can not only maintain consistency but also decrease the number of transmitted state updates"),
    ],
    measure: "updates sent / one for each ship at each tick",
    band: Band::Below(0.5),
    always: false,
};

pub(super) const LL_CHANGED_MEANWHILE: Claim = Claim {
    id: "ll-changed-meanwhile",
    says: &[(
        "section 1",
        "when a remote site receives a state update of an entity, the state of the entity might have changed at the site \
         sending the state update",
    )],
    measure: "share of updates whose successor is sent before they arrive (GS-DR)",
    band: Band::Above(0.0),
    always: false,
};

pub(super) const LL_CLOCKS_HELP: Claim = Claim {
    id: "ll-clocks-help",
    says: &[
        ("abstract", "with the help of global synchronization DR can achieve higher consistency"),
        ("section 1", "in order to make DR maintain high consistency [...] globally synchronized DR"),
    ],
    measure: "mean inconsistency, GS-DR / dead reckoning without synchronised clocks",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const LL_AFTER_FROM_CLOCKS: Claim = Claim {
    id: "ll-after-from-clocks",
    says: &[(
        "section 3",
        "after inconsistency is caused by the lack of synchronization between the physical clocks of all sites in a system",
    )],
    measure: "largest distance between the newest update that has arrived and what is shown, in px, without synchronised clocks",
    band: Band::Above(1e-6),
    always: false,
};

pub(super) const LL_AFTER_ZERO: Claim = Claim {
    id: "ll-after-zero",
    says: &[
        ("section 1", "with the synchronization of physical clocks, GS-DR can eliminate after inconsistency"),
        ("section 3, fig. 1", "it can be seen that the after inconsistency is 0"),
        ("section 5, twice", "GS-DR and GS-DR-LL both can eliminate after inconsistency"),
        ("section 6", "GS-DR can eliminate after inconsistency through the synchronization of physical clocks"),
    ],
    measure: "largest distance between the newest update that has arrived and what is shown, in px",
    band: Band::AtMost(1e-6),
    always: true,
};

pub(super) const LL_BEFORE_REMAINS: Claim = Claim {
    id: "ll-before-remains",
    says: &[
        ("abstract", "but it still cannot eliminate before inconsistency"),
        ("section 1", "which causes the states of local site and remote sites to be inconsistent in the transmission"),
        ("section 4", "GS-DR can eliminate after inconsistency but it cannot effectively tackle before inconsistency"),
        ("section 6", "but it cannot tackle before inconsistency"),
    ],
    measure: "mean inconsistency while an update is under way, in px (GS-DR)",
    band: Band::Above(0.0),
    always: true,
};

pub(super) const LL_TWO_CAUSES: Claim = Claim {
    id: "ll-two-causes",
    says: &[(
        "section 3",
        "before inconsistency is caused by two reasons: the first reason is the delay of sending state updates [...] the second \
         reason is network transmission delay",
    )],
    measure: "largest inconsistency, in px, with neither: a threshold of 0 and no delay",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const LL_SAME_UPDATES: Claim = Claim {
    id: "ll-same-updates",
    says: &[
        (
            "section 4",
            "in spite of GS-DR or GS-DR-LL, at time point t[1] site i finds that the difference [...] is larger than the \
             threshold, and it sends a state update",
        ),
        ("section 4", "corresponding state updates are sent to remote sites immediately"),
    ],
    measure: "updates sent at another time than under GS-DR",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const LL_PERIOD: Claim = Claim {
    id: "ll-period",
    says: &[
        ("section 4, fig. 2", "with GS-DR, the time period of before inconsistency is (t[2] - t[1]) + (t[1] - t[0])"),
        ("section 4, fig. 2", "it decreases to (t[2] - t[1] - n) + (t[1] - t[0]) with the help of GS-DR-LL"),
        ("section 3, fig. 1", "the paths of the shared entity at sites i and j overlap again"),
    ],
    measure: "after a single operation, how long the sites differ less what is said, in ticks either way",
    band: Band::AtMost(1.0),
    always: true,
};

pub(super) const LL_DELAY_PART_GONE: Claim = Claim {
    id: "ll-delay-part-gone",
    says: &[
        (
            "section 4",
            "if n is larger than t[2] - t[1], GS-DR-LL can eliminate the before inconsistency caused by network transmission \
             delay",
        ),
        ("section 4", "GS-DR-LL has the capability to eliminate such before inconsistency"),
    ],
    measure: "mean inconsistency while an update is under way, in px, with a lag above the delay",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const LL_FILTER_PART_STAYS: Claim = Claim {
    id: "ll-filter-part-stays",
    says: &[
        (
            "section 4",
            "but it cannot eliminate the before inconsistency caused by the state filtering mechanism of DR (unless the \
             threshold is set to 0)",
        ),
        ("section 5", "inconsistency cannot be completely eliminated if the threshold is not 0"),
    ],
    measure: "mean inconsistency, in px, with a lag above the delay and a threshold that is not 0",
    band: Band::Above(0.0),
    always: true,
};

pub(super) const LL_ELIMINATED: Claim = Claim {
    id: "ll-eliminated",
    says: &[
        (
            "section 5",
            "with proper lag and threshold (e.g. the lag is larger than the network transmission delay and the threshold is 0) \
             GS-DR-LL even can eliminate before inconsistency",
        ),
        ("section 6", "with proper lag and threshold it would even eliminate before inconsistency"),
    ],
    measure: "largest inconsistency, in px, with a lag above the delay and a threshold of 0",
    band: Band::AtMost(0.0),
    always: true,
};

pub(super) const LL_MOSTLY_DELAY: Claim = Claim {
    id: "ll-mostly-delay",
    says: &[(
        "section 4",
        "a small threshold must be used; thus, in practice, most before inconsistency is caused by network transmission delay",
    )],
    measure: "share of the inconsistency that falls into the time an update is under way (GS-DR, smaller threshold)",
    band: Band::Above(0.5),
    always: false,
};

pub(super) const LL_MOST_GONE: Claim = Claim {
    id: "ll-most-gone",
    says: &[(
        "section 4",
        "in the case that n is larger than the network transmission delay, GS-DR-LL can eliminate most before inconsistency",
    )],
    measure: "mean inconsistency, GS-DR-LL / GS-DR, with a lag above the delay",
    band: Band::Below(0.5),
    always: false,
};

pub(super) const LL_SHORT_LAG_LEAVES: Claim = Claim {
    id: "ll-short-lag-leaves",
    says: &[(
        "section 4",
        "allows n to be smaller than typical network transmission delay; in this case, the before inconsistency caused by \
         network transmission delay still exists",
    )],
    measure: "mean inconsistency while an update is under way, in px, with a lag below the delay",
    band: Band::Above(0.0),
    always: true,
};

pub(super) const LL_SHORT_LAG_DECREASES: Claim = Claim {
    id: "ll-short-lag-decreases",
    says: &[("section 4", "but it can be decreased")],
    measure: "the same, GS-DR-LL / GS-DR",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const LL_EXISTS: Claim = Claim {
    id: "ll-exists",
    says: &[("section 5, figs. 3 to 5", "inconsistency does exist")],
    measure: "largest inconsistency, in px",
    band: Band::Above(0.0),
    always: false,
};

pub(super) const LL_MOSTLY_ZERO: Claim = Claim {
    id: "ll-mostly-zero",
    says: &[("section 5, figs. 3 to 5", "but in most of the time it is 0")],
    measure: "share of ticks without inconsistency",
    band: Band::Above(0.5),
    always: false,
};

pub(super) const LL_GROWS_WITH_DELAY: Claim = Claim {
    id: "ll-grows-with-delay",
    says: &[("section 5, figs. 3 to 5", "inconsistency increases with the network transmission delay")],
    measure: "smallest factor between the mean inconsistencies of one delay and the next (100, 300, 500 ms; lag 300 ms)",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const LL_FALLS_WITH_THRESHOLD: Claim = Claim {
    id: "ll-falls-with-threshold",
    says: &[("section 5, figs. 3 to 5", "but decreases with the threshold")],
    measure: "mean inconsistency, larger threshold / smaller threshold",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const LL_FALLS_AS_THRESHOLD_FALLS: Claim = Claim {
    id: "ll-falls-as-threshold-falls",
    says: &[("section 5, figs. 3 to 5", "but decreases with the threshold [as it decreases]")],
    measure: "mean inconsistency, smaller threshold / larger threshold",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const LL_LOWER: Claim = Claim {
    id: "ll-lower",
    says: &[
        ("section 1", "by delaying the update to local site, GS-DR-LL can achieve higher consistency than GS-DR"),
        ("section 5", "compared with GS-DR, GS-DR-LL can decrease more inconsistency"),
    ],
    measure: "mean inconsistency, GS-DR-LL / GS-DR",
    band: Band::Below(1.0),
    always: false,
};

pub(super) const LL_EFFECTIVE: Claim = Claim {
    id: "ll-effective",
    says: &[("abstract; sections 4, 5 and 6", "GS-DR-LL can effectively decrease before inconsistency")],
    measure: "mean inconsistency, GS-DR-LL / GS-DR",
    band: Band::AtMost(0.75),
    always: false,
};

pub(super) const LL_MOST_GONE_WHEN_NEAR: Claim = Claim {
    id: "ll-most-gone-when-near",
    says: &[(
        "section 5",
        "it eliminates most inconsistency when the network transmission delay is [...] ms and the threshold is [...] pixels or \
         [...] degrees",
    )],
    measure: "mean inconsistency, GS-DR-LL / GS-DR, at the shortest delay with the smaller threshold",
    band: Band::Below(0.5),
    always: false,
};

pub(super) const LL_FALLS_WITH_LAG: Claim = Claim {
    id: "ll-falls-with-lag",
    says: &[("section 5, figs. 6 to 8", "with GS-DR-LL, before inconsistency decreases with the lag")],
    measure: "smallest factor between the mean inconsistencies of one lag and the next (100, 300, 500 ms; delay 800 ms)",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const LL_EFFECTS_GROW: Claim = Claim {
    id: "ll-effects-grow",
    says: &[("abstract; sections 5 and 6", "and the effects increase with the lag")],
    measure: "smallest factor between what one lag and the next take off GS-DR's mean inconsistency",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const LL_ANY_LAG: Claim = Claim {
    id: "ll-any-lag",
    says: &[
        (
            "section 5",
            "there does not exist any constraint on the selection of the lag; with GS-DR-LL a system would work fine even if \
             the lag is much smaller than the network transmission delay",
        ),
        ("section 6", "the constraint on selecting lag value is removed"),
    ],
    measure: "GS-DR-LL / GS-DR with a lag much below the delay: mean inconsistency, and updates sent",
    band: Band::AtMost(1.0),
    always: false,
};
