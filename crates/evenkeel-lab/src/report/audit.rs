//! What an audit found, in every form.

use super::VERSION;
use super::axis::Axis;
use super::page::{self, key, table};
use super::svg::{Pen, Plot, escape};
use super::table::{figure, short};
use super::words::{COLUMNS, wrapped};
use crate::audit::{Audit, Scene, Witness};
use anyhow::Result;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// What is off by less than this, in metres, nobody sees: the distance at which a new vector is due by default.
const UNSEEN: f64 = 0.1;
/// A game is fair if the worst off sees things no farther off than this times the mean,
const FAIR: f64 = 1.1;
/// and unfair if it is beyond this.
const UNFAIR: f64 = 1.5;

impl Audit {
    /// Whether the game is fair, in words.
    pub fn verdict(&self) -> String {
        let Some(worst) = self.worst() else { return self.about_equals() };
        let mean = self.receivers.iter().map(|r| r.real_error).sum::<f64>() / self.receivers.len().max(1) as f64;
        if self.receivers.len() == 1 {
            return format!(
                "One receiver says nothing about fairness. It sees things {} m from where they are.",
                short(worst.real_error)
            );
        }
        let times = worst.real_error / mean;
        let (word, meaning) = match times {
            _ if worst.real_error <= UNSEEN => ("Fair", "nobody sees anything off by more than a tenth of a metre"),
            _ if times <= FAIR => ("Fair", "nobody is worse off by more than a tenth"),
            _ if times <= UNFAIR => ("Uneven", "it has to make up for what others do not"),
            _ => ("Unfair", "it aims at places where things no longer are when others hit them"),
        };
        let times = if worst.real_error > UNSEEN {
            format!(", {times:.2} times the mean over receivers")
        } else {
            String::new()
        };
        format!(
            "{word}: {} is worst off and sees things {} m from where they are{times}; {meaning}.{}",
            worst.name,
            short(worst.real_error),
            self.about_flips()
        )
    }

    /// What there is to say if nobody is worst off.
    fn about_equals(&self) -> String {
        let of = |one: &Witness| {
            format!("Fair: all receivers are alike and see things {} m from where they are.", short(one.real_error))
        };
        self.receivers.first().map_or_else(String::new, of)
    }

    fn about_flips(&self) -> String {
        match self.flips {
            flips if flips >= 0.5 => format!(" Who is worst off changes {} times a minute.", short(flips)),
            _ => " It is the same one almost all the time.".into(),
        }
    }

    /// How the verdict comes about.
    pub fn thresholds() -> String {
        format!(
            "Fair: the receiver that is worst off has at most {FAIR} times the mean error, or at most {UNSEEN} m; uneven: at \
             most {UNFAIR} times; unfair: more."
        )
    }

    /// A table to read, and the verdict.
    pub fn to_text(&self) -> String {
        let name = |name: &str| name.chars().take(40).collect::<String>();
        let width = self.receivers.iter().map(|r| name(&r.name).chars().count()).max().unwrap_or(0).max(8);
        let mut out = format!(" {:<width$} {:>10} {:>10} {:>9}\n", "receiver", "real", "shown, s", "entities");
        for (n, Witness { name: of, real_error, shown_s, entities, .. }) in self.receivers.iter().enumerate() {
            let unit = if n == 0 { " m" } else { "  " };
            let _ = writeln!(out, " {:<width$} {real_error:>8.3}{unit} {shown_s:>10.1} {entities:>9}", name(of));
        }
        let Self { real_mean, real_std, real_max, spread, flips, .. } = self;
        let _ =
            writeln!(out, "\n Per entity, then averaged: mean {real_mean:.3} m, std {real_std:.3}, max {real_max:.3}");
        let _ = writeln!(out, " Spread {spread:.3} m, flips {flips:.1} per minute\n");
        for text in [self.verdict(), Self::thresholds()] {
            wrapped(&text, COLUMNS - 1).iter().for_each(|line| out.push_str(&format!(" {line}\n")));
        }
        out
    }

    /// An object with `version`, `settings`, `verdict` and `rows`: one row, as those of a comparison.
    pub fn to_json(&self) -> Value {
        let settings: Map<String, Value> =
            self.settings.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        let receiver = |r: &Witness| json!({ "name": r.name, "real_error": r.real_error, "shown_s": r.shown_s, "entities": r.entities });
        let sender = |s: &Scene| json!({ "name": s.name, "receivers": s.receivers, "real_mean": s.mean, "real_std": s.std, "real_max": s.max });
        let row = json!({
            "policy": "as logged",
            "real_mean": self.real_mean,
            "real_std": self.real_std,
            "real_max": self.real_max,
            "spread": self.spread,
            "flips": self.flips,
            "receivers": self.receivers.iter().map(receiver).collect::<Vec<_>>(),
            "senders": self.entities.iter().map(sender).collect::<Vec<_>>(),
        });
        let worst = self.worst().map(|worst| worst.name.as_str());
        json!({ "version": VERSION, "settings": settings, "verdict": self.verdict(), "worst": worst, "rows": [row] })
    }

    /// One line per receiver.
    pub fn to_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record([
            "receiver",
            "real_error",
            "shown_s",
            "entities",
            "real_mean",
            "real_std",
            "real_max",
            "spread",
            "flips",
        ])?;
        for Witness { name, real_error, shown_s, entities, .. } in &self.receivers {
            let mut record = vec![name.clone(), real_error.to_string(), shown_s.to_string(), entities.to_string()];
            let all = [self.real_mean, self.real_std, self.real_max, self.spread, self.flips];
            record.extend(all.iter().map(f64::to_string));
            writer.write_record(&record)?;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    /// A page that needs nothing else.
    pub fn to_html(&self) -> String {
        let mut page = page::head("Evenkeel: is this game fair?");
        let mut put = |part: &str| page.push_str(part);
        put(&format!("<h1>Is this game fair?</h1>\n<p class=\"note\">evenkeel {VERSION}</p>\n"));
        put(&format!("<p class=\"verdict\">{}</p>\n", escape(&self.verdict())));
        put(&format!("<p class=\"note\">{}</p>\n", escape(&Self::thresholds())));
        put(
            "<h2>Each receiver</h2>\n<p class=\"note\">Real: mean distance in metres between where things are and where they are \
             shown, while both are known.</p>\n",
        );
        put(&self.bars());
        put(&table(&["receiver", "real, m", "shown, s", "entities"], self.receivers.iter().map(witness_cells)));
        put("<h2>Over time</h2>\n");
        put(&self.over_time());
        put(
            "<h2>Each entity</h2>\n<p class=\"note\">Mean, standard deviation and maximum over the receivers that showed it, in \
             metres.</p>\n",
        );
        put(&table(&["entity", "receivers", "mean", "std", "max"], self.entities.iter().map(scene_cells)));
        put("<h2>All together</h2>\n");
        put(&self.totals());
        put("<h2>Settings</h2>\n");
        put(&page::settings(&self.settings));
        put(page::END);
        page
    }

    fn totals(&self) -> String {
        let rows = [
            ("mean over receivers, averaged over entities, m", figure(self.real_mean)),
            ("standard deviation over receivers, likewise, m", figure(self.real_std)),
            ("maximum over receivers, likewise, m", figure(self.real_max)),
            (
                "spread: largest distance between two receivers' views at one moment, mean over time, m",
                figure(self.spread),
            ),
            ("flips: how often per minute another receiver becomes the worst off", format!("{:.1}", self.flips)),
        ];
        table(&["what", "value"], rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]))
    }

    fn bars(&self) -> String {
        let errors = self.receivers.iter().map(|receiver| receiver.real_error);
        let mut plot = Plot::new(760.0, 320.0, Axis::up_to(1.0), Axis::up_to(errors.fold(0.0, f64::max)));
        let groups: Vec<_> = self.receivers.iter().map(|r| (r.name.as_str(), vec![r.real_error])).collect();
        plot.bars(&groups, "receiver", "real against shown, m");
        plot.finish("Mean distance between real and shown, per receiver")
    }

    fn over_time(&self) -> String {
        let values: Vec<Vec<f64>> = self.receivers.iter().map(|receiver| receiver.timeline.clone()).collect();
        let points = values.iter().map(Vec::len).max().unwrap_or(0);
        let x = Axis::exactly(points as f64 * self.step_s);
        let mut plot = Plot::new(760.0, 320.0, x, Axis::over_curves(&values));
        plot.y_axis("real against shown, m");
        plot.x_axis("seconds");
        for (number, values) in values.iter().enumerate() {
            let at = |(n, value): (usize, &f64)| ((n as f64 + 0.5) * self.step_s, *value);
            plot.curve(values.iter().enumerate().map(at), &Pen::of(number));
        }
        let names =
            self.receivers.iter().enumerate().map(|(n, receiver)| (Pen::of(n).sample(), receiver.name.as_str()));
        key(names) + &plot.finish("Distance between real and shown over time, per receiver")
    }
}

fn witness_cells(receiver: &Witness) -> Vec<String> {
    let Witness { name, real_error, shown_s, entities, .. } = receiver;
    vec![name.clone(), figure(*real_error), format!("{shown_s:.1}"), entities.to_string()]
}

fn scene_cells(scene: &Scene) -> Vec<String> {
    let Scene { name, receivers, mean, std, max } = scene;
    vec![name.clone(), receivers.to_string(), figure(*mean), figure(*std), figure(*max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit(errors: &[f64], flips: f64) -> Audit {
        let witness = |(n, error): (usize, &f64)| Witness {
            name: format!("p{n}"),
            real_error: *error,
            shown_s: 10.0,
            entities: 1,
            timeline: vec![*error, f64::NAN, *error, *error],
        };
        let receivers = errors.iter().enumerate().map(witness).collect();
        let scene = Scene { name: "<tank>".into(), receivers: errors.len(), mean: 1.0, std: 0.5, max: 2.0 };
        let (settings, entities) = (vec![("real".into(), "r.csv".into())], vec![scene]);
        let (real_mean, real_std, real_max, spread, step_s) = (1.0, 0.5, 2.0, 0.7, 1.0);
        Audit { settings, receivers, entities, real_mean, real_std, real_max, spread, flips, step_s }
    }

    #[test]
    fn verdicts_go_by_how_much_worse_off_the_worst_is() {
        for (errors, wanted) in [
            (&[1.0, 1.05][..], "Fair: p1 is worst off and sees things 1.05 m"),
            (&[0.01, 0.09], "Fair: p1 is worst off and sees things 0.0900 m from where they are; nobody"),
            (&[1.0, 1.5], "Uneven: p1"),
            (&[1.0, 5.0], "Unfair: p1 is worst off and sees things 5.00 m from where they are, 1.67 times the mean"),
            (&[2.0, 2.0 + 1e-9], "Fair: all receivers are alike and see things 2.00 m from where they are."),
            (&[0.0, 0.0], "Fair: all receivers are alike and see things 0.00 m from where they are."),
            (&[2.0, 1.0, 2.0 + 1e-9], "Uneven: p0"),
            (&[3.0], "One receiver says nothing about fairness."),
        ] {
            let words = audit(errors, 0.0).verdict();
            assert!(words.starts_with(wanted), "{words}");
        }
        assert!(audit(&[1.0, 5.0], 3.0).verdict().ends_with("Who is worst off changes 3.00 times a minute."));
    }

    #[test]
    fn every_form_says_the_same() {
        let audit = audit(&[1.0, 5.0], 0.0);
        let (page, text, json) = (audit.to_html(), audit.to_text(), audit.to_json());
        assert!(!page.contains("NaN") && !page.contains("http") && page.contains("&lt;tank&gt;"));
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        assert!(text.contains("p1          5.000") && text.contains("Unfair"), "{text}");
        assert_eq!((&json["rows"][0]["receivers"][1]["real_error"], &json["worst"]), (&5.0.into(), &"p1".into()));
        assert_eq!(audit.to_csv().unwrap().lines().count(), 3);
    }
}
