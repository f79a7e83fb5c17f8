//! What the papers say about accuracy: paper, section 1; thesis, chapters 1 to 3.

use crate::study::{Band, Claim};

pub(super) const ACC_AFTER_EXPORT_ZERO: Claim = Claim {
    id: "acc-after-export-zero",
    says: &[
        ("paper section 1", "we can guarantee that the after export error is made zero"),
        ("thesis 2.1", "the export error after the DR vector is received is zero"),
        ("thesis 2.2, fig. 2.1", "with synchronized clocks, there is no after export error"),
        ("thesis 2.4", "reducing the after export error to zero"),
        ("thesis 3.1", "it can be guaranteed that the after export error is zero"),
        ("thesis 3.2, fig. 3.1", "indicates the after export error which is zero"),
        ("thesis 5.1", "the after export error reduced to zero"),
    ],
    measure: "largest distance between exported and placed path, in m, while the newest vector has been received (global)",
    band: Band::AtMost(1e-6),
    always: true,
};

pub(super) const ACC_LOCAL_LAGS_BY_DELAY: Claim = Claim {
    id: "acc-local-lags-by-delay",
    says: &[(
        "thesis 2.3",
        "With local clock, the placed path always (time-) lags by the amount of delay between the sender and the receiver",
    )],
    measure: "largest distance of the placed path from the exported path one delay earlier, in m, beyond a tick of the stamps (local)",
    band: Band::AtMost(1e-6),
    always: true,
};

pub(super) const ACC_BEFORE_EXPORT_REMAINS: Claim = Claim {
    id: "acc-before-export-remains",
    says: &[
        (
            "paper section 1",
            "before export error can never be eliminated since there is always a non-zero network delay",
        ),
        ("thesis 2.2", "this error due to network delay is unavoidable even if the clocks are synchronized"),
        ("thesis 3.1", "before export error can never be eliminated since there is always a non-zero network delay"),
    ],
    measure: "export error while a vector has not arrived, in m per second (global)",
    band: Band::Above(0.0),
    always: true,
};

pub(super) const ACC_BEFORE_EXPORT_REDUCED: Claim = Claim {
    id: "acc-before-export-reduced",
    says: &[
        ("paper section 1", "but can be significantly reduced using our technique"),
        ("thesis 3.1", "can be significantly reduced using the accuracy model"),
    ],
    measure: "before export error, global / local",
    band: Band::AtMost(0.75),
    always: false,
};

pub(super) const ACC_TOTAL_EXPORT_REDUCED: Claim = Claim {
    id: "acc-total-export-reduced",
    says: &[
        (
            "thesis 2.2",
            "the total export error (which includes the before error and the after error) is significantly reduced",
        ),
        ("thesis 2.1", "the game playing accuracy of any distributed multi-player game can be significantly improved"),
        ("thesis 2.4", "the error in placement of the sender's entity at the receiver was considerably reduced"),
    ],
    measure: "before and after export error, global / local",
    band: Band::AtMost(0.75),
    always: false,
};

pub(super) const ACC_AVERAGE_SUBSTANTIALLY_LESS: Claim = Claim {
    id: "acc-average-substantially-less",
    says: &[(
        "thesis 2.3, fig. 2.2",
        "In general the average global error is substantially less than the average local error",
    )],
    measure: "mean distance real to placed, global / local, over the nine cells",
    band: Band::AtMost(0.5),
    always: false,
};

pub(super) const ACC_100MS_SIGNIFICANT: Claim = Claim {
    id: "acc-100ms-significant",
    says: &[(
        "thesis abstract",
        "The modified version showed significant quantitative improvement in the accuracy even for 100ms delay",
    )],
    measure: "mean distance real to placed at 100 ms, global / local",
    band: Band::AtMost(0.75),
    always: false,
};

pub(super) const ACC_LOCAL_SUBSTANTIAL_LOW_DELAY: Claim = Claim {
    id: "acc-local-substantial-low-delay",
    says: &[("thesis abstract", "This inaccuracy can be substantial even with low network delay")],
    measure: "largest distance real to placed at 100 ms in tank lengths (local), in the motion where it is largest",
    band: Band::AtLeast(0.25),
    always: false,
};

pub(super) const ACC_LOCAL_GROWS: Claim = Claim {
    id: "acc-local-grows",
    says: &[
        ("thesis abstract", "increases with network delay"),
        (
            "thesis 1.3.1",
            "The amount of inaccuracy depends on the latency between the rendering node and the owner node",
        ),
    ],
    measure: "mean distance real to placed (local): the smallest factor from one delay to the next",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const ACC_SMALL_OVERALL: Claim = Claim {
    id: "acc-small-overall",
    says: &[
        ("paper section 1", "results in unavoidable but small overall export error"),
        ("thesis 3.1", "which results in unavoidable, but small overall export error"),
    ],
    measure: "mean distance exported to placed in m (global)",
    band: Band::Between(0.0, 6.0),
    always: false,
};

pub(super) const ACC_LINEAR_MOSTLY_ZERO: Claim = Claim {
    id: "acc-linear-mostly-zero",
    says: &[("thesis 2.3, fig. 2.2", "This leads to mostly zero global error")],
    measure: "share of time within the tolerance of the real path (global)",
    band: Band::AtLeast(0.75),
    always: false,
};

pub(super) const ACC_LINEAR_PEAKS_GROW: Claim = Claim {
    id: "acc-linear-peaks-grow",
    says: &[(
        "thesis 2.3, fig. 2.2",
        "As the delay between the sender and the receiver increases ... relatively higher peaks in the global error can be observed",
    )],
    measure: "largest distance real to placed (global): the smallest factor from one delay to the next",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const ACC_LINEAR_MUCH_SMALLER: Claim = Claim {
    id: "acc-linear-much-smaller",
    says: &[("thesis 2.3, fig. 2.2", "In all cases the global error is much smaller than the local error")],
    measure: "mean distance real to placed, global / local",
    band: Band::AtMost(0.5),
    always: true,
};

pub(super) const ACC_LINEAR_300_LOCAL: Claim = Claim {
    id: "acc-linear-300-local",
    says: &[(
        "thesis 2.3, fig. 2.2",
        "with a delay of 300ms between the sender and the receiver (which is quite typical), the local error could be up to 2 tank units",
    )],
    measure: "largest distance real to placed at 300 ms in tank lengths (local)",
    band: Band::Between(1.0, 2.2),
    always: false,
};

pub(super) const ACC_LINEAR_300_GLOBAL: Claim = Claim {
    id: "acc-linear-300-global",
    says: &[("thesis 2.3, fig. 2.2", "whereas the global error is close to zero")],
    measure: "mean distance real to placed at 300 ms in tank lengths (global)",
    band: Band::AtMost(0.1),
    always: false,
};

pub(super) const ACC_CIRCULAR_SIMILAR: Claim = Claim {
    id: "acc-circular-similar",
    says: &[("thesis 2.3, fig. 2.2", "The Circular Motion case is similar to the Linear Motion case")],
    measure: "the tests of the linear motion, each as a share of its limit: 0.75 / share of time within tolerance, (global / local) / 0.5, mean at 300 ms / 0.1 tank lengths",
    band: Band::AtMost(1.0),
    always: false,
};

pub(super) const ACC_TRIGGER_RATES: Claim = Claim {
    id: "acc-trigger-rates",
    says: &[
        ("thesis 2.3", "in a straight line thereby generating very few DR vectors"),
        ("thesis 2.3", "This also generates a few DR vectors as BZFlag detects circular motion"),
        ("thesis 2.3", "which generates moderate to large numbers of DR vectors"),
    ],
    measure: "vectors because the path changed, as a share of the limit: (linear / random) / 0.1, (circular / random) / 0.25",
    band: Band::AtMost(1.0),
    always: false,
};

pub(super) const ACC_RANDOM_LOW_DELAY_ZERO: Claim = Claim {
    id: "acc-random-low-delay-zero",
    says: &[(
        "thesis 2.3, fig. 2.2",
        "For low delay most of the DR vectors reach and get rendered accurately at the receiver and the global error reaches zero quite often",
    )],
    measure: "at 100 ms, as a multiple of the limit: share of vectors received before the next trigger / 0.5, share of time within tolerance / 0.25",
    band: Band::AtLeast(1.0),
    always: false,
};

pub(super) const ACC_RANDOM_GLOBAL_GROWS: Claim = Claim {
    id: "acc-random-global-grows",
    says: &[(
        "thesis 2.3, fig. 2.2",
        "As the delay increases, the sender generates the next DR vector before the previous one reaches and gets rendered; this increases the global error",
    )],
    measure: "the smallest factor from one delay to the next of vectors overtaken in flight, and of the mean distance real to placed (global)",
    band: Band::Above(1.0),
    always: false,
};

pub(super) const ACC_RANDOM_FEW_WORSE: Claim = Claim {
    id: "acc-random-few-worse",
    says: &[("thesis 2.3, fig. 2.2", "There are a few instances where global error is larger than the local error")],
    measure: "share of time with the global error above the local one by more than the tolerance",
    band: Band::Between(0.0, 0.1),
    always: false,
};

pub(super) const ACC_WORSE_AT_STOP: Claim = Claim {
    id: "acc-worse-at-stop",
    says: &[("thesis 2.3", "This happens when a moving player becomes stationary (i.e., a tank stops)")],
    measure: "of that time, the share within a delay and a frame of a stop",
    band: Band::AtLeast(0.75),
    always: false,
};

pub(super) const ACC_GLOBAL_OVERSHOOTS_STOP: Claim = Claim {
    id: "acc-global-overshoots-stop",
    says: &[("thesis 2.3", "the trajectory overshoots the stationary point by the time the DR vector arrives")],
    measure: "how far the placed path goes past the stop, in m (global), at the stop where that is least",
    band: Band::Above(0.1),
    always: true,
};

pub(super) const ACC_LOCAL_NO_OVERSHOOT: Claim = Claim {
    id: "acc-local-no-overshoot",
    says: &[("thesis 2.3", "So the player's path does not overshoot but become stationary after a time lag")],
    measure: "as a share of the limit (local): largest distance past the stop / tolerance; frames between standing and one delay after the stop / 1",
    band: Band::AtMost(1.0),
    always: false,
};
