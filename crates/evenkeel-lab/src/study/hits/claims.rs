//! What the thesis says about hits (2.3.1); it gives no numbers.

use crate::study::{Band, Claim};

pub(super) const HITS_GLOBAL_BETTER: Claim = Claim {
    id: "hits-global-better",
    says: &[(
        "thesis 2.3.1",
        "the hit rate (due to the 'shots') was better in case of global clock as compared to local clock",
    )],
    measure: "hit rate, global / local",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const HITS_GAIN_GROWS: Claim = Claim {
    id: "hits-gain-grows",
    says: &[("thesis 2.3.1", "particularly when the delay was high")],
    measure: "hit rate gained by the global rule at 800 ms less that gained at 100 ms",
    band: Band::Above(0.0),
    always: false,
};

pub(super) const HITS_LOCAL_MISSES: Claim = Claim {
    id: "hits-local-misses",
    says: &[(
        "thesis 2.3.1",
        "using local clock where the other player would miss him if he tried to hit him where he saw him",
    )],
    measure: "hit rate (local) on targets crossing the line of fire by more than a tank length in a delay",
    band: Band::AtMost(0.25),
    always: false,
};
