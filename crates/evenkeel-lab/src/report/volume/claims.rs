//! Claims and their verdicts, on a page.

use super::super::svg::escape;
use super::super::table::short;
use super::{Volume, plural};
use crate::study::{Claim, Finding, Observation, Study, Verdict};

/// Where fewer seeds than this, in percent, are in the band, a claim holds at the median only.
const ENOUGH: f64 = 75.0;

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::HoldsWithConditions => "partly",
        Verdict::DoesNotHold => "fails",
    }
}

fn tag(verdict: Verdict) -> String {
    format!("<span class=\"tag {}\">{verdict}</span>", class(verdict))
}

/// How many claims hold and how many do not.
pub(super) fn badges(counts: &[(Verdict, usize)]) -> String {
    let badge = |(verdict, count): &(Verdict, usize)| {
        format!("<span class=\"tag {}\">{count} {}</span>", class(*verdict), plural(*verdict, *count))
    };
    format!("<p class=\"badges\">{}</p>\n", counts.iter().map(badge).collect::<Vec<_>>().join(" "))
}

fn anchor(study: &Study, claim: &Claim) -> String {
    escape(&format!("{}-{}", study.name, claim.id))
}

/// The verdicts of one study in short, with links to the whole.
pub(super) fn list(study: &Study) -> String {
    if study.findings.is_empty() {
        return String::new();
    }
    let line = |finding: &Finding| {
        let (anchor, id) = (anchor(study, &finding.claim), escape(finding.claim.id));
        let found = escape(&range(finding));
        let (verdict, band) = (tag(finding.verdict()), escape(&finding.claim.band.to_string()));
        format!(
            "<li>{verdict} <a href=\"#{anchor}\">{id}</a> <span class=\"small\">{found}, must be {band}</span></li>\n"
        )
    };
    format!("<ul class=\"claims\">\n{}</ul>\n", study.findings.iter().map(line).collect::<String>())
}

/// The medians of all conditions: from the smallest to the largest.
pub(super) fn range(finding: &Finding) -> String {
    let medians: Vec<f64> = finding.observations.iter().map(Observation::median).filter(|m| m.is_finite()).collect();
    let (min, max) = medians.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), m| (a.min(*m), b.max(*m)));
    let (least, most) = (short(min), short(max));
    match medians.len() {
        0 => "nothing measured".into(),
        _ if least == most => least,
        _ => format!("{least} to {most}"),
    }
}

/// Every claim of every study.
pub(super) fn table(volume: &Volume) -> String {
    let mut out = String::from(
        "<section id=\"claims\">\n<h2>All claims</h2>\n<p class=\"note\">What must be so follows from the wording alone and was \
         set before any run. A condition supports a claim if the median over seeds is in the band (or every seed, where the \
         wording says always); in brackets the share of seeds in the band.</p>\n",
    );
    out.push_str(
        "<div class=\"wide\"><table class=\"claims\">\n<thead><tr><th>claim</th><th>what is said, and measured</th>",
    );
    out.push_str("<th>must be</th><th>we found</th><th>verdict</th></tr></thead>\n");
    for (study, finding) in volume.findings() {
        out.push_str(&row(study, finding));
    }
    out + "</table></div>\n</section>\n"
}

fn row(study: &Study, finding: &Finding) -> String {
    let claim = &finding.claim;
    let says = |(place, words): &(&str, &str)| {
        format!("<p><q>{}</q> <span class=\"small\">{}</span></p>", escape(words), escape(place))
    };
    let remark = match finding.remark.as_str() {
        "" => String::new(),
        remark => format!("<p class=\"small\">{}</p>", escape(remark)),
    };
    let always = if claim.always { " <span class=\"small\">in every run</span>" } else { "" };
    format!(
        "<tr id=\"{}\"><td><code>{}</code><br><a class=\"small\" href=\"#{study}\">{study}</a></td><td>{}<p \
         class=\"small\">Measured: {}.</p></td><td>{}{always}</td><td>{}{remark}</td><td>{}</td></tr>\n",
        anchor(study, claim),
        escape(claim.id),
        claim.says.iter().map(says).collect::<String>(),
        escape(claim.measure),
        escape(&claim.band.to_string()),
        conditions(finding),
        tag(finding.verdict()),
        study = escape(study.name),
    )
}

/// Our number under each condition.
fn conditions(finding: &Finding) -> String {
    let one = |observation: &Observation| {
        let share = 100.0 * observation.share_within(finding.claim.band);
        let supports = observation.supports(&finding.claim);
        let class = if supports { "yes" } else { "no" };
        let only = if supports && share < ENOUGH { ", at the median only" } else { "" };
        format!(
            "<tr class=\"{class}\"><td>{}</td><td>{}</td><td>({share:.0} %{only})</td></tr>\n",
            escape(&observation.condition),
            short(observation.median())
        )
    };
    format!("<table class=\"conditions\">\n{}</table>", finding.observations.iter().map(one).collect::<String>())
}
