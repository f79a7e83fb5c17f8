//! What was found, in every form.

use super::announce::printable;
use crate::lab::Report;
use anyhow::Result;
use evenkeel_bzflag::testbed::{Drawn, Tally};
use evenkeel_bzflag::{DeciderSummary, ShotSummary, Summary};
use evenkeel_lab::report::{Sheet, VERSION};
use evenkeel_lab::study::Exhibit;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const NOTE: &str = "Distances are between where a tank is and where a client shows it, from what the client was sent, when that \
                    arrived and the game's own rule of placing: to within one of its frames, which is 0.4 m for a tank at full \
                    speed and 60 frames a second. Only the decider that is live was really obeyed; the others are measured \
                    on the same movement.";

/// What a relay's run found.
pub(super) struct Findings {
    pub(super) title: String,
    pub(super) summary: Summary,
    pub(super) seconds: f64,
    pub(super) settings: Vec<(String, String)>,
    /// What the testbed knows besides.
    pub(super) game: Option<Game>,
}

/// What happened around the relay.
pub(super) struct Game {
    /// The clients by name, and the delay that each was put under, one way.
    pub(super) delays_ms: Vec<(String, f64)>,
    pub(super) tallies: BTreeMap<String, Tally>,
    /// What the clients themselves say they drew, by name.
    pub(super) drawn: BTreeMap<String, Drawn>,
    /// Shares of one core.
    pub(super) cpu: Vec<(String, f64)>,
    /// What should not have happened: players removed, tanks that did not respond.
    pub(super) trouble: Vec<String>,
}

impl Findings {
    fn sheet(&self) -> Sheet {
        let mut exhibits = vec![self.deciders(), self.by_client(), self.spread(), self.clients(), self.shots()];
        if let Some(game) = &self.game {
            exhibits.insert(1, self.drawn(game));
            exhibits.extend([game.players(), game.programs()]);
            exhibits.extend((!game.trouble.is_empty()).then(|| game.troubles()));
        }
        let (title, settings) = (self.title.clone(), self.settings.clone());
        Sheet { title, summary: self.verdict(), note: NOTE.into(), exhibits, settings }
    }

    fn find(&self, name: &str) -> Option<&DeciderSummary> {
        self.summary.deciders.iter().find(|decider| decider.name == name && decider.max_m > 0.0)
    }

    /// What the accuracy model gains, who is fairest for less, and whether anything went wrong.
    fn verdict(&self) -> String {
        let mut words = Vec::new();
        if let (Some(today), Some(model)) = (self.find("today"), self.find("accuracy model")) {
            words.push(format!(
                "The accuracy model brings the mean error from {:.2} m to {:.2} m ({:+.0} %), and its standard deviation over \
                 clients from {:.2} m to {:.2} m.",
                today.mean_m,
                model.mean_m,
                100.0 * (model.mean_m / today.mean_m - 1.0),
                today.std_m,
                model.std_m
            ));
        }
        if let (Some(third), Some(even)) = (self.find("base/3"), self.find("even")) {
            words.push(format!(
                "With {} updates `even` is off by {:.2} m with a standard deviation of {:.2} m; every third update, {} of them, by \
                 {:.2} m with {:.2} m.",
                even.updates, even.mean_m, even.std_m, third.updates, third.mean_m, third.std_m
            ));
        }
        if let Some(game) = &self.game {
            words.push(match game.trouble.len() {
                0 => format!(
                    "Nobody was removed, and no tank was said not to respond. What passed stayed in the relay for {:.0} microseconds \
                     on average.",
                    self.summary.added_latency.mean_us
                ),
                count => format!("Something went wrong {count} times: see below."),
            });
        }
        if words.is_empty() && self.summary.deciders.iter().all(|decider| decider.max_m == 0.0) {
            words.push("Nothing was seen by anybody for long enough to be judged.".into());
        }
        words.join(" ")
    }

    fn deciders(&self) -> Exhibit {
        let head = ["decider", "mean, m", "std", "max", "p99", "updates", "of due, %", "kB", "unseen, s", "live"];
        let row = |decider: &DeciderSummary| {
            let p99 = decider.clients.iter().map(|client| client.p99_m).fold(0.0, f64::max);
            let unseen = decider.clients.iter().fold(0.0, |sum, client| sum + client.unseen_seconds);
            let share = 100.0 * decider.updates as f64 / decider.due.max(1) as f64;
            let mut cells = vec![decider.name.clone()];
            cells.extend([decider.mean_m, decider.std_m, decider.max_m].map(|metres| format!("{metres:.3}")));
            cells.extend([format!("{p99:.2}"), decider.updates.to_string()]);
            cells.extend([format!("{share:.1}"), format!("{:.0}", decider.bytes as f64 / 1e3), format!("{unseen:.1}")]);
            cells.push(if decider.live { "live" } else { "" }.into());
            cells
        };
        let note = "Mean, standard deviation and maximum over clients of each client's mean error; p99 is that of the worst client. \
                    Unseen: for how long living tanks were not shown at all, added up over clients and tanks.";
        table("Deciders", note, &head, self.summary.deciders.iter().map(row).collect())
    }

    fn by_client(&self) -> Exhibit {
        let deciders = &self.summary.deciders;
        let clients = deciders.first().map_or(&[][..], |decider| &decider.clients[..]);
        let groups = clients.iter().map(|client| self.named(&client.name)).collect();
        let means = |decider: &DeciderSummary| decider.clients.iter().map(|client| client.mean_m).collect();
        let bars = deciders.iter().map(|decider| (decider.name.clone(), means(decider))).collect();
        Exhibit::Bars {
            title: "Mean error of each client".into(),
            note: String::new(),
            x: "client".into(),
            y: "metres".into(),
            groups,
            bars,
        }
    }

    fn spread(&self) -> Exhibit {
        let values = |decider: &DeciderSummary| vec![decider.mean_m, decider.std_m, decider.max_m];
        let bars = self.summary.deciders.iter().map(|decider| (decider.name.clone(), values(decider))).collect();
        Exhibit::Bars {
            title: "Accuracy and fairness".into(),
            note: "Of the clients' mean errors.".into(),
            x: "over clients".into(),
            y: "metres".into(),
            groups: ["mean", "standard deviation", "maximum"].map(String::from).to_vec(),
            bars,
        }
    }

    fn clients(&self) -> Exhibit {
        let head = ["client", "RTT, ms", "decider", "mean, m", "p99", "largest", "seen, s", "unseen, s", "updates"];
        let mut rows = Vec::new();
        for decider in &self.summary.deciders {
            for client in &decider.clients {
                let trip = self.round_trip(&client.name).map_or_else(|| "-".into(), |ms| format!("{ms:.1}"));
                let mut cells = vec![self.named(&client.name), trip, decider.name.clone()];
                cells.extend([format!("{:.3}", client.mean_m), format!("{:.2}", client.p99_m)]);
                cells.push(format!("{:.2}", client.largest_m));
                cells.extend([client.seconds, client.unseen_seconds].map(|seconds| format!("{seconds:.1}")));
                cells.push(client.updates.to_string());
                rows.push(cells);
            }
        }
        let note =
            "RTT: the round trip as measured, a share of the client's frame included. Seen: added up over tanks.";
        table("Clients", note, &head, rows)
    }

    /// What the clients drew, beside what the relay says that they show.
    fn drawn(&self, game: &Game) -> Exhibit {
        let head = ["client", "drawn: mean, m", "median", "p99", "by the relay: mean, m"];
        let live = self.summary.deciders.iter().find(|decider| decider.live);
        let shown = |name: &str| live?.clients.iter().find(|client| client.name == name).map(|client| client.mean_m);
        let row = |(name, drawn): (&String, &Drawn)| {
            let mut cells = vec![self.named(name)];
            cells.extend([drawn.mean_m, drawn.median_m, drawn.p99_m].map(|metres| format!("{metres:.3}")));
            cells.push(shown(name).map_or_else(|| "-".into(), |metres| format!("{metres:.3}")));
            cells
        };
        let title = format!("What the clients drew, by {}", live.map_or("", |decider| &decider.name));
        let note = "Every client wrote down, frame by frame, where its radar showed its own tank and everybody else's: the one's own place \
                    is the truth about what the others show of it. Nothing of it comes from the relay. Heights do not count.";
        table(&title, note, &head, game.drawn.iter().map(row).collect())
    }

    fn shots(&self) -> Exhibit {
        let head = ["client", "shots", "off by, m", "if advanced, m", "would jump, m"];
        let row = |shots: &ShotSummary| {
            let mut cells = vec![self.named(&shots.client), shots.count.to_string()];
            cells.extend([shots.mean_m, shots.advanced_mean_m, shots.jump_m].map(|metres| format!("{metres:.2}")));
            cells
        };
        let note = "Shots pass as they are, and are shown as late as they come. Advanced ones would be where they are, but would have jumped over \
                    whatever stood before the barrel.";
        table("Shots", note, &head, self.summary.shots.iter().map(row).collect())
    }

    fn round_trip(&self, client: &str) -> Option<f64> {
        self.summary.round_trips_ms.iter().find(|(name, _)| name == client).map(|(_, ms)| *ms)
    }

    /// A client, with the delay that it was put under.
    fn named(&self, client: &str) -> String {
        let delays = self.game.iter().flat_map(|game| &game.delays_ms);
        let delay = delays.filter(|(name, _)| name == client).map(|(_, ms)| format!(", {ms} ms")).next();
        printable(client) + &delay.unwrap_or_default()
    }
}

impl Game {
    fn players(&self) -> Exhibit {
        let head = ["player", "spawned", "killed", "died", "score"];
        let row = |(name, tally): (&String, &Tally)| {
            let mut cells = vec![printable(name)];
            cells.extend([tally.spawned, tally.killed, tally.died].map(|count| count.to_string()));
            cells.push((i64::from(tally.killed) - i64::from(tally.died)).to_string());
            cells
        };
        let note = "As the server told everybody; the score is kills less deaths.";
        // One who only watches is no player.
        let rows = self.tallies.iter().filter(|(_, tally)| tally.spawned > 0).map(row).collect();
        table("Players", note, &head, rows)
    }

    fn programs(&self) -> Exhibit {
        let row = |(who, share): &(String, f64)| vec![who.clone(), format!("{:.1}", 100.0 * share)];
        table(
            "Processor time",
            "Over the whole match.",
            &["program", "% of a core"],
            self.cpu.iter().map(row).collect(),
        )
    }

    fn troubles(&self) -> Exhibit {
        let rows = self.trouble.iter().map(|line| vec![printable(line)]).collect();
        table("What went wrong", "", &["in the logs"], rows)
    }

    fn json(&self) -> Value {
        let tally = |(name, tally): (&String, &Tally)| {
            let Tally { joined, spawned, died, killed, left } = tally;
            json!({ "name": name, "joined": joined, "spawned": spawned, "died": died, "killed": killed, "left": left })
        };
        let drawn = |(name, drawn): (&String, &Drawn)| {
            let Drawn { marks, mean_m, median_m, p99_m } = drawn;
            json!({ "client": name, "marks": marks, "mean_m": mean_m, "median_m": median_m, "p99_m": p99_m })
        };
        json!({
            "delays_ms": self.delays_ms,
            "drawn": self.drawn.iter().map(drawn).collect::<Vec<_>>(),
            "players": self.tallies.iter().map(tally).collect::<Vec<_>>(),
            "cpu_share": self.cpu,
            "trouble": self.trouble,
        })
    }
}

fn table(title: &str, note: &str, head: &[&str], rows: Vec<Vec<String>>) -> Exhibit {
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    Exhibit::Table { title: title.into(), note: note.into(), head, rows }
}

impl Report for Findings {
    /// An object with `version` (of this form), `program`, `settings`, `seconds`, `summary` and, of a testbed, `game`.
    fn json(&self) -> Value {
        let settings: Map<String, Value> =
            self.settings.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        let mut all = json!({
            "version": 1,
            "program": VERSION,
            "settings": settings,
            "seconds": self.seconds,
            "summary": self.summary,
        });
        if let Some(game) = &self.game {
            all["game"] = game.json();
        }
        all
    }

    /// One line per decider and client.
    fn csv(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = "decider,live,client,round_trip_ms,mean_m,p99_m,largest_m,seconds,unseen_seconds,updates,bytes";
        writer.write_record(head.split(','))?;
        for decider in &self.summary.deciders {
            for client in &decider.clients {
                let trip = self.round_trip(&client.name).map_or_else(String::new, |ms| ms.to_string());
                let mut record = vec![decider.name.clone(), decider.live.to_string(), client.name.clone(), trip];
                record.extend([client.mean_m, client.p99_m, client.largest_m].map(|metres| metres.to_string()));
                record.extend([client.seconds, client.unseen_seconds].map(|seconds| seconds.to_string()));
                record.extend([client.updates, client.bytes].map(|count| count.to_string()));
                writer.write_record(&record)?;
            }
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }

    fn html(&self) -> String {
        self.sheet().to_html()
    }

    fn text(&self) -> String {
        self.sheet().to_text()
    }
}
