//! A server between a fleet's owners and the receivers: it owns nothing, and passes on what reaches it over the uplink.
//!
//! Owners generate vectors by their thresholds whoever listens, so that all they say, and when it reaches the server, is known
//! before the run: a list of arrivals, one more source of moments. Stamps stay the owners', and placing stays exact.

use super::SENDER;
use super::fleet::{Fleet, id_of};
use anyhow::{Context, Result, ensure};
use evenkeel::{GlobalTime, Policy, Sender, SenderError, Threshold};
use evenkeel_link::{Conditions, Path, path_id};

/// The number of the first entity's owner in the network; far from those of the receivers.
const FIRST_OWNER: u32 = 1 << 31;

/// What an owner says. Of what arrives together, the end comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    /// One of the vectors that the life exports, by number.
    Vector(usize),
    /// The life is over.
    End,
}

/// A word that reaches the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    at: GlobalTime,
    life: usize,
    word: Word,
}

/// The server's ear: what owners say, as it arrives.
pub(super) struct Relay {
    arrivals: Vec<Arrival>,
    /// How many of them are over.
    past: usize,
    /// By life, whether its end has arrived.
    over: Vec<bool>,
    threshold: Threshold,
}

/// Whether owners can speak to a server over such an uplink. Nothing may get lost there, for nobody would send it again: an
/// entity whose end is lost would never go.
pub(crate) fn check_uplink(uplink: &Conditions) -> Result<()> {
    uplink.validate().with_context(|| format!("the uplink `{uplink}` cannot be"))?;
    let reliable = uplink.loss.rate() == 0.0 && uplink.rate.is_none();
    ensure!(reliable, "the uplink `{uplink}` loses packets: owners need a reliable way to their server");
    Ok(())
}

/// Whether a policy has its say if vectors reach it over an uplink: thresholds are out of the server's reach, and a policy that
/// stretches them would be `base` under another name.
pub(crate) fn check_policy(policy: &dyn Policy) -> Result<()> {
    let name = policy.name();
    ensure!(
        !policy.stretches_thresholds(),
        "policy `{name}` stretches thresholds, and with an uplink those are the owners': a server cannot use it"
    );
    Ok(())
}

impl Relay {
    /// Everything that a fleet's owners say, each over an uplink of its own.
    pub(super) fn new(fleet: &Fleet, uplink: &Conditions, threshold: Threshold, seed: u64) -> Result<Self> {
        check_uplink(uplink)?;
        let mut arrivals = Vec::new();
        for life in 0..fleet.lives() {
            let owner = FIRST_OWNER + fleet.owners[life] as u32;
            let way = Path::new(uplink.clone(), seed, path_id(owner, SENDER))?;
            let mut say = |sent: GlobalTime, word| arrivals.push(Arrival { at: sent + way.delay(sent), life, word });
            for (number, (due, _)) in fleet.triggers(life).iter().enumerate() {
                say(*due, Word::Vector(number));
            }
            say(fleet.life_span(life).1, Word::End);
        }
        arrivals.sort_unstable();
        Ok(Self { arrivals, past: 0, over: vec![false; fleet.lives()], threshold })
    }

    /// When the next word arrives.
    pub(super) fn due(&self) -> Option<GlobalTime> {
        self.arrivals.get(self.past).map(|arrival| arrival.at)
    }

    /// Tells the sender what has arrived by now. Answers which lives are over: the sender may forget them once it has sent
    /// what it has about them.
    pub(super) fn hear(&mut self, fleet: &Fleet, sender: &mut Sender, now: GlobalTime) -> Result<Vec<usize>> {
        let mut ended = Vec::new();
        while let Some(&Arrival { life, word, .. }) = self.arrivals.get(self.past).filter(|arrival| arrival.at <= now) {
            self.past += 1;
            match word {
                Word::End => {
                    self.over[life] = true;
                    ended.push(life);
                }
                // Whatever the end has overtaken would bring the dead back.
                Word::Vector(_) if self.over[life] => {}
                Word::Vector(number) => self.pass_on(fleet, sender, life, number, now)?,
            }
        }
        Ok(ended)
    }

    fn pass_on(&self, fleet: &Fleet, sender: &mut Sender, life: usize, number: usize, now: GlobalTime) -> Result<()> {
        let (id, (generated, motion)) = (id_of(life), &fleet.exported(life)[number]);
        if sender.ledger().entity(id).is_none() {
            sender.add_entity(id, self.threshold, now)?;
        }
        match sender.relay(id, motion, *generated, now) {
            // A newer one has overtaken it.
            Ok(()) | Err(SenderError::StaleVector(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::make_policy;
    use crate::workload::Motion;
    use crate::world::{Outcome, Rules, Setting, film, run};
    use evenkeel::policy::Budget;
    use evenkeel::{Duration, SenderConfig};

    fn millis(ms: i64) -> Conditions {
        Conditions::delay(Duration::from_millis(ms))
    }

    fn setting<'a>(fleet: &'a Fleet, policy: &str, paths: &'a [Conditions], up: Option<&'a Conditions>) -> Setting<'a> {
        let policy = make_policy(policy, &[], Budget::of_base(1, 3), 1).unwrap();
        let (rules, origin) = (Rules::default(), GlobalTime::ZERO);
        Setting { fleet, rules, policy, paths, uplink: up, seed: 1, origin, recorder: None }
    }

    fn fleet(motion: Motion) -> Fleet {
        Fleet::new("all".into(), motion.entities(3, 60.0, 4), &Rules::default()).unwrap()
    }

    fn run_one(fleet: &Fleet, policy: &str, delays_ms: &[i64], uplink: Option<&Conditions>) -> Outcome {
        let paths: Vec<Conditions> = delays_ms.iter().map(|ms| millis(*ms)).collect();
        run(setting(fleet, policy, &paths, uplink)).unwrap()
    }

    /// Many short lives, each with an end of its own, are in `shots`.
    const MOTIONS: [Motion; 3] = [Motion::Tank, Motion::Spaceship, Motion::Shots];

    #[test]
    fn an_uplink_is_so_much_more_delay_for_everybody() {
        for (motion, up) in MOTIONS.into_iter().zip([300, 33, 100]) {
            let fleet = fleet(motion);
            let through = run_one(&fleet, "base", &[500, 200, 20], Some(&millis(up)));
            let direct = run_one(&fleet, "base", &[500 + up, 200 + up, 20 + up], None);
            for (a, b) in through.receivers.iter().zip(&direct.receivers) {
                assert!((a.export_error - b.export_error).abs() < 1e-6, "{motion:?}: {a:?} {b:?}");
                assert!((a.real_error - b.real_error).abs() < 1e-6, "{motion:?}: {a:?} {b:?}");
                assert!((a.shown - b.shown).abs() < 1e-6 && a.export_error > 0.0, "{motion:?}: {a:?} {b:?}");
            }
            assert!((through.spread - direct.spread).abs() < 1e-6, "{motion:?}");
        }
    }

    /// Not so `even`, which tells heartbeats from changes: a relayed vector does not say why it was due.
    #[test]
    fn without_delay_it_is_as_if_the_server_owned_everything() {
        for motion in MOTIONS {
            let fleet = fleet(motion);
            for policy in ["base", "base/3"] {
                let through = run_one(&fleet, policy, &[250, 100, 0], Some(&Conditions::ideal()));
                let direct = run_one(&fleet, policy, &[250, 100, 0], None);
                assert_eq!((through.vectors, &through.entities), (direct.vectors, &direct.entities), "{policy}");
                assert_eq!(through.receivers, direct.receivers, "{motion:?} under {policy}");
            }
        }
    }

    #[test]
    fn the_vectors_about_all_entities_are_all_vectors() {
        let fleet = fleet(Motion::Shots);
        for uplink in ["delay=400ms", "delay=200ms,jitter=uniform:150ms"] {
            let outcome = run_one(&fleet, "even", &[250, 100], Some(&uplink.parse().unwrap()));
            assert_eq!(outcome.entities.iter().map(|party| party.vectors).sum::<u64>(), outcome.vectors);
        }
    }

    /// Vectors overtake each other, and ends overtake vectors.
    #[test]
    fn what_was_overtaken_on_the_way_up_is_dropped() {
        let jittery: Conditions = "delay=200ms,jitter=uniform:190ms".parse().unwrap();
        for motion in MOTIONS {
            let fleet = fleet(motion);
            let steady = run_one(&fleet, "base", &[250, 100], Some(&millis(200)));
            let base = run_one(&fleet, "base", &[250, 100], Some(&jittery));
            assert!(base.vectors <= steady.vectors, "{motion:?}");
            for (seen, steady) in base.receivers.iter().zip(&steady.receivers) {
                let off = seen.export_error / steady.export_error;
                assert!((0.5..2.0).contains(&off), "{motion:?}: {seen:?} {steady:?}");
                assert!((seen.shown / steady.shown - 1.0).abs() < 0.2, "{motion:?}: {seen:?} {steady:?}");
            }
            for policy in ["base/3", "even"] {
                let outcome = run_one(&fleet, policy, &[250, 100], Some(&jittery));
                for (seen, base) in outcome.receivers.iter().zip(&base.receivers) {
                    let off = seen.export_error / base.export_error;
                    assert!((0.9..20.0).contains(&off), "{motion:?} under {policy}: {seen:?} {base:?}");
                }
            }
        }
        let [jittery, steady] =
            [jittery, millis(200)].map(|up| run_one(&fleet(Motion::Tank), "base", &[250], Some(&up)));
        assert!(jittery.vectors < steady.vectors, "nothing was dropped");
    }

    #[test]
    fn the_end_comes_last_and_nothing_comes_after_it() {
        let fleet = fleet(Motion::Shots);
        let jittery: Conditions = "delay=200ms,jitter=uniform:190ms".parse().unwrap();
        let mut relay = Relay::new(&fleet, &jittery, Threshold::default(), 1).unwrap();
        let mut sender =
            Sender::new(SenderConfig { format: crate::world::format(), ..SenderConfig::default() }).unwrap();
        let mut ends = 0;
        while let Some(now) = relay.due() {
            for life in relay.hear(&fleet, &mut sender, now).unwrap() {
                ends += 1;
                if sender.ledger().entity(id_of(life)).is_some() {
                    sender.remove_entity(id_of(life), now).unwrap();
                }
            }
        }
        assert_eq!((ends, sender.ledger().entity_count()), (fleet.lives(), 0));
    }

    #[test]
    fn films_are_shot_there_too() {
        let (fleet, paths, up) = (fleet(Motion::Tank), [millis(100)], millis(200));
        let (outcome, film) = film(setting(&fleet, "base", &paths, Some(&up))).unwrap();
        assert!(film.distances(0).count() > 1000 && outcome.vectors > 0);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let (fleet, paths) = (fleet(Motion::Tank), [millis(100)]);
        for (policy, uplink, why) in
            [("base", "delay=50ms,loss=1%", "loses packets"), ("tolerance", "delay=50ms", "stretches thresholds")]
        {
            let uplink: Conditions = uplink.parse().unwrap();
            let error = run(setting(&fleet, policy, &paths, Some(&uplink))).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        let never = Conditions::delay(Duration::from_millis(-5));
        assert!(run(setting(&fleet, "base", &paths, Some(&never))).is_err());
    }
}
