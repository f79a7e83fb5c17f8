//! What players and a referee tell each other in games whose owners move their crafts.

use evenkeel::{Duration, GlobalTime};
use evenkeel_games::arena::Field;
use evenkeel_games::words::{Word, about, craft_of, strikes};

/// A word is written as it reads, a shot stays on the field, and a game that rules describe can be played.
pub fn words(data: &[u8]) {
    if let Some(game) = craft_of(data) {
        assert_eq!(about(game), data);
    }
    let Some(word) = Word::parse(data) else { return };
    assert_eq!(word.emit(), data);
    match word {
        Word::Shot(shot) => {
            let field = Field::new(150.0);
            for millis in [-1, 0, 700, 3_499, 3_500] {
                let now = shot.at + Duration::from_millis(millis);
                if let Some(place) = shot.place(&field, now) {
                    assert!(place.max_axis() <= field.half_side());
                }
                if let Some(way) = shot.way(&field, GlobalTime::ZERO, now) {
                    assert!(strikes(way, shot.position, 3.0).is_none_or(|along| (0.0..=1.0).contains(&along)));
                }
            }
        }
        Word::Rules(rules) => {
            let craft = evenkeel_games::solo::craft(&rules, evenkeel::HostId(1)).expect("rules that were read can be");
            assert!(craft.state().is_some());
        }
        Word::Hit(_) | Word::Scores(_) => {}
    }
}
