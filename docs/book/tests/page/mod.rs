//! A page of the book, as far as the tests read it: enough of Markdown, and no more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A page, its fenced blocks apart from its prose.
pub struct Page {
    pub name: String,
    pub path: PathBuf,
    prose: String,
    /// The language of each block, and its text.
    blocks: Vec<(String, String)>,
}

/// All pages, the summary included, by name.
pub fn pages(book: &Path) -> Vec<Page> {
    let files = std::fs::read_dir(book.join("src")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<Page> =
        files.filter(|path| path.extension().is_some_and(|it| it == "md")).map(|path| Page::read(&path)).collect();
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

impl Page {
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let (mut prose, mut blocks, mut inside) = (String::new(), Vec::<(String, String)>::new(), false);
        for line in text.lines() {
            match (line.strip_prefix("```"), inside) {
                (Some(language), false) => blocks.push((language.to_owned(), String::new())),
                (Some(_), true) => {}
                (None, true) => blocks.last_mut().unwrap().1.extend([line, "\n"]),
                (None, false) => prose.extend([line, "\n"]),
            }
            inside ^= line.starts_with("```");
        }
        assert!(!inside, "{}: a block does not end", path.display());
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        Self { name, path: path.to_owned(), prose, blocks }
    }

    /// The fenced blocks in this language.
    pub fn blocks<'a>(&'a self, language: &'a str) -> impl Iterator<Item = &'a str> {
        self.blocks.iter().filter(move |(it, _)| it == language).map(|(_, text)| text.as_str())
    }

    /// What is typed at a prompt. A backslash goes on in the next line.
    pub fn commands(&self) -> Vec<String> {
        let consoles: Vec<String> = self.blocks("console").map(|text| text.replace("\\\n", " ")).collect();
        let typed = consoles.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("$ "));
        typed.map(str::to_owned).collect()
    }

    /// Where links and pictures lead.
    pub fn links(&self) -> Vec<String> {
        let ends = self.prose.split("](").skip(1);
        ends.filter_map(|rest| rest.split_once(')')).map(|(link, _)| link.to_owned()).collect()
    }

    /// The names by which headings are linked to.
    pub fn anchors(&self) -> BTreeSet<String> {
        let headings = self.prose.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
    }

    /// The words of everything that is set as code, in prose.
    pub fn code_words(&self) -> Vec<String> {
        let word = |text: &str| text.split(['{', ' ']).next().unwrap_or_default().to_owned();
        self.code().iter().map(|code| word(code)).collect()
    }

    /// What is set as code in the first column of the tables whose first heading is this.
    pub fn first_column(&self, heading: &str) -> Vec<String> {
        let cells = |line: &str| line.split('|').nth(1).map(|cell| cell.trim().to_owned());
        let mut names = Vec::new();
        let mut here = false;
        for line in self.prose.lines() {
            match cells(line) {
                None => here = false,
                Some(cell) if cell == heading => here = true,
                Some(cell) if here => {
                    names.extend(cell.strip_prefix('`').and_then(|it| it.strip_suffix('`')).map(str::to_owned))
                }
                Some(_) => {}
            }
        }
        names
    }

    /// What is set as code, in prose.
    pub fn code(&self) -> Vec<String> {
        self.prose
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|code| code.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    }
}

/// As mdBook and GitHub make them.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
