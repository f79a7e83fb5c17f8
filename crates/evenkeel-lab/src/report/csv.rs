//! Findings as comma-separated values: one line per policy and receiver, the policy's own figures repeated.

use crate::experiment::{Findings, budget_text};
use anyhow::Result;

const COLUMNS: [&str; 19] = [
    "policy",
    "vectors_sent",
    "bytes_sent",
    "budget",
    "mean",
    "std",
    "max",
    "real_mean",
    "real_std",
    "real_max",
    "spread",
    "flips",
    "receiver",
    "delay_ms",
    "export_error",
    "real_error",
    "vectors",
    "bound",
    "gap_closed",
];

/// The findings as text.
pub fn to_csv(findings: &Findings) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for row in &findings.rows {
        for (number, receiver) in row.receivers.iter().enumerate() {
            let mut record = vec![row.policy.clone(), row.vectors_sent.to_string(), row.bytes_sent.to_string()];
            record.push(budget_text(row.budget));
            let figures =
                [row.mean, row.std, row.max, row.real_mean, row.real_std, row.real_max, row.spread, row.flips];
            record.extend(figures.iter().map(f64::to_string));
            record.push(number.to_string());
            let own = [receiver.delay_ms, receiver.export_error, receiver.real_error, receiver.vectors];
            record.extend(own.iter().map(f64::to_string));
            let known = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            record.extend([row.bound, row.gap_closed].map(known));
            writer.write_record(&record)?;
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}
