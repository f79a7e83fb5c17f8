//! Reports of named experiments: one page, one text, one JSON object for all that were run together.

mod claims;
mod csv;
mod exhibits;
mod html;
mod json;
mod text;

pub(super) use exhibits::to_html as exhibit_to_html;
pub(super) use text::table as table_to_text;

use crate::study::{Finding, Size, Study, Verdict};

/// What a run of one or more experiments found.
#[derive(Clone, Debug)]
pub struct Volume {
    /// How much of each was run.
    pub size: Size,
    /// What each found, in the order they were run.
    pub studies: Vec<Study>,
}

impl Volume {
    /// Every claim that was checked, with the experiment that did.
    pub fn findings(&self) -> impl Iterator<Item = (&Study, &Finding)> {
        self.studies.iter().flat_map(|study| study.findings.iter().map(move |finding| (study, finding)))
    }

    /// How many seconds were simulated, over all experiments.
    pub fn simulated_seconds(&self) -> f64 {
        self.studies.iter().map(|study| study.simulated_seconds).sum()
    }

    /// How many claims hold, hold with conditions, and do not hold.
    pub fn counts(&self) -> [(Verdict, usize); 3] {
        counts(self.findings().map(|(_, finding)| finding))
    }

    /// How much was run, in words.
    fn heading(&self) -> String {
        let Size { seeds, seconds, seed } = self.size;
        // Not every experiment is about time.
        let each = if seconds > 0.0 { format!(", {seconds} s per run") } else { String::new() };
        match seeds {
            1 => format!("seed {seed}{each}"),
            _ => format!("{seeds} seeds from {seed} on{each}"),
        }
    }
}

fn counts<'a>(findings: impl Iterator<Item = &'a Finding>) -> [(Verdict, usize); 3] {
    let mut counts = [(Verdict::Holds, 0), (Verdict::HoldsWithConditions, 0), (Verdict::DoesNotHold, 0)];
    for verdict in findings.map(Finding::verdict) {
        counts.iter_mut().filter(|(known, _)| *known == verdict).for_each(|(_, count)| *count += 1);
    }
    counts
}

/// Counts of verdicts in words: those that occur.
fn counts_text(counts: &[(Verdict, usize)]) -> String {
    let parts: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(v, count)| format!("{count} {}", plural(*v, *count)))
        .collect();
    if parts.is_empty() { "no claims".into() } else { parts.join(", ") }
}

fn plural(verdict: Verdict, count: usize) -> String {
    let words = verdict.to_string();
    match count {
        1 => words,
        _ => words.replace("holds", "hold").replace("does not", "do not"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::study::{Band, Claim, Exhibit, Observation, Series};

    const CLAIM: Claim = Claim {
        id: "lower",
        says: &[("paper, section 1", "the error is <lower>"), ("thesis, chapter 2", "it falls")],
        measure: "error with / error without",
        band: Band::Below(1.0),
        always: false,
    };

    /// A volume with one of everything.
    pub(crate) fn sample() -> Volume {
        let (title, note, x, y) =
            ("A & B".to_owned(), "to <read>".to_owned(), "time, s".to_owned(), "error, m".to_owned());
        let series = |n: usize| Series {
            name: format!("curve {n}"),
            points: (0..50).map(|i| (f64::from(i), f64::from(i) * n as f64 + f64::from(i % 7))).collect(),
        };
        let bars = |n: usize| (format!("bar {n}"), vec![n as f64, f64::NAN, 0.001]);
        let exhibits = vec![
            Exhibit::Table {
                title: title.clone(),
                note: note.clone(),
                head: ["policy", "error"].map(str::to_owned).to_vec(),
                rows: vec![vec!["base".into(), "1.25".into()], vec!["<even>".into(), "-".into()]],
            },
            Exhibit::Curves {
                title: title.clone(),
                note: note.clone(),
                x: x.clone(),
                y: y.clone(),
                series: (0..10).map(series).collect(),
            },
            Exhibit::Clouds {
                title: title.clone(),
                note: note.clone(),
                x: x.clone(),
                y: y.clone(),
                series: (0..2).map(series).collect(),
            },
            Exhibit::Bars {
                title: title.clone(),
                note: note.clone(),
                x: x.clone(),
                y: y.clone(),
                groups: ["a rather long name of a group", "b", "c"].map(str::to_owned).to_vec(),
                bars: (1..4).map(bars).collect(),
            },
            Exhibit::Points { title, note, x, y, points: vec![(1.0, 0.001, "a".into()), (300.0, 5.0, "b".into())] },
        ];
        let observation = |condition: &str, values: &[f64]| Observation::new(condition, values.to_vec());
        let findings = vec![
            Finding::new(CLAIM, vec![observation("jitter 0", &[0.5, 0.6]), observation("jitter 100", &[1.5, 0.9])])
                .remarking("a remark & more"),
            Finding::new(Claim { id: "always", always: true, ..CLAIM }, vec![observation("any", &[0.5])]),
            Finding::new(Claim { id: "never", ..CLAIM }, vec![observation("", &[f64::NAN])]),
        ];
        let study = Study {
            name: "sample",
            settings: vec![("motion".into(), "tank".into())],
            summary: "Less is more, unless it is <less>.".into(),
            exhibits,
            findings,
            rows: Vec::new(),
            simulated_seconds: 1200.0,
        };
        Volume { size: Size::QUICK, studies: vec![study.clone(), Study { name: "other", ..study }] }
    }

    #[test]
    fn verdicts_are_counted_and_put_in_words() {
        let volume = sample();
        assert_eq!(volume.counts().map(|(_, count)| count), [2, 2, 2]);
        assert_eq!(counts_text(&volume.counts()), "2 hold, 2 hold with conditions, 2 do not hold");
        assert_eq!(counts_text(&[(Verdict::DoesNotHold, 1)]), "1 does not hold");
        assert_eq!(volume.simulated_seconds(), 2400.0);
    }
}
