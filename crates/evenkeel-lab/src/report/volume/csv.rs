//! Claims as comma-separated values: one line per claim and condition.

use super::Volume;
use anyhow::Result;

const COLUMNS: [&str; 9] =
    ["experiment", "claim", "verdict", "band", "condition", "median", "share_within", "seeds", "measure"];

impl Volume {
    /// The claims as text.
    pub fn to_csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(COLUMNS)?;
        for (study, finding) in self.findings() {
            let (claim, verdict) = (&finding.claim, finding.verdict().to_string());
            for observation in &finding.observations {
                let band = claim.band.to_string();
                let share = observation.share_within(claim.band).to_string();
                let (median, seeds) = (observation.median().to_string(), observation.values.len().to_string());
                let record = [study.name, claim.id, &verdict, &band, &observation.condition];
                writer.write_record(record.into_iter().chain([&*median, &share, &seeds, claim.measure]))?;
            }
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;

    #[test]
    fn there_is_a_line_for_every_claim_and_condition() {
        let text = sample().to_csv().unwrap();
        assert_eq!(text.lines().count(), 1 + 2 * 4);
        assert!(text.contains("sample,lower,holds with conditions,< 1,jitter 0,0.55,1,2,"), "{text}");
    }
}
