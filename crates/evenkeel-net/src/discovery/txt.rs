//! A session as the TXT record of its announcement, and back. Whatever comes from the network is checked here.

use crate::protocol::{MAX_TAGS, Model, SessionInfo, Tags, VERSION};
use data_encoding::HEXLOWER;

/// One property is no longer, with its name and the sign between: a length byte counts it.
const MAX_PROPERTY: usize = 255;
/// All properties together are no longer: with the other records they must fit into one packet.
const MAX_TXT: usize = 1_000;
/// What the names of the game's own tags begin with here.
const TAG: &str = "x-";

/// A session, and the certificate of the server that says it has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) session: SessionInfo,
    pub(super) hash: [u8; 32],
}

/// The properties to announce. Tags that a TXT record cannot hold, or not all of them, are left out.
pub(super) fn write(session: &SessionInfo, hash: &[u8; 32]) -> Vec<(String, String)> {
    let flag = |so: bool| u8::from(so).to_string();
    let model = Model::ALL.iter().find(|(_, model)| *model == session.model).map_or("", |(name, _)| name);
    let own = [
        ("v", VERSION.to_string()),
        ("s", session.name.clone()),
        ("m", model.to_owned()),
        ("p", session.players.to_string()),
        ("n", session.max_players.to_string()),
        ("t", flag(session.token)),
        ("d", flag(session.draining)),
        ("h", HEXLOWER.encode(hash)),
    ];
    let mut properties: Vec<(String, String)> = own.map(|(name, value)| (name.to_owned(), value)).into();
    let mut left = MAX_TXT.saturating_sub(properties.iter().map(size).sum());
    for (name, value) in &session.tags {
        let property = (format!("{TAG}{name}"), value.clone());
        let clash = properties.iter().any(|(other, _)| other.eq_ignore_ascii_case(&property.0));
        let sayable = name.bytes().all(|byte| (b' '..=b'~').contains(&byte) && byte != b'=');
        if sayable && !clash && size(&property) <= left.min(MAX_PROPERTY + 1) {
            left -= size(&property);
            properties.push(property);
        }
    }
    properties
}

/// What a property takes, with its length byte and the sign between.
fn size((name, value): &(String, String)) -> usize {
    name.len() + value.len() + 2
}

/// What properties say, if it is of our version and makes sense. Nothing else is believed.
pub(super) fn read<'a>(properties: impl Iterator<Item = (&'a str, &'a [u8])> + Clone) -> Option<Claim> {
    let text = |wanted: &str| {
        let (_, value) = properties.clone().find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
        std::str::from_utf8(value).ok()
    };
    if text("v")?.parse() != Ok(VERSION) {
        return None;
    }
    let hash = HEXLOWER.decode(text("h")?.as_bytes()).ok()?.try_into().ok()?;
    let (_, model) = Model::ALL.into_iter().find(|(name, _)| Some(*name) == text("m"))?;
    let session = SessionInfo {
        name: text("s")?.to_owned(),
        model,
        players: text("p")?.parse().ok()?,
        max_players: text("n")?.parse().ok()?,
        token: flag(text("t")?)?,
        draining: flag(text("d")?)?,
        tags: tags(properties.clone())?,
    };
    let sayable = !session.name.chars().any(char::is_control);
    (sayable && session.check().is_ok()).then_some(Claim { session, hash })
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn tags<'a>(properties: impl Iterator<Item = (&'a str, &'a [u8])>) -> Option<Tags> {
    let mut tags = Tags::new();
    for (name, value) in properties {
        let Some(name) = name.strip_prefix(TAG) else { continue };
        let value = std::str::from_utf8(value).ok()?;
        tags.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        if tags.len() > MAX_TAGS {
            return None;
        }
    }
    Some(tags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn session(tags: &[(&str, &str)]) -> SessionInfo {
        let tags = tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let model = Model::Hybrid;
        SessionInfo {
            name: "Hügel = 3".into(),
            model,
            players: 3,
            max_players: 8,
            token: true,
            tags,
            ..Default::default()
        }
    }

    fn read_back(properties: &[(String, String)]) -> Option<Claim> {
        read(properties.iter().map(|(name, value)| (name.as_str(), value.as_bytes())))
    }

    #[test]
    fn what_is_announced_is_read() {
        let session = session(&[("map", "hills = high"), ("Mode", "")]);
        let read = read_back(&write(&session, &[7; 32])).unwrap();
        assert_eq!(read, Claim { session, hash: [7; 32] });
    }

    #[test]
    fn tags_that_do_not_fit_are_left_out_and_the_rest_stays() {
        let long = "x".repeat(256);
        let odd = session(&[("a", "1"), ("b=c", "2"), ("long", &long), ("ä", "3"), ("Z", "4"), ("z", "5")]);
        let read = read_back(&write(&odd, &[7; 32])).unwrap();
        let kept: Vec<&str> = read.session.tags.values().map(String::as_str).collect();
        assert_eq!(kept, ["4", "1"], "by name");
        let much: Tags = (0..16).map(|n| (n.to_string(), "x".repeat(200))).collect();
        let properties = write(&SessionInfo { tags: much, ..odd }, &[7; 32]);
        assert!(properties.iter().map(size).sum::<usize>() <= MAX_TXT);
        assert!(properties.len() > 9 && read_back(&properties).is_some());
    }

    #[test]
    fn what_makes_no_sense_is_not_believed() {
        let good = write(&session(&[]), &[7; 32]);
        for (name, value) in [
            ("v", "9"),
            ("s", ""),
            ("s", "a\nb"),
            ("m", "anarchy"),
            ("p", "-1"),
            ("n", "5000000000"),
            ("t", "yes"),
            ("h", "07"),
            ("h", "zz"),
        ] {
            let change = |(n, v): &(String, String)| (n.clone(), if n == name { value.into() } else { v.clone() });
            let bad: Vec<(String, String)> = good.iter().map(change).collect();
            assert_eq!(read_back(&bad), None, "{name}={value}");
            let missing: Vec<_> = good.iter().filter(|(n, _)| n != name).cloned().collect();
            assert_eq!(read_back(&missing), None, "no {name}");
        }
        let many: Vec<_> = good.into_iter().chain((0..17).map(|n| (format!("x-{n}"), String::new()))).collect();
        assert_eq!(read_back(&many), None);
    }

    proptest! {
        #[test]
        fn any_properties_are_read_or_not(
            bytes in prop::collection::vec(("[vsmpntdh]|x-[a-z]{0,70}", prop::collection::vec(any::<u8>(), 0..80)), 0..20)
        ) {
            if let Some(claim) = read(bytes.iter().map(|(name, value)| (name.as_str(), value.as_slice()))) {
                prop_assert!(claim.session.check().is_ok());
            }
        }
    }
}
