//! What the game's variables amount to: [`Variables`].

use super::SetVar;
use std::collections::BTreeMap;

/// How many variables are kept. The game has some 200.
const MAX_VARIABLES: usize = 1024;

/// How many terms a value may have, with those of all it refers to. Strangers write them, and they lie within each other.
const MAX_TERMS: usize = 250;

/// The variables of a game, as far as they have been told.
///
/// ```
/// use evenkeel_bzflag::message::{SetVar, Variables};
/// let mut variables = Variables::default();
/// variables.set(&SetVar(vec![(b"_tankRadius", b"0.72 * _tankLength"), (b"_tankLength", b"6.0")]));
/// variables.set(&SetVar(vec![(b"_muzzleFront", b"_tankRadius + 0.1")]));
/// assert_eq!(variables.number("_muzzleFront"), Some(0.72 * 6.0 + 0.1));
/// assert_eq!(variables.number("_muzzleHeight"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<Vec<u8>, Vec<u8>>);

impl Variables {
    /// Takes what a message says. Beyond 1024 variables, new ones are not taken.
    pub fn set(&mut self, vars: &SetVar<'_>) {
        for (name, value) in &vars.0 {
            if self.0.len() < MAX_VARIABLES || self.0.contains_key(*name) {
                self.0.insert(name.to_vec(), value.to_vec());
            }
        }
    }

    /// What a variable was set to.
    pub fn text(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name.as_bytes()).map(Vec::as_slice)
    }

    /// The number a variable amounts to; none if it is not known, or no finite number.
    pub fn number(&self, name: &str) -> Option<f64> {
        let mut terms = MAX_TERMS;
        self.evaluate(name.as_bytes(), &mut terms).filter(|number| number.is_finite())
    }

    fn evaluate(&self, name: &[u8], terms: &mut usize) -> Option<f64> {
        let mut expression = Expression { variables: self, rest: self.0.get(name)?, terms };
        let number = expression.sum()?;
        (expression.peek().is_none()).then_some(number)
    }
}

/// What is left to read of a value: numbers, names, `+ - * / ^` and parentheses.
struct Expression<'a> {
    variables: &'a Variables,
    rest: &'a [u8],
    terms: &'a mut usize,
}

impl Expression<'_> {
    fn sum(&mut self) -> Option<f64> {
        let mut sum = self.product()?;
        loop {
            match self.peek() {
                Some(b'+') => sum += self.after_operator(Self::product)?,
                Some(b'-') => sum -= self.after_operator(Self::product)?,
                _ => return Some(sum),
            }
        }
    }

    fn product(&mut self) -> Option<f64> {
        let mut product = self.power()?;
        loop {
            match self.peek() {
                Some(b'*') => product *= self.after_operator(Self::power)?,
                Some(b'/') => product /= self.after_operator(Self::power)?,
                _ => return Some(product),
            }
        }
    }

    fn power(&mut self) -> Option<f64> {
        let base = self.term()?;
        match self.peek() {
            Some(b'^') => Some(base.powf(self.after_operator(Self::term)?)),
            _ => Some(base),
        }
    }

    fn term(&mut self) -> Option<f64> {
        *self.terms = self.terms.checked_sub(1)?;
        match self.peek()? {
            b'-' => self.after_operator(Self::term).map(|number| -number),
            b'(' => {
                let number = self.after_operator(Self::sum)?;
                (self.peek() == Some(b')')).then(|| self.rest = &self.rest[1..])?;
                Some(number)
            }
            b'0'..=b'9' | b'.' => {
                let digits = self.word(|byte| byte.is_ascii_digit() || byte == b'.');
                str::from_utf8(digits).ok()?.parse().ok()
            }
            _ => {
                let name = self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                self.variables.evaluate(name, self.terms)
            }
        }
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn after_operator(&mut self, read: fn(&mut Self) -> Option<f64>) -> Option<f64> {
        self.rest = &self.rest[1..];
        read(self)
    }
}

impl<'a> Expression<'a> {
    fn word(&mut self, belongs: fn(u8) -> bool) -> &'a [u8] {
        let length = self.rest.iter().position(|byte| !belongs(*byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        word
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(value: &str) -> Option<f64> {
        let mut variables = Variables::default();
        variables.set(&SetVar(vec![(b"_v", value.as_bytes()), (b"_two", b"2")]));
        variables.number("_v")
    }

    #[test]
    fn expressions_amount_to_numbers() {
        for (value, expected) in [
            ("-9.8", Some(-9.8)),
            (" 1 + 2*3 - 4/_two ", Some(5.0)),
            ("(1 + _two) * -(3)", Some(-9.0)),
            ("3 * _two ^ 3", Some(24.0)),
            ("8 - 2 - 1", Some(5.0)),
            ("", None),
            ("1 +", None),
            ("(1", None),
            ("1 2", None),
            ("1.2.3", None),
            ("true", None),
            ("1 / 0", None),
            ("_v", None),
            ("_two $", None),
        ] {
            assert_eq!(number(value), expected, "{value:?}");
        }
    }

    #[test]
    fn what_strangers_write_ends_soon() {
        let mut variables = Variables::default();
        let names: Vec<String> = (0..30).map(|n| format!("v{n}")).collect();
        for pair in names.windows(2) {
            let value = format!("{0}+{0}", pair[1]);
            variables.set(&SetVar(vec![(pair[0].as_bytes(), value.as_bytes())]));
        }
        variables.set(&SetVar(vec![(b"v29", b"1")]));
        assert_eq!(variables.number("v25"), Some(16.0));
        assert_eq!(variables.number("v0"), None);
        let deep = |signs: usize| number(&format!("{}1", "-".repeat(signs)));
        assert_eq!((deep(100), deep(254)), (Some(1.0), None));
    }

    #[test]
    fn there_are_only_so_many_variables() {
        let mut variables = Variables::default();
        for n in 0..2000 {
            variables.set(&SetVar(vec![(format!("v{n}").as_bytes(), b"1")]));
        }
        variables.set(&SetVar(vec![(b"v0", b"2")]));
        assert_eq!((variables.number("v0"), variables.number("v1023")), (Some(2.0), Some(1.0)));
        assert_eq!((variables.0.len(), variables.text("v1024")), (1024, None));
    }

    proptest! {
        #[test]
        fn any_value_is_read_or_refused(value in "[-+*/^(). 0-9a_vtwo]{0,80}") {
            prop_assert!(number(&value).is_none_or(f64::is_finite));
        }
    }
}
