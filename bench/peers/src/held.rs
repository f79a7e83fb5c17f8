//! How many bytes of heap a server holds.

use crate::contender::Parcel;
use allocation_counter::measure;
use bytes::Bytes;

/// The bytes that the server's code has allocated and not freed.
///
/// Only what happens inside [`count`](Self::count) counts. Parcels cross that line as copies: each side allocates and
/// frees its own. So nothing is freed on one side that was allocated on the other, and a parcel that has been handed
/// over is not held any more, unless the server keeps it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    bytes: i64,
}

impl Held {
    /// Runs code of the server's.
    pub fn count<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let mut result = None;
        self.bytes += measure(|| result = Some(run())).bytes_current;
        result.expect("measure runs what it is given")
    }

    /// Copies what leaves the server, and frees the server's own.
    pub fn hand_over(&mut self, parcels: Vec<Parcel>) -> Vec<Parcel> {
        let copies = parcels.iter().map(copy).collect();
        self.count(|| drop(parcels));
        copies
    }

    /// Copies what arrives at the server, so that it is the server's own.
    pub fn take_in(&mut self, parcel: &Parcel) -> Parcel {
        self.count(|| copy(parcel))
    }

    /// How many bytes it holds now.
    pub fn bytes(&self) -> i64 {
        self.bytes
    }
}

fn copy(parcel: &Parcel) -> Parcel {
    Parcel { bytes: Bytes::copy_from_slice(&parcel.bytes), ..*parcel }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(length: usize) -> Parcel {
        Parcel { receiver: 0, channel: 0, reliable: false, bytes: vec![7; length].into() }
    }

    #[test]
    fn parcels_that_have_left_are_not_held_and_those_that_came_are() {
        let mut held = Held::default();
        let sent = held.count(|| vec![parcel(1_000), parcel(200)]);
        assert!(held.bytes() >= 1_200, "{held:?}");
        let copies = held.hand_over(sent);
        assert_eq!((held.bytes(), copies[1].bytes.len()), (0, 200));

        // What a client allocates and frees is none of the server's.
        let receipt = parcel(300);
        let taken = held.take_in(&receipt);
        drop((receipt, copies));
        assert!((300..600).contains(&held.bytes()), "{held:?}");
        held.count(|| drop(taken));
        assert_eq!(held.bytes(), 0);
    }

    #[test]
    fn what_the_server_keeps_of_a_parcel_is_held() {
        let mut held = Held::default();
        let mut kept = Bytes::new();
        let sent = held.count(|| {
            let parcel = parcel(1_000);
            kept = parcel.bytes.clone();
            vec![parcel]
        });
        drop(held.hand_over(sent));
        assert!(held.bytes() >= 1_000, "{held:?}");
    }
}
