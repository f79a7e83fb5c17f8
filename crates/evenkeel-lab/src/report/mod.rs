//! What an experiment found, for people and for programs. Equal findings give equal bytes.

mod audit;
mod axis;
mod csv;
mod html;
mod json;
mod page;
mod sheet;
pub mod sites;
mod svg;
mod table;
mod volume;
mod words;

pub use self::csv::to_csv;
pub use html::to_html;
pub use json::to_json;
pub use sheet::Sheet;
pub use table::{to_table, verdict};
pub use volume::Volume;

/// The version that made a report.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
