//! A mixed-integer program, as every solver understands it: columns with bounds and costs, rows of sums that are limited.

/// What shall be least, and within what.
#[derive(Default)]
pub(crate) struct Model {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

/// A variable.
pub(crate) struct Column {
    /// What a unit of it adds to what shall be least.
    pub cost: f64,
    pub low: f64,
    pub high: f64,
    /// Whether only whole numbers count.
    pub whole: bool,
}

/// A sum of columns times factors, and what it is compared with.
pub(crate) struct Row {
    pub terms: Vec<(usize, f64)>,
    pub sense: Sense,
    pub right: f64,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sense {
    AtMost,
    AtLeast,
    Equal,
}

/// What a solver has to say.
pub(crate) enum Outcome {
    /// The columns' values, and what no values can be better than.
    Values { values: Vec<f64>, bound: f64, proven: bool },
    /// Nothing keeps to all rows.
    Impossible,
    /// It stopped at the limit of nodes before it found anything.
    GaveUp,
}

impl Model {
    /// Adds a column and returns its number.
    pub fn column(&mut self, cost: f64, low: f64, high: f64, whole: bool) -> usize {
        self.columns.push(Column { cost, low, high, whole });
        self.columns.len() - 1
    }

    pub fn row(&mut self, terms: Vec<(usize, f64)>, sense: Sense, right: f64) {
        self.rows.push(Row { terms, sense, right });
    }

    /// What these values of the columns cost.
    pub fn cost(&self, values: &[f64]) -> f64 {
        self.columns.iter().zip(values).map(|(column, value)| column.cost * value).sum()
    }
}
