//! Local lag: waiting a little before showing things, so that everybody shows them alike.
//!
//! A vector takes its time to arrive; until then its receiver shows something else than its owner. If the owner shows its own
//! doings a *lag* later, and everybody else shows everything so much later too, that time is no longer lost: with a lag no
//! shorter than the delay nobody is ever off by more than the threshold, and with any shorter lag less than without
//! (globally synchronised dead reckoning with local lag, GS-DR-LL). The price is that players see what they do only after the
//! lag, which up to a point they do not notice.
//!
//! It is a mode of the same [`Sender`](crate::Sender) and [`Receiver`](crate::Receiver), set by
//! [`Placing::lag`](crate::Placing) and changed by `set_lag` on both:
//!
//! - the owner exports the state that all operations lead to, at once, as without lag, and shows the state of the time `T` -
//!   lag: [`LocalSite`] does both for a game made of operations, [`OwnView`] for one that only has poses;
//! - receivers keep what has arrived until its time has come, and show the state of the time `T` - lag;
//! - the books compare all paths at shown time.
//!
//! How long a lag should be is a [`LagPolicy`]'s to say, per [`ActionKind`]; [`equalise`] makes everybody wait until their own
//! actions take effect equally late; [`trade`] answers what a lag costs and buys.

mod equalise;
mod line;
mod local;
mod own;
mod policy;
mod trade;

pub use equalise::{Equalised, Padded, equalise};
pub use line::{Lag, LagChange, LagError};
pub use local::{LocalSite, LocalSiteError};
pub use own::OwnView;
pub use policy::{ActionKind, Adaptive, LagControl, LagPolicy, LagTable};
pub use trade::{Trade, trade};
