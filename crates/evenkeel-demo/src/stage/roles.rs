//! Who takes part besides people, and what their networks are unless somebody says otherwise.

use crate::settings::{Crowd, MAX_BOTS, Network, Settings};

/// How far away the receivers of the papers are. Milliseconds.
const PAPERS: [f64; 3] = [200.0, 500.0, 800.0];
/// How far away the bots of the internet are. Milliseconds.
const INTERNET: [f64; 8] = [20.0, 45.0, 70.0, 100.0, 130.0, 170.0, 210.0, 250.0];

/// A part in the play.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Role {
    pub(super) name: String,
    /// Unless somebody says otherwise.
    pub(super) network: Network,
    /// Whether it has a craft.
    pub(super) drives: bool,
    /// Whether what it sees is shown and measured.
    pub(super) watches: bool,
}

/// All of them, in the order in which they are shown.
pub(super) fn roles(settings: &Settings) -> Vec<Role> {
    let bot = |n: usize, network, watches| Role { name: format!("bot {}", n + 1), network, drives: true, watches };
    let near = |n: usize| bot(n, Network::NEAR, false);
    match settings.crowd {
        Crowd::Papers => {
            let receivers = PAPERS.into_iter().map(|delay| {
                let network = Network::at(delay);
                Role { name: format!("{delay} ms"), network, drives: false, watches: true }
            });
            (0..settings.bots as usize).map(near).chain(receivers).collect()
        }
        Crowd::Internet => {
            let far = INTERNET.into_iter().enumerate().map(|(n, delay)| bot(n, Network::at(delay), true));
            far.chain((INTERNET.len()..settings.bots as usize).map(near)).collect()
        }
    }
}

/// Whether a name is one of the cast's, in whatever crowd: nobody else may have it.
pub(super) fn is_reserved(name: &str) -> bool {
    let bot = name.strip_prefix("bot ").and_then(|number| number.parse().ok());
    let receiver = name.strip_suffix(" ms").and_then(|delay| delay.parse().ok());
    bot.is_some_and(|number| (1..=MAX_BOTS).contains(&number)) || receiver.is_some_and(|delay| PAPERS.contains(&delay))
}

/// Gives everybody a network: who is new gets the one of its role, who has gone loses its own, and people keep theirs.
pub(super) fn cast_networks(before: &Settings, settings: &mut Settings) {
    let old = roles(before);
    // A bot of another crowd is another one, whatever it is called.
    let same = before.crowd == settings.crowd;
    let roles = roles(settings);
    let has = |roles: &[Role], name: &String| roles.iter().any(|role| role.name == *name);
    settings.players.retain(|name, _| !is_reserved(name) || same && has(&old, name) && has(&roles, name));
    for role in roles {
        settings.players.entry(role.name).or_insert(role.network);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_a_network_and_keeps_it() {
        let mut settings = Settings { bots: 2, ..Settings::default() };
        settings.players.insert("Ada".into(), Network::at(7.0));
        cast_networks(&settings.clone(), &mut settings);
        let names: Vec<&str> = settings.players.keys().map(String::as_str).collect();
        assert_eq!(names, ["200 ms", "500 ms", "800 ms", "Ada", "bot 1", "bot 2"]);
        settings.players.insert("200 ms".into(), Network::at(250.0));
        let mut more = Settings { bots: 3, ..settings.clone() };
        cast_networks(&settings, &mut more);
        assert_eq!((more.players["200 ms"].delay_ms, more.players["bot 3"]), (250.0, Network::NEAR));
        let mut internet = Settings { crowd: Crowd::Internet, ..more.clone() };
        cast_networks(&more, &mut internet);
        assert_eq!((internet.players.len(), internet.players["bot 8"].delay_ms), (9, 250.0));
        let many = Settings { bots: 16, ..internet.clone() };
        assert_eq!(roles(&many).iter().filter(|role| role.drives).count(), 16);
        assert_eq!(roles(&many).iter().filter(|role| role.watches).count(), 8);
        assert_eq!((internet.players["bot 1"].delay_ms, internet.players["Ada"].delay_ms), (20.0, 7.0));
    }
    #[test]
    fn who_comes_back_to_the_cast_has_its_roles_network() {
        let papers = Settings { bots: 2, ..Settings::default() };
        let mut settings = papers.clone();
        // Left over from another crowd, or from more bots.
        settings.players.insert("bot 2".into(), Network::at(45.0));
        settings.players.insert("bot 8".into(), Network::at(0.0));
        let mut more = Settings { bots: 8, ..settings.clone() };
        cast_networks(&settings, &mut more);
        assert_eq!((more.players["bot 2"].delay_ms, more.players["bot 8"]), (45.0, Network::NEAR));
        let mut internet = Settings { crowd: Crowd::Internet, ..papers.clone() };
        internet.players.insert("200 ms".into(), Network::at(0.0));
        let mut back = Settings { crowd: Crowd::Papers, ..internet.clone() };
        cast_networks(&internet, &mut back);
        assert_eq!(back.players["200 ms"], Network::at(200.0));
    }

    #[test]
    fn names_of_the_cast_are_reserved_in_every_crowd() {
        for crowd in [Crowd::Papers, Crowd::Internet] {
            let cast = roles(&Settings { crowd, bots: MAX_BOTS, ..Settings::default() });
            assert!(cast.iter().all(|role| is_reserved(&role.name)), "{cast:?}");
        }
        assert!(!["Ada", "bot 17", "bot", "300 ms"].into_iter().any(is_reserved));
    }
}
