//! What the thesis says about synchronised clocks, and about doing without them.

use crate::study::{Band, Claim};

pub(super) const CLOCK_OWD_NO_STAMPS: Claim = Claim {
    id: "clock-owd-no-stamps",
    says: &[
        (
            "thesis 4.5.1",
            "there is no need to synchronize the clocks and send timestamps with the updates in this case as this is substituted by the one-way delay estimation function",
        ),
        ("thesis 4.5.1", "the server knows the exact position of the object at the current time"),
    ],
    measure: "mean distance real to placed, one-way / global",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const CLOCK_SYNCED_SIGNIFICANT: Claim = Claim {
    id: "clock-synced-significant",
    says: &[(
        "thesis 2.1",
        "can be significantly improved using synchronized clocks among players and using a global time to project the trajectory of entities",
    )],
    measure: "mean distance real to placed, global with the session's clock / local",
    band: Band::AtMost(0.75),
    always: false,
};
