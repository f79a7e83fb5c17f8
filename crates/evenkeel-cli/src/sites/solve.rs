//! `evenkeel sites solve`: the answer to one question.

use super::ask::{self, Question, ask};
use super::given::{Given, Known, between};
use crate::lab::{Outputs, Report, Waiting};
use anyhow::{Result, ensure};
use evenkeel_lab::experiment::Progress;
use evenkeel_lab::report::sites::Placement;
use evenkeel_sites::{Answer, Crowd, Objective, Plan, Problem, Request, Strategy};
use std::path::{Path, PathBuf};

pub(crate) const HOW: &str = "\
Response = round trip to the player's server + how long that server waits, so that all servers execute an action at the same time.
No plan has an objective below the bound; the gap is how far a plan may be from the best, as a part of its objective.
File formats: docs/SITES.md.";

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Round-trip times in milliseconds, CSV, plain or gzipped: a square matrix with or without names, players by candidates,
    /// or lines of from,to,rtt_ms.
    #[arg(long, value_name = "FILE", help_heading = "What is given")]
    rtt: PathBuf,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    question: Question,
    /// Round the players' rows to multiples of this many milliseconds and merge those that are equal; 0 merges without rounding.
    #[arg(long, value_name = "STEP", help_heading = "What is given")]
    round_ms: Option<f64>,
    /// Decides what is left to chance: who is drawn, and where the search begins.
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Runs and results")]
    seed: u64,
    /// Say of every player where it plays, in --json.
    #[arg(long, help_heading = "Runs and results")]
    assign: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// The answer comes last.
const STRATEGIES: [Strategy; 4] =
    [Strategy::CentralMean, Strategy::CentralCritical, Strategy::Heuristic, Strategy::Best];

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { rtt, given, question, outputs, .. } = arguments;
    outputs.check(&[&[rtt.as_path()], &given.files()[..]].concat())?;
    let request = question.request(arguments.seed)?;
    let Known { problem, places, filled } = given.known(&given.load(rtt)?, arguments.seed, None)?;
    question.check(&problem)?;
    let waiting = Waiting::new();
    waiting.tell(Progress::Expect(STRATEGIES.len() as u64));
    let asked = |problem: &Problem| ask(problem, &request, &STRATEGIES, || waiting.tell(Progress::Done));
    let answered = match arguments.round_ms {
        None => asked(&problem),
        Some(step) => merged(&problem, step, &request, asked),
    };
    waiting.end();
    let (rows, left_out) = answered?;
    let settings = arguments.settings(filled);
    let (objective, assign) = (question.objective, arguments.assign);
    outputs.write(&Placement { settings, problem, places, objective, rows, left_out, assign })
}

/// Asks about groups of players who are about equally far from everything, and answers for each.
fn merged(
    problem: &Problem,
    step: f64,
    request: &Request,
    asked: impl Fn(&Problem) -> Result<ask::Rows>,
) -> Result<ask::Rows> {
    let limited =
        step > 0.0 && (request.critical_limit.is_some() || problem.sites().iter().any(|s| s.capacity.is_some()));
    ensure!(
        !limited,
        "--round-ms: only 0 goes together with limits of response or capacity, which rounding would blur"
    );
    let mut crowd = Crowd::new(problem.sites().len(), step).map_err(|error| anyhow::anyhow!("--round-ms: {error}"))?;
    for (p, player) in problem.players().iter().enumerate() {
        crowd.push(&player.name, player.weight, problem.row(p))?;
    }
    let (group_of, error_ms) = (crowd.group_of().to_vec(), crowd.error_ms());
    let groups = crowd.into_problem(problem.sites().to_vec(), between(problem))?;
    let (mut rows, left_out) = asked(&groups)?;
    rows.iter_mut().for_each(|row| unmerge(problem, request, (&group_of, error_ms), &mut row.answer));
    Ok((rows, left_out))
}

/// What holds for groups, for players.
fn unmerge(problem: &Problem, request: &Request, (group_of, error_ms): (&[u32], f64), answer: &mut Answer) {
    let assignment = group_of.iter().map(|group| answer.plan.assignment[*group as usize]).collect();
    answer.plan = Plan { assignment, ..answer.plan.clone() };
    answer.assessment = answer.plan.assess(problem);
    let all = &answer.assessment;
    let price = request.price * answer.plan.cost(problem);
    // Mean and deviation are off by the error each.
    let (value, off) = match request.objective {
        Objective::Critical => (all.max, error_ms),
        Objective::Mean => (all.mean, error_ms),
        Objective::Percentile(part) => (all.percentile(part).unwrap_or(all.max), error_ms),
        Objective::MeanPlusStd => (all.mean + all.std, 2.0 * error_ms),
        Objective::HalfMeanHalfMax => ((all.mean + all.max) / 2.0, error_ms),
        // How many servers there are, and what they cost, has nothing to do with it.
        _ => (answer.value - price, 0.0),
    };
    answer.value = value + price;
    let bound = (answer.bound - off).max(0.0);
    ask::bounded(answer, bound);
}

impl Arguments {
    fn settings(&self, filled: Option<String>) -> Vec<(String, String)> {
        let name = |path: &Path| path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut all = vec![("rtt".to_owned(), name(&self.rtt))];
        all.extend(self.given.settings());
        all.extend(filled.map(|filled| ("not measured".to_owned(), filled)));
        all.extend(self.round_ms.map(|step| ("round-ms".to_owned(), step.to_string())));
        all.extend(self.question.settings());
        all.push(("seed".to_owned(), self.seed.to_string()));
        all
    }
}

impl Report for Placement {
    fn json(&self) -> serde_json::Value {
        self.to_json()
    }

    fn csv(&self) -> Result<String> {
        self.to_csv()
    }

    fn html(&self) -> String {
        self.to_html()
    }

    fn text(&self) -> String {
        self.to_text()
    }

    fn beside(&self) -> Result<Vec<(&'static str, String)>> {
        Ok(vec![("strategies.csv", self.to_csv()?), ("assignment.csv", self.to_assignment_csv()?)])
    }
}
