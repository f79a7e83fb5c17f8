//! Where servers stand, in every form.

mod json;
mod map;
mod page;
mod series;
mod text;

pub use series::{Series, Summary};

use anyhow::Result;
use evenkeel_sites::input::Place;
use evenkeel_sites::{Answer, Objective, Problem, Strategy};

/// The answer to one question, with others to compare it with.
pub struct Placement {
    /// What was asked, by name.
    pub settings: Vec<(String, String)>,
    /// Players, sites and round-trip times.
    pub problem: Problem,
    /// Where each site is, as far as it is known.
    pub places: Vec<Option<Place>>,
    /// What shall be small.
    pub objective: Objective,
    /// Strategies, the answer last.
    pub rows: Vec<Row>,
    /// Strategies that have no plan, and why.
    pub left_out: Vec<(Strategy, String)>,
    /// Whether to say of every player where it plays.
    pub assign: bool,
}

/// What came of one strategy.
pub struct Row {
    /// The plan and how good it is.
    pub answer: Answer,
    /// How long it took.
    pub seconds: f64,
}

/// What an objective is called.
///
/// ```
/// use evenkeel_lab::report::sites::objective_name;
/// assert_eq!(objective_name(evenkeel_sites::Objective::Percentile(0.95)), "p95");
/// ```
pub fn objective_name(objective: Objective) -> String {
    match objective {
        Objective::Critical => "critical".into(),
        Objective::Mean => "mean".into(),
        // As people write it: 99.9, not 99.90000000000001.
        Objective::Percentile(part) => format!("p{}", (part * 1e8).round() / 1e6),
        Objective::MeanPlusStd => "mean+std".into(),
        Objective::HalfMeanHalfMax => "half".into(),
        Objective::Servers => "servers".into(),
        Objective::Cost => "cost".into(),
        _ => format!("{objective:?}"),
    }
}

/// Whether it is counted in milliseconds.
fn in_ms(objective: Objective) -> bool {
    !matches!(objective, Objective::Servers | Objective::Cost)
}

impl Placement {
    fn name(&self, site: usize) -> &str {
        &self.problem.sites()[site].name
    }

    /// Whether any plan lets actions come too late for other servers.
    fn is_late(&self) -> bool {
        self.rows.iter().any(|row| row.answer.plan.inconsistency(&self.problem).worst > 0.0)
    }

    /// The answer itself.
    fn answer(&self) -> Option<&Answer> {
        self.rows.last().map(|row| &row.answer)
    }

    /// One line per strategy.
    pub fn to_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record([
            "strategy",
            "servers",
            "mean_ms",
            "std_ms",
            "p95_ms",
            "max_ms",
            "late_ms",
            "late_worst_ms",
            "objective",
            "value_ms",
            "bound_ms",
            "gap",
            "seconds",
        ])?;
        for Row { answer, seconds } in &self.rows {
            let all = &answer.assessment;
            let servers: Vec<&str> = answer.plan.servers.iter().map(|s| self.name(*s)).collect();
            let mut record = vec![answer.strategy.name().to_owned(), servers.join(";")];
            let late = answer.plan.inconsistency(&self.problem);
            let figures = [all.mean, all.std, all.p95, all.max, late.mean, late.worst];
            record.extend(figures.map(|value| value.to_string()));
            record.push(objective_name(self.objective));
            record.extend([answer.value, answer.bound, answer.gap, *seconds].map(|value| value.to_string()));
            writer.write_record(&record)?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    /// One line per player of the answer.
    pub fn to_assignment_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["player", "weight", "server", "response_ms"])?;
        if let Some(answer) = self.answer() {
            let responses = answer.plan.responses(&self.problem);
            for ((player, site), response) in self.problem.players().iter().zip(&answer.plan.assignment).zip(responses)
            {
                let (weight, response) = (player.weight.to_string(), response.to_string());
                writer.write_record([&player.name, &weight, self.name(*site as usize), &response])?;
            }
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }
}
