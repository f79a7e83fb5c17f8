//! What the papers say about the base case and about bucket synchronisation.

use crate::study::{Band, Claim};

pub(super) const BASE_FAR_WORST: Claim = Claim {
    id: "base-far-worst",
    says: &[
        ("paper section 5", "with the most distant player will always ... be higher than the rest"),
        (
            "paper section 6",
            "receivers who are closer to the sender of the DR as they are able to render the sender's position more accurately in real time",
        ),
    ],
    measure: "accumulated export error at the end of the run: the smallest factor from 200 to 500 to 800 ms",
    band: Band::Above(1.0),
    always: true,
};

pub(super) const BASE_FAIR_IF_EQUAL_DELAY: Claim = Claim {
    id: "base-fair-if-equal-delay",
    says: &[("thesis 1.3.2", "The game would be fair if all the receivers have the same before export error")],
    measure: "standard deviation over mean of the accumulated export error of three receivers at one delay",
    band: Band::AtMost(1e-6),
    always: false,
};

pub(super) const BASE_THIRD_COUNT: Claim = Claim {
    id: "base-third-count",
    says: &[
        ("paper section 5.1", "it resulted in 1/3 number of DR vectors being sent as compared to the base case"),
        ("thesis 3.4.1.4", "it resulted in 1/3 number of DR vectors being sent as compared to the base case"),
    ],
    measure: "three times the vectors of base/3 over those of base",
    band: Band::WithinOfOne(0.05),
    always: false,
};

pub(super) const DR_NO_TRAFFIC_WHEN_PREDICTABLE: Claim = Claim {
    id: "dr-no-traffic-when-predictable",
    says: &[("thesis 1.2", "no further network traffic required")],
    measure: "vectors after the first, heartbeats not counted, at constant velocity",
    band: Band::AtMost(0.0),
    always: false,
};

pub(super) const BUCKET_100MS_EXCLUDES: Claim = Claim {
    id: "bucket-100ms-excludes",
    says: &[
        ("paper section 2", "Players with a network delay larger than 100 ms simply cannot participate in the game"),
        ("thesis 1.4", "Players with a network delay larger than 100 ms simply cannot participate in the game"),
    ],
    measure: "share of states with the fate that the wording gives them: late above 100 ms, in time below",
    band: Band::AtLeast(1.0),
    always: true,
};

pub(super) const BUCKET_WORST_CASE_DELAY: Claim = Claim {
    id: "bucket-worst-case-delay",
    says: &[
        (
            "paper section 2",
            "techniques based on bucket synchronization depend on imposing a worst case delay on all the players",
        ),
        (
            "thesis 1.4",
            "techniques based on bucket synchronization depend on imposing a worst-case delay on all the players",
        ),
    ],
    measure: "frames between the age of a state when it is first shown and 800 ms",
    band: Band::AtMost(1.0),
    always: false,
};
