//! For programs.

use super::{Placement, Row, objective_name};
use crate::report::VERSION;
use serde_json::{Map, Value, json};

/// Settings as an object.
pub(super) fn settings(settings: &[(String, String)]) -> Map<String, Value> {
    settings.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
}

impl Placement {
    /// An object with `version`, `settings`, `objective`, `advice`, `equalised` and `rows`: the strategies, the answer last.
    ///
    /// Only `seconds` differ from run to run.
    pub fn to_json(&self) -> Value {
        let equal = self.answer().map(|answer| answer.assessment.equalise());
        let equal = equal.map(|e| json!({ "to_ms": e.to, "mean_ms": e.mean, "price_ms": e.price }));
        let left_out =
            |(strategy, why): &(evenkeel_sites::Strategy, String)| json!({ "strategy": strategy.name(), "why": why });
        json!({
            "version": VERSION,
            "settings": settings(&self.settings),
            "objective": objective_name(self.objective),
            "players": self.problem.weight(),
            "sites": self.problem.sites().len(),
            "advice": self.advice(),
            "equalised": equal,
            "rows": self.rows.iter().map(|row| self.row(row)).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(left_out).collect::<Vec<_>>(),
        })
    }

    fn row(&self, Row { answer, seconds }: &Row) -> Value {
        let (plan, all) = (&answer.plan, &answer.assessment);
        let late = plan.inconsistency(&self.problem);
        let mut row = json!({
            "strategy": answer.strategy.name(),
            "servers": plan.servers.iter().map(|s| self.name(*s)).collect::<Vec<_>>(),
            "lag_ms": plan.lags,
            "load": plan.loads(&self.problem),
            "mean_ms": all.mean,
            "std_ms": all.std,
            "p95_ms": all.p95,
            "max_ms": all.max,
            "late_ms": late.mean,
            "late_worst_ms": late.worst,
            "objective": objective_name(self.objective),
            "value_ms": answer.value,
            "bound_ms": answer.bound,
            "gap": answer.gap,
            "proven": answer.proven,
            "seconds": seconds,
        });
        if self.assign {
            row["players"] = self.players(answer);
        }
        row
    }

    fn players(&self, answer: &evenkeel_sites::Answer) -> Value {
        let places = self.problem.players().iter().zip(&answer.plan.assignment);
        let player = |((player, site), response): ((&evenkeel_sites::Player, &u32), f64)| json!({ "name": player.name, "server": self.name(*site as usize), "response_ms": response });
        places.zip(answer.plan.responses(&self.problem)).map(player).collect()
    }
}
