//! One network model and one run-recording format for everything around Evenkeel.

pub mod conditions;
mod host_clock;
mod noise;
mod path;
pub mod text;

pub use conditions::{Changes, Conditions, ConditionsError, Jitter, Loss, MAX_DELAY, RateLimit, Reorder};
pub use host_clock::{HostClock, HostClockError};
pub use noise::Noise;
pub use path::{Fate, Path};
