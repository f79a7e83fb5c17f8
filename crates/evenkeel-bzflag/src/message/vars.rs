//! Variables of the game, such as `_gravity`.

use super::bytes::emit_with;
use super::{Code, Frame, MAX_PAYLOAD, MessageError};

/// Variables that were set, in order. The server sends all of them to who joins, and later those that change.
///
/// A value is a number or an expression of other variables: [`Variables`](super::Variables) knows what it amounts to.
///
/// ```
/// use evenkeel_bzflag::message::{MessageError, SetVar, frames};
/// let mut bytes = Vec::new();
/// SetVar(vec![(b"_gravity", b"-9.8")]).emit(&mut bytes);
/// let frame = frames(&bytes).next().expect("there is one")?;
/// assert_eq!(SetVar::parse(frame)?.get("_gravity"), Some(&b"-9.8"[..]));
/// # Ok::<(), MessageError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetVar<'a>(pub Vec<(&'a [u8], &'a [u8])>);

impl<'a> SetVar<'a> {
    /// Reads it.
    pub fn parse(frame: Frame<'a>) -> Result<Self, MessageError> {
        let mut bytes = frame.expect(Code::SET_VAR)?;
        let mut vars = Vec::new();
        for _ in 0..bytes.u16("the number of variables")? {
            let length = bytes.u8("the length of a name")?;
            let name = bytes.take("a name", length.into())?;
            let length = bytes.u8("the length of a value")?;
            vars.push((name, bytes.take("a value", length.into())?));
        }
        bytes.end().map(|()| Self(vars))
    }

    /// What a variable was set to, the last time if it was more than once.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().rev().find(|(known, _)| *known == name.as_bytes()).map(|(_, value)| *value)
    }

    /// Appends it as a whole frame: as many variables as fit, but none whose name or value is longer than 255 bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut body = vec![0, 0];
        let mut count = 0u16;
        for (name, value) in &self.0 {
            let (Ok(name_length), Ok(value_length)) = (u8::try_from(name.len()), u8::try_from(value.len())) else {
                continue;
            };
            if body.len() + name.len() + value.len() + 2 > MAX_PAYLOAD {
                break;
            }
            body.push(name_length);
            body.extend_from_slice(name);
            body.push(value_length);
            body.extend_from_slice(value);
            count += 1;
        }
        body[..2].copy_from_slice(&count.to_be_bytes());
        emit_with(out, Code::SET_VAR, |out| out.append(&mut body));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_value_counts() {
        let vars = SetVar(vec![(b"_a", b"1"), (b"_b", b"2"), (b"_a", b"3")]);
        assert_eq!((vars.get("_a"), vars.get("_b"), vars.get("_c")), (Some(&b"3"[..]), Some(&b"2"[..]), None));
    }

    #[test]
    fn no_more_is_emitted_than_fits() {
        let long = [b'x'; 256];
        let mut vars = vec![(&long[..200], &long[..200]); 4];
        vars.insert(1, (&long, b"1"));
        let mut out = Vec::new();
        SetVar(vars).emit(&mut out);
        let read = SetVar::parse(Frame { code: Code::SET_VAR, payload: &out[4..] }).unwrap();
        assert_eq!(read.0, [(&long[..200], &long[..200]); 2]);
    }

    proptest! {
        #[test]
        fn variables_come_back(vars in prop::collection::vec((any::<[u8; 9]>(), any::<[u8; 3]>()), 0..70)) {
            let vars: Vec<_> = vars.iter().map(|(name, value)| (&name[..], &value[..])).collect();
            let mut out = Vec::new();
            SetVar(vars.clone()).emit(&mut out);
            prop_assert_eq!(SetVar::parse(Frame { code: Code::SET_VAR, payload: &out[4..] }), Ok(SetVar(vars)));
        }

        #[test]
        fn any_bytes_are_read_or_refused(payload: Vec<u8>) {
            if let Ok(vars) = SetVar::parse(Frame { code: Code::SET_VAR, payload: &payload }) {
                let mut out = Vec::new();
                vars.emit(&mut out);
                prop_assert_eq!(&out[4..], &payload[..]);
            }
        }
    }
}
