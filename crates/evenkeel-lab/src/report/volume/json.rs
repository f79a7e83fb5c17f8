//! Everything that was found, for programs.

use super::super::VERSION;
use super::Volume;
use super::html::described;
use crate::study::{Exhibit, Finding, Observation, Row, Series, Study};
use serde_json::{Map, Value, json};

impl Volume {
    /// An object with `version`, `seeds`, `seconds`, `seed`, `verdicts`, `rows` (of all experiments that have any, each with its
    /// `experiment`) and `studies`.
    pub fn to_json(&self) -> Value {
        let verdicts: Map<String, Value> =
            self.counts().into_iter().map(|(verdict, count)| (verdict.to_string(), count.into())).collect();
        let of = |study: &Study| study.rows.iter().map(|row| named(study, row)).collect::<Vec<_>>();
        json!({
            "version": VERSION,
            "rows": self.studies.iter().flat_map(of).collect::<Vec<_>>(),
            "seeds": self.size.seeds,
            "seconds": self.size.seconds,
            "seed": self.size.seed,
            "verdicts": verdicts,
            "studies": self.studies.iter().map(study).collect::<Vec<_>>(),
        })
    }
}

/// A row that says where it comes from.
fn named(study: &Study, row: &Row) -> Value {
    let mut row = row.clone();
    row.insert("experiment".to_owned(), study.name.into());
    Value::Object(row)
}

fn study(study: &Study) -> Value {
    let settings: Map<String, Value> =
        study.settings.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    let (tables, plots): (Vec<&Exhibit>, Vec<&Exhibit>) =
        study.exhibits.iter().partition(|exhibit| matches!(exhibit, Exhibit::Table { .. }));
    let (question, reproduces) = described(study);
    json!({
        "name": study.name,
        "question": question,
        "reproduces": reproduces,
        "summary": study.summary,
        "settings": settings,
        "simulated_seconds": study.simulated_seconds,
        "tables": tables.into_iter().map(exhibit).collect::<Vec<_>>(),
        "plots": plots.into_iter().map(exhibit).collect::<Vec<_>>(),
        "rows": study.rows,
        "claims": study.findings.iter().map(claim).collect::<Vec<_>>(),
    })
}

fn exhibit(exhibit: &Exhibit) -> Value {
    match exhibit {
        Exhibit::Table { title, note, head, rows } => {
            json!({ "title": title, "note": note, "head": head, "rows": rows })
        }
        Exhibit::Curves { title, note, x, y, series } => {
            json!({ "kind": "curves", "title": title, "note": note, "x": x, "y": y, "series": named_points(series) })
        }
        Exhibit::Clouds { title, note, x, y, series } => {
            json!({ "kind": "clouds", "title": title, "note": note, "x": x, "y": y, "series": named_points(series) })
        }
        Exhibit::Bars { title, note, x, y, groups, bars } => {
            let bars: Vec<Value> =
                bars.iter().map(|(name, values)| json!({ "name": name, "values": values })).collect();
            json!({ "kind": "bars", "title": title, "note": note, "x": x, "y": y, "groups": groups, "bars": bars })
        }
        Exhibit::Points { title, note, x, y, points } => {
            let points: Vec<Value> =
                points.iter().map(|(x, y, name)| json!({ "name": name, "x": x, "y": y })).collect();
            json!({ "kind": "points", "title": title, "note": note, "x": x, "y": y, "points": points })
        }
    }
}

fn named_points(series: &[Series]) -> Vec<Value> {
    series.iter().map(|Series { name, points }| json!({ "name": name, "points": points })).collect()
}

fn claim(finding: &Finding) -> Value {
    let claim = &finding.claim;
    let says: Vec<Value> = claim.says.iter().map(|(place, words)| json!({ "where": place, "words": words })).collect();
    let observation = |o: &Observation| {
        json!({
            "condition": o.condition,
            "median": o.median(),
            "share_within": o.share_within(claim.band),
            "supports": o.supports(claim),
            "values": o.values,
        })
    };
    json!({
        "id": claim.id,
        "verdict": finding.verdict().to_string(),
        "says": says,
        "measure": claim.measure,
        "band": claim.band.to_string(),
        "always": claim.always,
        "observations": finding.observations.iter().map(observation).collect::<Vec<_>>(),
        "remark": finding.remark,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;

    #[test]
    fn programs_find_claims_tables_and_plots() {
        let value = sample().to_json();
        let study = &value["studies"][0];
        assert_eq!((&study["name"], &value["seeds"]), (&"sample".into(), &5.into()));
        assert_eq!(study["tables"][0]["rows"][0][1], "1.25");
        assert_eq!(study["plots"].as_array().unwrap().len(), 4);
        assert_eq!(study["plots"][1]["kind"], "clouds");
        let claim = &study["claims"][0];
        assert_eq!((&claim["id"], &claim["verdict"]), (&"lower".into(), &"holds with conditions".into()));
        assert_eq!((&claim["band"], &claim["observations"][0]["median"]), (&"< 1".into(), &0.55.into()));
        assert_eq!((&claim["observations"][1]["share_within"], &value["verdicts"]["holds"]), (&0.5.into(), &2.into()));
        assert!(study["claims"][2]["observations"][0]["median"].is_null());
    }
}
