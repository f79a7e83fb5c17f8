//! The game's own recordings (`*.rec`): what its server said to everybody, and when.
//!
//! Big-endian like the messages: a head of 426 bytes, the flags and the world, whose lengths the head says, and packets
//! to the end of the file. Each has a head of 32 bytes: kind and code, two bytes each; length, place of the next packet
//! and of the one before, four each; microseconds since 1970, eight; and eight bytes that mean nothing.

use crate::message::{Code, Frame, MAX_PAYLOAD, Text};
use evenkeel::{Duration, GlobalTime};
use std::fmt;
use std::io::{self, Read};

const MAGIC: [u8; 4] = *b"rrBZ";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 426;
const PACKET_HEAD_BYTES: usize = 32;

/// What a recording says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayHeader {
    /// How long it is; zero if its server did not live to write it.
    pub length: Duration,
    /// Who had it written, as a player's number.
    pub player: u32,
    /// Who had it written.
    pub callsign: Text<32>,
    /// The protocol, such as `BZFS0221`.
    pub protocol: Text<8>,
    /// How many bytes the world takes.
    pub world_bytes: u32,
}

/// What a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// It was said to everybody.
    Real,
    /// It says how things stand, for those who begin to watch here.
    State,
    /// The beginning of such a state; it says nothing.
    Update,
    /// It is for administrators only.
    Hidden,
}

/// Something the server said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What it is for.
    pub kind: PacketKind,
    /// When it was said, from the first packet on.
    pub at: GlobalTime,
    /// Which message.
    pub code: Code,
    /// What it says.
    pub payload: Vec<u8>,
}

impl Packet {
    /// It as a message.
    pub fn frame(&self) -> Frame<'_> {
        Frame { code: self.code, payload: &self.payload }
    }
}

/// Reads a recording packet by packet. After an error there is nothing more.
///
/// ```no_run
/// use evenkeel_bzflag::record::Replay;
/// use std::{fs::File, io::BufReader};
/// let replay = Replay::new(BufReader::new(File::open("game.rec")?))?;
/// println!("{} by {}", replay.header().length, replay.header().callsign);
/// for packet in replay {
///     let packet = packet?;
///     println!("{} {}: {} bytes", packet.at, packet.code, packet.payload.len());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Replay<R> {
    source: R,
    header: ReplayHeader,
    packets: u64,
    /// When the first packet was said, in microseconds since 1970.
    first: Option<i64>,
    ended: bool,
}

impl<R: Read> Replay<R> {
    /// Reads what comes before the packets. The source is read in small pieces: a file wants a buffer.
    pub fn new(mut source: R) -> Result<Self, ReplayError> {
        let mut head = [0; HEAD_BYTES];
        // First what tells whether it is a recording at all, however short it is.
        let length = read_up_to(&mut source, &mut head[..8])?;
        if length < 4 || head[..4] != MAGIC {
            return Err(ReplayError::NotAReplay { found: head[..length.min(4)].to_vec() });
        }
        if length == 8 && word(&head, 4) != VERSION {
            return Err(ReplayError::Version { found: word(&head, 4) });
        }
        read_exact(&mut source, &mut head[8..], 0)?;
        let (flags, world_bytes) = (word(&head, 24), word(&head, 28));
        let header = ReplayHeader {
            length: Duration::from_micros(long(&head, 12)),
            player: word(&head, 20),
            callsign: Text(bytes(&head, 32)),
            protocol: Text(bytes(&head, 192)),
            world_bytes,
        };
        let skipped = u64::from(flags) + u64::from(world_bytes);
        if io::copy(&mut source.by_ref().take(skipped), &mut io::sink()).map_err(ReplayError::Io)? < skipped {
            return Err(ReplayError::Truncated { packets: 0 });
        }
        Ok(Self { source, header, packets: 0, first: None, ended: false })
    }

    /// What it says about itself.
    pub fn header(&self) -> &ReplayHeader {
        &self.header
    }

    fn read(&mut self) -> Result<Option<Packet>, ReplayError> {
        let mut head = [0; PACKET_HEAD_BYTES];
        match read_up_to(&mut self.source, &mut head)? {
            0 => return Ok(None),
            PACKET_HEAD_BYTES => {}
            _ => return Err(ReplayError::Truncated { packets: self.packets }),
        }
        let [kind, code] = [0, 2].map(|at| u16::from_be_bytes(bytes(&head, at)));
        let (length, micros) = (word(&head, 4) as usize, long(&head, 16));
        if length > MAX_PAYLOAD {
            return Err(ReplayError::TooLong { packets: self.packets, length });
        }
        let kind = match kind {
            0 => PacketKind::Real,
            1 => PacketKind::State,
            2 => PacketKind::Update,
            3 => PacketKind::Hidden,
            found => return Err(ReplayError::UnknownKind { packets: self.packets, found }),
        };
        let mut payload = vec![0; length];
        read_exact(&mut self.source, &mut payload, self.packets)?;
        let passed = micros.saturating_sub(*self.first.get_or_insert(micros));
        self.packets += 1;
        let at = GlobalTime::ZERO + Duration::from_micros(passed);
        Ok(Some(Packet { kind, at, code: Code(code), payload }))
    }
}

impl<R: Read> Iterator for Replay<R> {
    type Item = Result<Packet, ReplayError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let packet = self.read().transpose();
        self.ended = !matches!(packet, Some(Ok(_)));
        packet
    }
}

fn bytes<const N: usize>(head: &[u8], at: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&head[at..at + N]);
    bytes
}

fn word(head: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes(head, at))
}

fn long(head: &[u8], at: usize) -> i64 {
    i64::from_be_bytes(bytes(head, at))
}

/// Fills the buffer as far as there is something to read.
fn read_up_to(source: &mut impl Read, buffer: &mut [u8]) -> Result<usize, ReplayError> {
    let mut length = 0;
    while length < buffer.len() {
        match source.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ReplayError::Io(error)),
        }
    }
    Ok(length)
}

fn read_exact(source: &mut impl Read, buffer: &mut [u8], packets: u64) -> Result<(), ReplayError> {
    let whole = read_up_to(source, buffer)? == buffer.len();
    if whole { Ok(()) } else { Err(ReplayError::Truncated { packets }) }
}

/// Why a recording of the game cannot be read.
#[derive(Debug)]
pub enum ReplayError {
    /// Reading or writing failed.
    Io(io::Error),
    /// It does not begin as the game's recordings do.
    NotAReplay {
        /// What it begins with.
        found: Vec<u8>,
    },
    /// It is of another version of the format.
    Version {
        /// Which.
        found: u32,
    },
    /// It ends too early.
    Truncated {
        /// How many whole packets came before.
        packets: u64,
    },
    /// A packet is longer than any message.
    TooLong {
        /// How many packets came before.
        packets: u64,
        /// Its length.
        length: usize,
    },
    /// A packet is of a kind that there is not.
    UnknownKind {
        /// How many packets came before.
        packets: u64,
        /// Which.
        found: u16,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the recording cannot be accessed: {error}"),
            Self::NotAReplay { found } => {
                write!(f, "this is no recording of the game: it begins with \"{}\"", found.escape_ascii())
            }
            Self::Version { found } => {
                write!(f, "the recording has format version {found}, but only {VERSION} is known")
            }
            Self::Truncated { packets } => write!(f, "the recording ends too early, after {packets} packets"),
            Self::TooLong { packets, length } => write!(
                f,
                "after {packets} packets there is one of {length} bytes, but messages have at most {MAX_PAYLOAD}"
            ),
            Self::UnknownKind { packets, found } => {
                write!(f, "after {packets} packets there is one of an unknown kind: {found}")
            }
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A file of a world of three bytes and one packet of two.
    fn sample() -> Vec<u8> {
        let mut file = [&b"rrBZ\0\0\0\x01"[..], &[0; 12], b"\0\0\0\x04", &[0; 4], b"\0\0\0\x03", b"tester"].concat();
        file.resize(HEAD_BYTES + 3, 0);
        file.extend(b"\0\x00pi\0\0\0\x02");
        file.extend([&[0; 8][..], &7_000_000i64.to_be_bytes(), &[9; 8], &[1, 2]].concat());
        file
    }

    fn packets(file: &[u8]) -> Result<Vec<Packet>, ReplayError> {
        Replay::new(file)?.collect()
    }

    #[test]
    fn heads_and_packets_are_read() {
        let file = [&sample()[..], &sample()[HEAD_BYTES + 3..]].concat();
        let header = Replay::new(&file[..]).unwrap().header().clone();
        assert_eq!((header.player, header.world_bytes, header.callsign.to_string().as_str()), (4, 3, "tester"));
        let packet = Packet { kind: PacketKind::Real, at: GlobalTime::ZERO, code: Code::LAG_PING, payload: vec![1, 2] };
        assert_eq!(packets(&file).unwrap(), [packet.clone(), packet]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let sample = sample();
        let start = HEAD_BYTES + 3;
        let with = |at: usize, byte: u8| {
            let mut file = sample.clone();
            file[at] = byte;
            file
        };
        for (file, said) in [
            (Vec::new(), "begins with \"\""),
            (b"PNG".to_vec(), "begins with \"PNG\""),
            (with(7, 2), "format version 2, but only 1"),
            (sample[..300].to_vec(), "too early, after 0 packets"),
            (sample[..HEAD_BYTES + 2].to_vec(), "too early, after 0 packets"),
            (with(24, 255), "too early, after 0 packets"),
            (with(start + 1, 4), "after 0 packets there is one of an unknown kind: 4"),
            (with(start + 6, 4), "one of 1026 bytes"),
            ([&sample[..], &[0; 31]].concat(), "too early, after 1 packets"),
            (sample[..start + 33].to_vec(), "too early, after 0 packets"),
        ] {
            let message = packets(&file).unwrap_err().to_string();
            assert!(message.contains(said), "{message:?} should contain {said:?}");
        }
    }

    #[test]
    fn after_an_error_there_is_nothing_more() {
        let mut file = sample();
        file.extend([&[0xff; 32], &sample()[HEAD_BYTES + 3..]].concat());
        let mut replay = Replay::new(&file[..]).unwrap();
        assert!(replay.next().unwrap().is_ok());
        assert!(replay.next().unwrap().is_err());
        assert!(replay.next().is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            prop_assert!(packets(&bytes).is_err());
            let mut file = sample();
            file.extend(bytes);
            let _ = packets(&file);
        }
    }
}
