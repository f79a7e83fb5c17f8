//! The answer in words: even against the others in every cell, for better or worse.

use super::Figures;
use super::cell::{Point, export, real};

/// The figures, by name.
const NAMES: [&str; 3] = ["mean", "standard deviation", "maximum"];

/// Counts are trimmed to the budget within so many percent.
const TRIMMED_TO: f64 = 1.0;

pub(super) fn summary(points: &[Point]) -> String {
    let base = |point: &Point| point.ratios("even", &point.every_kth(), export);
    let credits = |point: &Point| point.ratios("even", "credits", export);
    let tolerance = |point: &Point| point.ratios("even", "tolerance", real);
    let cell = |point: &Point| {
        let all = [base(point), credits(point), tolerance(point)].map(text);
        format!("{}: {}", point.name(), all.join(", "))
    };
    format!(
        "Even against every k-th vector to everybody: {}; against credits: {}; against a larger tolerance, by the distance \
         between real and placed path: {}. In every cell, mean/standard deviation/maximum over receivers as multiples of those \
         of every k-th vector, of credits, and (real) of a larger tolerance: {}. {}",
        tally(points, base),
        tally(points, credits),
        tally(points, tolerance),
        points.iter().map(cell).collect::<Vec<_>>().join("; "),
        counts(points),
    )
}

/// Whether everybody sent as many vectors as the budget says: the first of every life are sent whatever it says, and trimming
/// does not always end within a percent.
fn counts(points: &[Point]) -> String {
    let over = |point: &Point, policy: &str| {
        let sent = |name: &str| point.row(name).map_or(f64::NAN, |row| row.vectors_sent);
        100.0 * (sent(policy) / sent("base") * f64::from(point.budget) - 1.0)
    };
    let base = points.iter().map(|point| over(point, &point.every_kth())).fold(0.0, f64::max);
    let mut off = Vec::new();
    for point in points {
        let trimmed = point.rows.iter().map(|row| row.policy.as_str()).filter(|name| is_trimmed(name));
        let far = trimmed.map(|name| (name, over(point, name))).filter(|(_, percent)| percent.abs() > TRIMMED_TO);
        off.extend(far.map(|(name, percent)| format!("{name} {percent:+.1} % in {}", point.name())));
    }
    let but = if off.is_empty() { String::new() } else { format!(", but for {}", off.join(", ")) };
    format!(
        "Every k-th vector comes to up to {base:.1} % more than the budget; the others keep to it within a percent{but}."
    )
}

/// Whether budgets are trimmed for a policy: not for the base cases and for what sends what it sends.
fn is_trimmed(policy: &str) -> bool {
    !policy.starts_with("base") && !policy.starts_with("schedule")
}

fn text(figures: Figures) -> String {
    figures.map(|figure| format!("{figure:.2}")).join("/")
}

/// Where it is ahead and, by name, where it is not.
fn tally(points: &[Point], ratios: impl Fn(&Point) -> Figures) -> String {
    let behind = |which: usize| {
        let worse = points.iter().filter(|point| ratios(point)[which] >= 1.0);
        let cells: Vec<String> = worse.map(|point| format!("{} ({:.2})", point.name(), ratios(point)[which])).collect();
        (!cells.is_empty()).then(|| format!("a {} that is no lower in {}", NAMES[which], cells.join(", ")))
    };
    let behind: Vec<String> = [0, 1, 2].into_iter().filter_map(behind).collect();
    match behind.is_empty() {
        true => format!("lower in all three figures in all {} cells", points.len()),
        false => format!("lower in all three figures in all {} cells, but for {}", points.len(), behind.join(" and ")),
    }
}
