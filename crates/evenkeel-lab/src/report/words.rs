//! Words on lines.

/// How wide a terminal is taken to be.
pub(super) const COLUMNS: usize = 100;

/// Text as lines of at most so many letters. A word that is too long is cut.
pub(super) fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        let used = lines.last().map_or(0, |line| line.chars().count());
        if used > 0 && used + 1 + rest.len() > letters {
            lines.push(String::new());
        }
        while rest.len() > letters {
            let cut: String = rest.drain(..letters.max(1)).collect();
            if let Some(line) = lines.last_mut() {
                *line = cut;
            }
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            let gap = if line.is_empty() { "" } else { " " };
            line.push_str(gap);
            line.extend(rest);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_long_words_are_cut() {
        assert_eq!(wrapped("holds receipts for a second", 14), ["holds receipts", "for a second"]);
        assert_eq!(wrapped("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
