//! Where everything truly is, for ghosts: told beside the game, at once and by plain packets. Only a demonstration can
//! do that, on one machine, whose clock all share.

use crate::arena::Tank;
use crate::sample::{MAX_AGE, MOST, SIZE, Sample, read, written};
use bevy::prelude::*;
use evenkeel_bevy::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How far off things are shown is a mean over so many seconds.
const SECONDS: f64 = 5.0;

/// Who is told, and what is known.
#[derive(Resource)]
pub struct Truth {
    socket: UdpSocket,
    /// The server, if this is a client.
    server: Option<SocketAddr>,
    listeners: BTreeMap<SocketAddr, f64>,
    samples: BTreeMap<u32, Sample>,
    /// How far off all was shown, and when.
    off: VecDeque<(f64, f32)>,
}

impl Truth {
    /// By this socket. A client says to whom it listens.
    pub fn new(socket: UdpSocket, server: Option<SocketAddr>) -> std::io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self { socket, server, listeners: BTreeMap::new(), samples: BTreeMap::new(), off: VecDeque::new() })
    }

    /// Where a tank truly is.
    pub fn of(&self, name: NetId, now: f64) -> Option<(Vec2, f32)> {
        self.samples.get(&name.0.0).map(|sample| sample.then(now))
    }

    /// How far off tanks were shown, on average over the last seconds.
    pub fn off(&self) -> Option<f32> {
        let sum: f32 = self.off.iter().map(|(_, off)| off).sum();
        (!self.off.is_empty()).then(|| sum / self.off.len() as f32)
    }

    /// Takes what others say, but not of what this app knows best.
    fn read(&mut self, bytes: &[u8], ours: &[u32]) {
        for (name, sample) in read(bytes) {
            let known = self.samples.get(&name);
            if !ours.contains(&name) && known.map_or(self.samples.len() < MOST, |known| known.at < sample.at) {
                self.samples.insert(name, sample);
            }
        }
    }

    fn forget(&mut self, now: f64) {
        self.samples.retain(|_, sample| (now - sample.at).abs() < MAX_AGE);
        self.listeners.retain(|_, since| now - *since < MAX_AGE);
        self.off.retain(|(at, _)| now - at < SECONDS);
    }
}

/// The wall's clock when the frame began: what `Transform` says is about then.
pub fn wall(time: &Time<Real>) -> f64 {
    let since = time.last_update().map_or(0.0, |began| Instant::now().duration_since(began).as_secs_f64());
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64()) - since
}

/// Hears, measures and tells.
pub fn plugin(app: &mut App) {
    app.add_systems(Update, (hear, measure).chain()).add_systems(PostUpdate, tell);
}

fn hear(mut truth: ResMut<Truth>, time: Res<Time<Real>>, owned: Query<&NetId, With<Owned>>) {
    let now = wall(&time);
    let ours: Vec<u32> = owned.iter().map(|name| name.0.0).collect();
    let mut buffer = [0; SIZE * MOST];
    for _ in 0..MOST * 8 {
        // Mostly because there is nothing more; if it is for worse, the next frame may have better luck.
        let Ok((length, from)) = truth.socket.recv_from(&mut buffer) else { break };
        if truth.server.is_some_and(|server| server != from) {
            continue;
        }
        truth.read(&buffer[..length], &ours);
        if truth.listeners.len() < MOST || truth.listeners.contains_key(&from) {
            truth.listeners.insert(from, now);
        }
    }
    truth.forget(now);
}

type Shown = (With<Followed>, With<Placed>);

/// How far off that is shown which others drive.
fn measure(mut truth: ResMut<Truth>, time: Res<Time<Real>>, shown: Query<(&NetId, &Transform), Shown>) {
    let now = wall(&time);
    let off = |(name, transform): (&NetId, &Transform)| {
        truth.of(*name, now).map(|(place, _)| place.distance(transform.translation.truncate()))
    };
    let all: Vec<f32> = shown.iter().filter_map(off).collect();
    if !all.is_empty() {
        truth.off.push_back((now, all.iter().sum::<f32>() / all.len() as f32));
    }
}

type Driven = (With<Tank>, With<Owned>);

fn tell(mut truth: ResMut<Truth>, time: Res<Time<Real>>, driven: Query<(&NetId, &Transform, &Moving), Driven>) {
    let at = wall(&time);
    let sample = |(name, transform, moving): (&NetId, &Transform, &Moving)| {
        let heading = transform.rotation.to_euler(EulerRot::ZYX).0;
        let (place, velocity) = (transform.translation.truncate(), moving.velocity.truncate());
        (name.0.0, Sample { at, place, heading, velocity, turning: moving.turning.z })
    };
    let ours: BTreeMap<u32, Sample> = driven.iter().map(sample).collect();
    // What cannot be told now is told in the next frame. A client tells even if it drives nothing, so as to be known.
    if let Some(server) = truth.server {
        let _ = truth.socket.send_to(&written(&ours), server);
    }
    truth.samples.extend(ours);
    if truth.server.is_none() {
        let all = written(&truth.samples);
        truth.listeners.keys().for_each(|listener| _ = truth.socket.send_to(&all, listener));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(at: f64) -> Sample {
        Sample { at, place: vec2(1.0, 2.0), heading: 0.0, velocity: vec2(10.0, 0.0), turning: 0.0 }
    }

    fn truth() -> Truth {
        Truth::new(UdpSocket::bind("127.0.0.1:0").unwrap(), None).unwrap()
    }

    #[test]
    fn what_is_told_is_heard_and_goes_on() {
        let mut truth = truth();
        truth.read(&written(&[(7, sample(5.0)), (8, sample(5.0))].into()), &[8]);
        let name = |number| NetId(evenkeel_bevy::evenkeel::EntityId(number));
        assert_eq!(truth.of(name(7), 5.1), Some((vec2(2.0, 2.0), 0.0)));
        assert_eq!(truth.of(name(8), 5.1), None, "this app knows best");
        truth.read(&written(&[(7, sample(4.9))].into()), &[]);
        assert_eq!(truth.samples[&7], sample(5.0), "what comes late is old");
        truth.forget(6.5);
        assert!(truth.samples.is_empty());
    }

    #[test]
    fn strangers_fill_no_memory_and_tell_no_nonsense() {
        let mut truth = truth();
        for name in 0..100 {
            truth.read(&written(&[(name, sample(5.0))].into()), &[]);
        }
        assert_eq!(truth.samples.len(), MOST);
        let mut truth = self::truth();
        truth.read(&written(&[(1, Sample { heading: f32::NAN, ..sample(5.0) })].into()), &[]);
        truth.read(&[1; SIZE - 1], &[]);
        assert!(truth.samples.is_empty());
    }
}
