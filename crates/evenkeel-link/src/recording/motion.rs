//! Motions in a recording, field by field.

use super::RecordingError;
use super::codec::{Decoder, Encoder};
use evenkeel::motion::LawRef;
use evenkeel::{Attitude, Course, Motion, Quat};
use std::io::Read;

mod course {
    pub const STATIONARY: u8 = 0;
    pub const LINEAR: u8 = 1;
    pub const ACCELERATED: u8 = 2;
    pub const CIRCULAR: u8 = 3;
    pub const TURNING: u8 = 4;
    pub const SPLINE: u8 = 5;
    pub const CUSTOM: u8 = 6;
}

mod attitude {
    pub const NONE: u8 = 0;
    pub const HEADING: u8 = 1;
    pub const FULL: u8 = 2;
}

pub(super) fn write(out: &mut Encoder<'_>, motion: &Motion) {
    out.vector(motion.position);
    write_course(out, &motion.course);
    match motion.attitude {
        Attitude::None => out.byte(attitude::NONE),
        Attitude::Heading { heading, turn_rate } => {
            out.byte(attitude::HEADING);
            out.floats(&[heading, turn_rate]);
        }
        Attitude::Full { orientation: q, angular_velocity } => {
            out.byte(attitude::FULL);
            out.floats(&[q.w, q.x, q.y, q.z]);
            out.vector(angular_velocity);
        }
    }
}

fn write_course(out: &mut Encoder<'_>, course: &Course) {
    match *course {
        Course::Stationary => out.byte(course::STATIONARY),
        Course::Linear { velocity } => {
            out.byte(course::LINEAR);
            out.vector(velocity);
        }
        Course::Accelerated { velocity, acceleration } => {
            out.byte(course::ACCELERATED);
            out.vector(velocity);
            out.vector(acceleration);
        }
        Course::Circular { speed, climb } => {
            out.byte(course::CIRCULAR);
            out.floats(&[speed, climb]);
        }
        Course::Turning { velocity, acceleration } => {
            out.byte(course::TURNING);
            out.vector(velocity);
            out.vector(acceleration);
        }
        Course::Spline { velocity, end, end_velocity, duration } => {
            out.byte(course::SPLINE);
            out.vector(velocity);
            out.vector(end);
            out.vector(end_velocity);
            out.float(duration);
        }
        Course::Custom { law, parameters } => {
            out.byte(course::CUSTOM);
            out.byte(law.0.id());
            out.floats(&parameters);
        }
    }
}

pub(super) fn read<R: Read>(input: &mut Decoder<R>, laws: &[LawRef]) -> Result<Motion, RecordingError> {
    let position = input.vector()?;
    let course = read_course(input, laws)?;
    let attitude = match input.byte()? {
        attitude::NONE => Attitude::None,
        attitude::HEADING => Attitude::Heading { heading: input.float()?, turn_rate: input.float()? },
        attitude::FULL => {
            let [w, x, y, z] = input.floats()?;
            Attitude::Full { orientation: Quat::new(w, x, y, z), angular_velocity: input.vector()? }
        }
        _ => return Err(input.corrupt("an attitude is of no known kind")),
    };
    Ok(Motion { position, course, attitude })
}

fn read_course<R: Read>(input: &mut Decoder<R>, laws: &[LawRef]) -> Result<Course, RecordingError> {
    Ok(match input.byte()? {
        course::STATIONARY => Course::Stationary,
        course::LINEAR => Course::Linear { velocity: input.vector()? },
        course::ACCELERATED => Course::Accelerated { velocity: input.vector()?, acceleration: input.vector()? },
        course::CIRCULAR => Course::Circular { speed: input.float()?, climb: input.float()? },
        course::TURNING => Course::Turning { velocity: input.vector()?, acceleration: input.vector()? },
        course::SPLINE => Course::Spline {
            velocity: input.vector()?,
            end: input.vector()?,
            end_velocity: input.vector()?,
            duration: input.float()?,
        },
        course::CUSTOM => {
            let id = input.byte()?;
            let law = laws.iter().find(|law| law.0.id() == id).ok_or(RecordingError::UnknownLaw { id })?;
            Course::Custom { law: *law, parameters: input.floats()? }
        }
        _ => return Err(input.corrupt("a motion is of no known kind")),
    })
}
