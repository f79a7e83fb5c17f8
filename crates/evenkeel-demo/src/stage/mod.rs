//! A stand-in: invented frames.

use crate::feed::{CraftInfo, Frame, Mark, ReceiverSecond, Second, State, Text, Verdicts, ViewInfo, WorldSecond};
use crate::settings::{Settings, SettingsError};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{broadcast, watch};

/// How it starts.
pub struct StageConfig {
    /// What is set.
    pub settings: Settings,
    /// UDP; port 0 takes any.
    pub address: SocketAddr,
    /// TCP.
    pub websocket: Option<SocketAddr>,
    /// Of everything random.
    pub seed: u64,
    /// For the certificate.
    pub lan_names: Vec<String>,
}

/// Where to play.
pub struct Play {
    /// The session.
    pub session: String,
    /// UDP.
    pub port: u16,
    /// TCP.
    pub websocket_port: Option<u16>,
    /// Of certificates.
    pub hashes: Vec<[u8; 32]>,
}

/// Why not.
#[derive(Debug)]
pub struct StageError(String);

impl std::fmt::Display for StageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StageError {}

/// The stage.
pub struct Stage {
    state: Arc<Mutex<Arc<State>>>,
    frames: watch::Receiver<Arc<Frame>>,
    texts: broadcast::Sender<Arc<Text>>,
    task: tokio::task::JoinHandle<()>,
}

fn state_of(settings: Settings, generation: u64) -> State {
    let craft = |n: u32| CraftInfo { id: n + 7, name: format!("bot {}", n + 1), colour: n as u8, human: false };
    let view = |ms: f64| ViewInfo { name: format!("{ms} ms"), delay_ms: ms };
    State {
        generation,
        crafts: (0..settings.bots).map(craft).collect(),
        views: [200.0, 500.0, 800.0].map(view).to_vec(),
        settings,
        scores: Vec::new(),
        recording: false,
        opened: None,
    }
}

fn frame_of(state: &State, time_s: f64) -> Frame {
    let at = |n: usize, t: f64| Mark {
        x: 100.0 * (t * 0.2 + n as f64).cos(),
        y: 100.0 * (t * 0.2 + n as f64).sin(),
        heading: t * 0.2 + n as f64 + 1.57,
        flags: 1,
    };
    let crafts = state.crafts.len();
    let world = |f: f64| {
        let view = |v: &ViewInfo| (0..crafts).map(|n| at(n, time_s - f * v.delay_ms / 1e3)).collect::<Vec<_>>();
        state.views.iter().map(view).collect::<Vec<_>>()
    };
    let mut shown = vec![world(0.5)];
    if state.settings.right.is_some() {
        shown.push(world(0.1));
    }
    let truth = (0..crafts).map(|n| at(n, time_s)).collect();
    Frame { generation: state.generation, time_s, truth, shown, shots: vec![(time_s % 50.0, 3.0, Some(0))] }
}

fn second_of(state: &State, time_s: f64) -> Second {
    let receivers = state.views.iter().map(|v| ReceiverSecond { delay_ms: Some(v.delay_ms), ..Default::default() });
    let world = WorldSecond {
        policy: state.settings.left.policy.clone(),
        vectors_per_s: 40.0,
        bytes_per_s: 2000.0,
        mean: None,
        std: None,
        max: None,
        receivers: receivers.collect(),
    };
    let worlds = vec![world; 1 + usize::from(state.settings.right.is_some())];
    Second { time_s, window_s: time_s, server_cpu: None, worlds, verdicts: Verdicts::default() }
}

impl Stage {
    /// Starts.
    pub async fn start(config: StageConfig) -> Result<Self, StageError> {
        let state = Arc::new(Mutex::new(Arc::new(state_of(config.settings, 1))));
        let (out, frames) = watch::channel(Arc::new(Frame::default()));
        let texts = broadcast::channel(64).0;
        let (told, shared) = (texts.clone(), state.clone());
        let task = tokio::spawn(async move {
            let mut every = tokio::time::interval(std::time::Duration::from_millis(20));
            for n in 0_u64.. {
                every.tick().await;
                let state = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let time_s = n as f64 * 0.02;
                let _ = out.send(Arc::new(frame_of(&state, time_s)));
                if n % 50 == 0 {
                    let _ = told.send(Arc::new(Text::Second(Box::new(second_of(&state, time_s)))));
                }
            }
        });
        Ok(Self { state, frames, texts, task })
    }

    /// Where.
    pub fn play(&self) -> Play {
        Play { session: "left".into(), port: 4433, websocket_port: None, hashes: vec![[7; 32]] }
    }

    /// Now.
    pub fn state(&self) -> Arc<State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Pictures.
    pub fn frames(&self) -> watch::Receiver<Arc<Frame>> {
        self.frames.clone()
    }

    /// Words.
    pub fn texts(&self) -> broadcast::Receiver<Arc<Text>> {
        self.texts.subscribe()
    }

    /// Changes.
    pub fn set(&self, patch: &serde_json::Value) -> Result<(), SettingsError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let settings = state.settings.patched(patch)?;
        *state = Arc::new(state_of(settings, state.generation + 1));
        let _ = self.texts.send(Arc::new(Text::State(Box::new((**state).clone()))));
        Ok(())
    }

    /// Anew.
    pub fn reset(&self) {}

    /// Ends.
    pub async fn stop(self) {
        self.task.abort();
    }
}
