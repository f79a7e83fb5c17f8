//! What all pages are shown: the stage as it plays, or a recording instead. One task, through which everything goes that
//! pages ask for.

use crate::feed::{Frame, State, Text};
use crate::recording::{Film, Recordings, Replay, Scene};
use crate::stage::{Play, Stage};
use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// So many texts wait for a page that is slow; older ones it does not get.
const WAITING_TEXTS: usize = 64;
/// So many wishes of pages wait.
const WAITING_ORDERS: usize = 64;

/// A frame, ready to be sent.
#[derive(Clone, Default)]
pub(super) struct Picture {
    /// Which state it belongs to.
    pub(super) generation: u64,
    pub(super) bytes: Bytes,
}

/// A state, ready to be sent.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) generation: u64,
    pub(super) text: Utf8Bytes,
}

/// What a page asks for.
pub(super) enum Order {
    Set(Value),
    Reset,
    Record,
    StopRecording,
    Open(Box<Replay>),
    CloseRecording,
}

enum Asked {
    Order(Order, oneshot::Sender<Result<(), String>>),
    Play(oneshot::Sender<Play>),
}

/// What there is to see, and somebody to ask.
#[derive(Clone)]
pub(super) struct Screen {
    pub(super) states: watch::Receiver<Known>,
    pub(super) pictures: watch::Receiver<Picture>,
    texts: broadcast::Sender<Utf8Bytes>,
    asked: mpsc::Sender<Asked>,
}

impl Screen {
    /// Takes over the stage, and gives it back when it is told to stop.
    pub(super) fn start(
        stage: Stage,
        recordings: Arc<Recordings>,
        seed: u64,
    ) -> (Self, oneshot::Sender<()>, JoinHandle<Stage>) {
        let (asked, questions) = mpsc::channel(WAITING_ORDERS);
        let (stop, stopped) = oneshot::channel();
        let mut director = Director::new(stage, recordings, seed);
        let (states, pictures) = (director.states.subscribe(), director.pictures.subscribe());
        let texts = director.texts.clone();
        director.tell_state();
        let task = tokio::spawn(director.run(questions, stopped));
        (Self { states, pictures, texts, asked }, stop, task)
    }

    /// What is said from now on.
    pub(super) fn texts(&self) -> broadcast::Receiver<Utf8Bytes> {
        self.texts.subscribe()
    }

    /// Asks for something; if it cannot be, why.
    pub(super) async fn ask(&self, order: Order) -> Result<(), String> {
        let (answer, answered) = oneshot::channel();
        let gone = |_| "the demo is stopping".to_owned();
        self.asked.send(Asked::Order(order, answer)).await.map_err(|_| gone(()))?;
        answered.await.map_err(|_| gone(()))?
    }

    /// Where to play; nothing while the demo stops.
    pub(super) async fn play(&self) -> Option<Play> {
        let (answer, answered) = oneshot::channel();
        self.asked.send(Asked::Play(answer)).await.ok()?;
        answered.await.ok()
    }
}

/// Who decides what is shown.
struct Director {
    stage: Stage,
    recordings: Arc<Recordings>,
    seed: u64,
    states: watch::Sender<Known>,
    pictures: watch::Sender<Picture>,
    texts: broadcast::Sender<Utf8Bytes>,
    /// Of what is shown. The stage counts for itself.
    generation: u64,
    /// What the stage is made of.
    live: Arc<State>,
    /// What is being recorded.
    film: Option<Film>,
    /// What is shown instead of the stage.
    replay: Option<Box<Replay>>,
}

impl Director {
    fn new(stage: Stage, recordings: Arc<Recordings>, seed: u64) -> Self {
        Self {
            live: stage.state(),
            stage,
            recordings,
            seed,
            states: watch::channel(Known::default()).0,
            pictures: watch::channel(Picture::default()).0,
            texts: broadcast::channel(WAITING_TEXTS).0,
            generation: 0,
            film: None,
            replay: None,
        }
    }

    async fn run(mut self, mut asked: mpsc::Receiver<Asked>, mut stopped: oneshot::Receiver<()>) -> Stage {
        let (mut frames, mut texts) = (self.stage.frames(), self.stage.texts());
        loop {
            let due = self.replay.as_ref().map(|replay| replay.due());
            let replayed = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                _ = &mut stopped => break,
                Some(asked) = asked.recv() => self.answer(asked),
                text = texts.recv() => match text {
                    Ok(text) => self.hear(&text),
                    Err(broadcast::error::RecvError::Lagged(_)) => self.look(),
                    Err(broadcast::error::RecvError::Closed) => break,
                },
                changed = frames.changed() => match changed {
                    Ok(()) => {
                        let frame = frames.borrow_and_update().clone();
                        self.see(&frame);
                    }
                    Err(_) => break,
                },
                () = replayed => self.replay(),
            }
        }
        self.stage
    }

    fn answer(&mut self, asked: Asked) {
        match asked {
            // Whoever has gone in the meantime needs no answer.
            Asked::Play(answer) => drop(answer.send(self.stage.play())),
            Asked::Order(order, answer) => drop(answer.send(self.follow(order))),
        }
    }

    fn follow(&mut self, order: Order) -> Result<(), String> {
        let busy = || Err("a recording is open: close it first".to_owned());
        match order {
            Order::CloseRecording if self.replay.is_none() => return Err("no recording is open".into()),
            Order::CloseRecording => {
                self.replay = None;
                self.tell_state();
            }
            Order::Open(_) if self.film.is_some() => return Err("this run is being recorded: stop that first".into()),
            Order::Open(replay) => {
                let opened = format!("{} is open: {}", replay.name(), replay.about());
                self.replay = Some(replay);
                self.tell(&Text::News { text: opened });
            }
            _ if self.replay.is_some() => return busy(),
            Order::Set(patch) => self.stage.set(&patch).map_err(|error| error.to_string())?,
            Order::Reset => self.stage.reset(),
            Order::Record if self.film.is_some() => return Err("it is being recorded already".into()),
            Order::Record => {
                self.film = Some(Film::begin(&self.recordings, &self.live, self.seed)?);
                self.tell_state();
            }
            Order::StopRecording => {
                let film = self.film.take().ok_or("nothing is being recorded")?;
                self.finish(film);
            }
        }
        Ok(())
    }

    /// The stage has something to say.
    fn hear(&mut self, text: &Text) {
        if let Text::State(state) = text {
            // A picture may have been quicker to tell.
            if **state == *self.live {
                return;
            }
            self.live = Arc::new((**state).clone());
            self.film(|film| film.state(state));
            if self.replay.is_none() {
                self.tell_state();
            }
            return;
        }
        self.film(|film| film.text(text));
        if self.replay.is_none() {
            self.tell(text);
        }
    }

    /// The stage said more than was listened to: what it is made of may be new.
    fn look(&mut self) {
        let state = (*self.stage.state()).clone();
        self.hear(&Text::State(Box::new(state)));
    }

    /// The stage has a picture. Its state may be under way still.
    fn see(&mut self, frame: &Frame) {
        if frame.generation != self.live.generation {
            self.look();
        }
        if frame.generation != self.live.generation {
            return;
        }
        self.film(|film| film.frame(frame));
        if self.replay.is_none() {
            self.show(frame.clone());
        }
    }

    /// What is due of the recording that is shown.
    fn replay(&mut self) {
        let Some(replay) = &mut self.replay else { return };
        match replay.advance(Instant::now()) {
            Ok(None) => {}
            Ok(Some(Scene::State)) => self.tell_state(),
            Ok(Some(Scene::Frame(frame))) => self.show(frame),
            Ok(Some(Scene::Text(text))) => self.tell(&text),
            Err(why) => {
                let text = format!("{} cannot be shown any longer: {why}", replay.name());
                self.replay = None;
                self.tell(&Text::News { text });
                self.tell_state();
            }
        }
    }

    /// Has the film, if there is one, take something; at its end it is finished.
    fn film(&mut self, take: impl FnOnce(&mut Film) -> Result<(), String>) {
        let Some(film) = &mut self.film else { return };
        if let Err(why) = take(film) {
            self.tell(&Text::News { text: format!("The recording stopped: {why}") });
            if let Some(film) = self.film.take() {
                self.finish(film);
            }
        }
    }

    fn finish(&mut self, film: Film) {
        match film.finish() {
            Ok(file) => {
                let url = format!("/recordings/{file}");
                self.tell(&Text::Recorded { file, url });
            }
            Err(why) => self.tell(&Text::News { text: format!("The recording is lost: {why}") }),
        }
        self.tell_state();
    }

    fn tell_state(&mut self) {
        self.generation += 1;
        let shown = self.replay.as_ref().map_or(&*self.live, |replay| replay.state());
        let state = State {
            generation: self.generation,
            recording: self.film.is_some(),
            opened: self.replay.as_ref().map(|replay| replay.name().to_owned()),
            ..shown.clone()
        };
        let text = written(&Text::State(Box::new(state)));
        self.states.send_replace(Known { generation: self.generation, text });
    }

    fn show(&self, frame: Frame) {
        let frame = Frame { generation: self.generation, ..frame };
        self.pictures.send_replace(Picture { generation: self.generation, bytes: frame.encode().into() });
    }

    fn tell(&self, text: &Text) {
        // Nobody may be listening.
        let _ = self.texts.send(written(text));
    }
}

/// As the page reads it.
pub(super) fn written(text: &impl Serialize) -> Utf8Bytes {
    // Nothing that is said has a form that JSON lacks.
    serde_json::to_string(text).unwrap_or_default().into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::feed::Score;
    use crate::settings::Settings;
    use crate::stage::StageConfig;

    #[tokio::test(flavor = "multi_thread")]
    async fn scores_that_were_missed_are_looked_up() {
        let address = "127.0.0.1:0".parse().unwrap();
        let settings = Settings { bots: 1, right: None, ..Settings::default() };
        let config = StageConfig { settings, address, websocket: None, seed: 1, lan_names: Vec::new() };
        let stage = Stage::start(config).await.unwrap();
        let mut director = Director::new(stage, Arc::new(Recordings::new().unwrap()), 1);
        let state = director.stage.state();
        let scores = vec![Score { id: 99, hits: 9, deaths: 9 }];
        director.live = Arc::new(State { scores: scores.clone(), ..(*state).clone() });
        director.look();
        assert_ne!(director.live.scores, scores);
        assert_eq!(director.generation, 1, "pages are told");
        director.stage.stop().await;
    }
}
