//! Who solves a program: both take the same model and stop at the same kind of limit.

use super::model::{Model, Outcome, Sense};

/// Who solves a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Solver {
    /// [microlp](https://docs.rs/microlp): Rust alone.
    #[default]
    Microlp,
    /// [HiGHS](https://highs.dev): for larger programs.
    #[cfg(feature = "highs")]
    Highs,
}

impl Solver {
    /// Solves a program with so many nodes of branch and bound at most. Fails where the solver does, with what it says.
    pub(crate) fn run(self, model: &Model, nodes: u64) -> Result<Outcome, String> {
        match self {
            Self::Microlp => microlp(model, nodes),
            #[cfg(feature = "highs")]
            Self::Highs => highs(model, nodes),
        }
    }
}

fn microlp(model: &Model, nodes: u64) -> Result<Outcome, String> {
    use microlp::{ComparisonOp, Error, OptimizationDirection, Problem, SolveOptions, SolveOutcome};

    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let columns = model.columns.iter().map(|column| match column.whole {
        true => problem.add_integer_var(column.cost, (column.low as i32, column.high as i32)),
        false => problem.add_var(column.cost, (column.low, column.high)),
    });
    let columns: Vec<microlp::Variable> = columns.collect();
    for row in &model.rows {
        let sense = match row.sense {
            Sense::AtMost => ComparisonOp::Le,
            Sense::AtLeast => ComparisonOp::Ge,
            Sense::Equal => ComparisonOp::Eq,
        };
        problem.add_constraint(row.terms.iter().map(|(column, factor)| (columns[*column], *factor)), sense, row.right);
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(nodes);
    match problem.solve_with(options) {
        Ok(SolveOutcome::Solution(solution)) => {
            let values = columns.iter().map(|column| solution.var_value(*column)).collect();
            let bound = solution.stats().best_bound.unwrap_or(f64::NEG_INFINITY);
            let proven = solution.status() == microlp::SolutionStatus::Optimal;
            Ok(Outcome::Values { values, bound, proven })
        }
        Ok(SolveOutcome::Interrupted(_)) => Ok(Outcome::GaveUp),
        Err(Error::Infeasible) => Ok(Outcome::Impossible),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(feature = "highs")]
fn highs(model: &Model, nodes: u64) -> Result<Outcome, String> {
    use highs::{HighsModelStatus as Status, HighsSolutionStatus, RowProblem};

    fn failed(error: impl std::fmt::Debug) -> String {
        format!("{error:?}")
    }
    let mut problem = RowProblem::default();
    let column = |column: &super::model::Column| {
        problem.add_column_with_integrality(column.cost, column.low..=column.high, column.whole)
    };
    let columns: Vec<highs::Col> = model.columns.iter().map(column).collect();
    for row in &model.rows {
        let terms = row.terms.iter().map(|(column, factor)| (columns[*column], *factor));
        match row.sense {
            Sense::AtMost => problem.add_row(..=row.right, terms),
            Sense::AtLeast => problem.add_row(row.right.., terms),
            Sense::Equal => problem.add_row(row.right..=row.right, terms),
        };
    }
    let mut program = problem.try_optimise(highs::Sense::Minimise).map_err(failed)?;
    // One thread: the same program has the same answer everywhere.
    program.try_set_option("threads", 1).map_err(failed)?;
    program.try_set_option("mip_max_nodes", i32::try_from(nodes).unwrap_or(i32::MAX)).map_err(failed)?;
    program.try_set_option("mip_rel_gap", 1e-9).map_err(failed)?;
    program.try_set_option("mip_abs_gap", 1e-9).map_err(failed)?;
    let solved = program.try_solve().map_err(failed)?;
    match (solved.status(), solved.primal_solution_status()) {
        (Status::Infeasible | Status::UnboundedOrInfeasible, _) => Ok(Outcome::Impossible),
        (status @ (Status::Optimal | Status::ReachedSolutionLimit), HighsSolutionStatus::Feasible) => {
            let bound = solved.double_info_value(c"mip_dual_bound").map_err(failed)?;
            let values = solved.get_solution().columns().to_vec();
            Ok(Outcome::Values { values, bound, proven: status == Status::Optimal })
        }
        (Status::ReachedSolutionLimit, _) => Ok(Outcome::GaveUp),
        (status, _) => Err(format!("{status:?}")),
    }
}
