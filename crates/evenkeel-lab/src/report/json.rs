//! Findings as JSON.

use super::VERSION;
use crate::experiment::{Findings, ReceiverRow, Row, SenderRow, budget_text};
use serde_json::{Map, Value, json};

/// An object with `version`, `settings` and `rows`.
pub fn to_json(findings: &Findings) -> Value {
    let settings: Map<String, Value> =
        findings.settings.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
    json!({
        "version": VERSION,
        "settings": settings,
        "rows": findings.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn row(row: &Row) -> Value {
    json!({
        "policy": row.policy,
        "vectors_sent": row.vectors_sent,
        "vectors_allowed": row.vectors_allowed,
        "bytes_allowed": row.bytes_allowed,
        "bytes_sent": row.bytes_sent,
        "budget": budget_text(row.budget),
        "mean": row.mean,
        "std": row.std,
        "max": row.max,
        "real_mean": row.real_mean,
        "real_std": row.real_std,
        "real_max": row.real_max,
        "spread": row.spread,
        "flips": row.flips,
        "receivers": row.receivers.iter().map(receiver).collect::<Vec<_>>(),
        "senders": row.senders.iter().map(sender).collect::<Vec<_>>(),
        "bound": row.bound,
        "gap_closed": row.gap_closed,
        "datagrams_refused": row.refused.by_cause().into_iter().map(|(cause, n)| (cause.into(), n.into())).collect::<Map<_, _>>(),
    })
}

fn receiver(row: &ReceiverRow) -> Value {
    let ReceiverRow { delay_ms, export_error, real_error, vectors } = row;
    json!({ "delay_ms": delay_ms, "export_error": export_error, "real_error": real_error, "vectors": vectors })
}

fn sender(row: &SenderRow) -> Value {
    let SenderRow { name, vectors, mean, std, max } = row;
    json!({ "name": name, "vectors": vectors, "mean": mean, "std": std, "max": max })
}
