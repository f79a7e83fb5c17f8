//! Everything that was found, as one page that needs nothing else.

use super::super::VERSION;
use super::super::page;
use super::super::svg::escape;
use super::{Volume, claims, counts, counts_text, exhibits};
use crate::study::{Entry, Study};

impl Volume {
    /// One page.
    pub fn to_html(&self) -> String {
        let title = match &self.studies[..] {
            [one] => format!("Evenkeel: {}", one.name),
            _ => "Evenkeel: the laboratory's report".to_owned(),
        };
        let mut page = page::head(&title);
        let mut put = |part: &str| page.push_str(part);
        put(&format!("<h1>{}</h1>\n", escape(&title)));
        put(&format!("<p class=\"note\">evenkeel {VERSION}, {}</p>\n", escape(&self.heading())));
        put(&claims::badges(&self.counts()));
        if self.studies.len() > 1 {
            put(&self.contents());
        }
        for study in &self.studies {
            put(&section(study));
        }
        put(&claims::table(self));
        put(page::END);
        page
    }

    fn contents(&self) -> String {
        let entry = |study: &Study| {
            let (question, _) = described(study);
            let checked = counts_text(&counts(study.findings.iter()));
            format!(
                "<li><a href=\"#{0}\">{0}</a>: {1} <span class=\"small\">{checked}</span></li>\n",
                escape(study.name),
                escape(question)
            )
        };
        let entries: String = self.studies.iter().map(entry).collect();
        format!("<nav><ol>\n{entries}<li><a href=\"#claims\">All claims</a></li>\n</ol></nav>\n")
    }
}

/// The question that an experiment answers and what it reproduces.
pub(super) fn described(study: &Study) -> (&'static str, &'static str) {
    Entry::by_name(study.name).map_or(("", ""), |entry| (entry.question, entry.reproduces))
}

fn section(study: &Study) -> String {
    let (question, reproduces) = described(study);
    let mut out = format!("<section id=\"{0}\">\n<h2>{0}</h2>\n", escape(study.name));
    let mut put = |class: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("<p class=\"{class}\">{text}</p>\n"));
        }
    };
    put("question", &escape(question));
    put("verdict", &escape(&study.summary));
    if !reproduces.is_empty() {
        put("note", &format!("Reproduces: {}.", escape(reproduces)));
    }
    out.push_str(&claims::list(study));
    study.exhibits.iter().for_each(|exhibit| out.push_str(&exhibits::to_html(exhibit)));
    out.push_str(&format!("<h3>Settings</h3>\n{}</section>\n", page::settings(&study.settings)));
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;

    /// Opened and closed alike, but for what need not be closed.
    fn is_balanced(page: &str) -> bool {
        ["table", "svg", "figure", "section", "p", "div", "ul", "ol", "li", "span", "thead", "tr", "td", "th"]
            .iter()
            .all(|tag| {
                let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
                let closed = page.matches(&format!("</{tag}>")).count();
                assert_eq!(opened, closed, "{tag}");
                opened == closed
            })
    }

    #[test]
    fn a_page_has_everything_and_needs_nothing() {
        let page = sample().to_html();
        assert_eq!(page, sample().to_html());
        assert!(is_balanced(&page));
        for foreign in ["http", "<script", "<link", "src=", "@import", "url(", "NaN", "inf"] {
            assert!(!page.contains(foreign), "{foreign}");
        }
        for part in
            ["id=\"sample\"", "href=\"#other\"", "does not hold", "the error is &lt;lower&gt;", "a remark &amp; more"]
        {
            assert!(page.contains(part), "{part}");
        }
        for id in ["sample-lower", "other-never"] {
            assert!(page.contains(&format!("id=\"{id}\"")) && page.contains(&format!("href=\"#{id}\"")), "{id}");
        }
    }

    #[test]
    fn one_study_alone_has_no_contents() {
        let mut volume = sample();
        volume.studies.truncate(1);
        assert!(!volume.to_html().contains("<nav>"));
    }
}
