//! Traces as comma-separated values.

use super::Recorder;
use crate::message::TankUpdate;
use evenkeel::GlobalTime;
use std::io::{self, Write};

/// Writes a trace that the laboratory reads: a line for each update, times from the first one on.
///
/// Positions are rounded to 0.1 mm, velocities to 1 mm/s, angles and times to 0.01 mrad and ms.
#[derive(Debug)]
pub struct CsvRecorder<W: Write> {
    sink: W,
    first: Option<GlobalTime>,
}

impl<W: Write> CsvRecorder<W> {
    /// Begins a trace. The sink gets a line at a time: a file wants a buffer.
    pub fn new(mut sink: W) -> io::Result<Self> {
        writeln!(sink, "t_s,player,x,y,z,vx,vy,vz,azimuth,angvel,status,order")?;
        Ok(Self { sink, first: None })
    }
}

impl<W: Write> Recorder for CsvRecorder<W> {
    fn record(&mut self, at: GlobalTime, update: &TankUpdate) -> io::Result<()> {
        let seconds = at.since(*self.first.get_or_insert(at)).as_secs_f64();
        let [x, y, z] = update.position.map(|number| rounded(number.into(), 1e4));
        let [vx, vy, vz] = update.velocity.map(|number| rounded(number.into(), 1e3));
        let [t, azimuth, turn_rate] =
            [seconds, update.azimuth.into(), update.angular_velocity.into()].map(|number| rounded(number, 1e5));
        // A mask, which has no sign.
        let (player, status, order) = (update.player, update.status.0 as u16, update.order);
        writeln!(self.sink, "{t},{player},{x},{y},{z},{vx},{vy},{vz},{azimuth},{turn_rate},{status},{order}")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// The nearest multiple of `1 / parts`, and no zero below zero.
fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Status;

    #[test]
    fn lines_are_as_in_the_traces_there_are() {
        let mut file = Vec::new();
        let mut recorder = CsvRecorder::new(&mut file).unwrap();
        let update = TankUpdate {
            player: 3,
            order: 2,
            status: Status::ALIVE | Status::FALLING,
            position: [-177.865_81, 372.961_5, -0.000_01],
            velocity: [3.342_1, -24.776, 0.0],
            azimuth: 4.867_11,
            angular_velocity: std::f32::consts::FRAC_PI_4,
            ..TankUpdate::of(3)
        };
        recorder.record(GlobalTime::from_millis(9_000), &update).unwrap();
        let dead = TankUpdate { status: Status(-32768), order: 3, ..TankUpdate::of(250) };
        recorder.record(GlobalTime::from_nanos(9_252_541_234), &dead).unwrap();
        recorder.finish().unwrap();
        let expected = "t_s,player,x,y,z,vx,vy,vz,azimuth,angvel,status,order\n\
                        0,3,-177.8658,372.9615,0,3.342,-24.776,0,4.86711,0.7854,65,2\n\
                        0.25254,250,0,0,0,0,0,0,0,0,32768,3\n";
        assert_eq!(String::from_utf8(file).unwrap(), expected);
    }
}
