//! What a study shows: tables and plots, as data.

/// A table or a plot.
#[derive(Clone, Debug, PartialEq)]
pub enum Exhibit {
    /// Rows of cells.
    Table {
        /// What it shows.
        title: String,
        /// What there is to know to read it.
        note: String,
        /// The names of the columns.
        head: Vec<String>,
        /// The cells, by row.
        rows: Vec<Vec<String>>,
    },
    /// Curves over a common axis.
    Curves {
        /// What it shows.
        title: String,
        /// What there is to know to read it.
        note: String,
        /// The horizontal axis.
        x: String,
        /// The vertical axis.
        y: String,
        /// The curves.
        series: Vec<Series>,
    },
    /// Clouds of points: the outcomes of many runs.
    Clouds {
        /// What it shows.
        title: String,
        /// What there is to know to read it.
        note: String,
        /// The horizontal axis.
        x: String,
        /// The vertical axis.
        y: String,
        /// The clouds; their points have no order.
        series: Vec<Series>,
    },
    /// Bars in groups: one group for each name in `groups`, one bar in it for each series.
    Bars {
        /// What it shows.
        title: String,
        /// What there is to know to read it.
        note: String,
        /// The horizontal axis.
        x: String,
        /// The vertical axis.
        y: String,
        /// The names of the groups.
        groups: Vec<String>,
        /// Per series its name and one value for each group.
        bars: Vec<(String, Vec<f64>)>,
    },
    /// Points with their names: a trade-off.
    Points {
        /// What it shows.
        title: String,
        /// What there is to know to read it.
        note: String,
        /// The horizontal axis.
        x: String,
        /// The vertical axis.
        y: String,
        /// Each with its place and name.
        points: Vec<(f64, f64, String)>,
    },
}

/// A named curve or cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<(f64, f64)>,
}

impl Exhibit {
    /// What it shows.
    pub fn title(&self) -> &str {
        match self {
            Self::Table { title, .. }
            | Self::Curves { title, .. }
            | Self::Clouds { title, .. }
            | Self::Bars { title, .. }
            | Self::Points { title, .. } => title,
        }
    }
}
