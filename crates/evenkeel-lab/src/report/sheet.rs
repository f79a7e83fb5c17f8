//! Findings of one run as tables and plots, whatever they are about.

use super::VERSION;
use super::page;
use super::svg::escape;
use super::volume::{exhibit_to_html, table_to_text};
use super::words::{COLUMNS, wrapped};
use crate::study::Exhibit;

/// What a run found, ready to be shown.
///
/// ```
/// use evenkeel_lab::report::Sheet;
/// use evenkeel_lab::study::Exhibit;
/// let head = ["client", "error, m"].map(String::from).to_vec();
/// let rows = vec![vec!["Ada".into(), "0.25".into()]];
/// let table = Exhibit::Table { title: "Clients".into(), note: String::new(), head, rows };
/// let sheet = Sheet { title: "A match".into(), summary: "Fair.".into(), exhibits: vec![table], ..Sheet::default() };
/// assert!(sheet.to_html().contains("<td>0.25</td>"));
/// assert_eq!(sheet.to_text(), " Clients\n    client  error, m\n    Ada         0.25\n\n Fair.\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// What it is about.
    pub title: String,
    /// What it says, in a sentence or two.
    pub summary: String,
    /// How to read it.
    pub note: String,
    /// Tables and plots.
    pub exhibits: Vec<Exhibit>,
    /// How it was run.
    pub settings: Vec<(String, String)>,
}

impl Sheet {
    /// All tables, and what they say.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for exhibit in &self.exhibits {
            if let Exhibit::Table { title, head, rows, .. } = exhibit {
                out.push_str(&format!(" {title}\n{}\n", table_to_text(head, rows)));
            }
        }
        for text in [&self.summary, &self.note].into_iter().filter(|text| !text.is_empty()) {
            wrapped(text, COLUMNS - 1).iter().for_each(|line| out.push_str(&format!(" {line}\n")));
        }
        out
    }

    /// A page that needs nothing else.
    pub fn to_html(&self) -> String {
        let mut page = page::head(&format!("Evenkeel: {}", self.title));
        let mut put = |part: &str| page.push_str(part);
        put(&format!("<h1>{}</h1>\n<p class=\"note\">evenkeel {VERSION}</p>\n", escape(&self.title)));
        for (class, text) in [("verdict", &self.summary), ("note", &self.note)] {
            if !text.is_empty() {
                put(&format!("<p class=\"{class}\">{}</p>\n", escape(text)));
            }
        }
        self.exhibits.iter().for_each(|exhibit| put(&exhibit_to_html(exhibit)));
        put(&format!("<h2>Settings</h2>\n{}", page::settings(&self.settings)));
        put(page::END);
        page
    }
}
