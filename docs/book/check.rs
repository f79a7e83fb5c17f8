//! The book about Evenkeel. Its text is in `src`, and `mdbook build docs/book` makes pages of it.
//!
//! This crate is what keeps the text true: every Rust snippet is a doctest of this file, and `tests/` sees to command
//! lines, links, the names of metrics, and that no chapter is forgotten.

/// One module for each chapter, so that a snippet that fails is found by its name.
#[cfg(doctest)]
macro_rules! chapters {
    ($($name:ident $file:literal)*) => { $(#[doc = include_str!($file)] mod $name {})* };
}

#[cfg(doctest)]
chapters! {
    introduction "src/introduction.md"
    ideas "src/ideas.md"
    choosing "src/choosing.md"
    motions "src/motions.md"
    engine "src/engine.md"
    bevy "src/bevy.md"
    browser "src/browser.md"
    operating "src/operating.md"
    auditing "src/auditing.md"
    bzflag "src/bzflag.md"
    sites "src/sites.md"
    papers "src/papers.md"
    platforms "src/platforms.md"
    glossary "src/glossary.md"
}
