//! What no plan can be better than.

pub(crate) mod arcs;
pub(crate) mod mean;
