//! What sending costs: against packing alone, when nothing is due, and at a million pairs.

use super::load::Load;
use evenkeel::wire::datagram::{Cursor, SharedHead, emit_vector};
use evenkeel::wire::{BODY_BYTES, BitWriter, Format, emit_absolute};
use evenkeel::{Motion, Vec3};
use std::hint::black_box;
use std::time::Instant;

/// How a bench counts what it allocates: runs the closure, answers (allocations, bytes held afterwards, most bytes held).
pub type CountAllocations = fn(&mut dyn FnMut()) -> (u64, i64, u64);

/// 1,000 entities, 32 receivers, everything due to everybody in every tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AllDue {
    /// Per entity and receiver: observing, deciding, book-keeping, encoding, packing.
    pub ns_per_pair_sending: f64,
    /// Per entity and receiver: writing the same vectors' records, each by itself, and nothing else.
    pub ns_per_pair_packing: f64,
    /// Per entity and receiver: the same, each body coded once and copied for all receivers.
    pub ns_per_pair_copying: f64,
    /// Per vector acknowledged: taking in receipts.
    pub ns_per_pair_receipts: f64,
    /// Bytes per entity and receiver, datagram headers included.
    pub bytes_per_pair_sent: f64,
    /// Allocations per tick once everything has its size.
    pub allocations_per_tick: Option<f64>,
}

impl AllDue {
    /// The figure with a target: at most 4.
    pub fn ratio(&self) -> f64 {
        self.ns_per_pair_sending / self.ns_per_pair_packing
    }
}

/// Measures with everything due, with or without errors being booked.
pub fn all_due(ticks: u32, books: bool, count: Option<CountAllocations>) -> AllDue {
    const ENTITIES: u32 = 1_000;
    const RECEIVERS: u32 = 32;
    let pairs = f64::from(ENTITIES * RECEIVERS);
    let mut load = Load::new(ENTITIES, RECEIVERS, Format::bzflag(), books);
    for _ in 0..120 {
        load.prepare(|_| true);
        load.observe();
        load.transmit();
        load.acknowledge();
    }
    let (mut sending, mut packing, mut copying, mut receipts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut bytes = 0;
    for _ in 0..ticks {
        load.prepare(|_| true);
        let started = Instant::now();
        load.observe();
        bytes += load.transmit();
        sending.push(started.elapsed().as_secs_f64());
        packing.push(time(|| pack_alone(&load, RECEIVERS)));
        copying.push(time(|| pack_copies(&load, RECEIVERS)));
        receipts.push(time(|| load.acknowledge()));
    }
    let allocations_per_tick = count.map(|count| {
        let (ticks, mut allocations) = (20, 0);
        for _ in 0..ticks {
            load.prepare(|_| true);
            allocations += count(&mut || {
                load.observe();
                black_box(load.transmit());
            })
            .0;
            // Receipts are counted too, but for the making of them.
            let receipts = load.receipts_due();
            allocations += count(&mut || load.deliver(&receipts)).0;
        }
        allocations as f64 / f64::from(ticks)
    });
    AllDue {
        ns_per_pair_sending: mean(&sending) * 1e9 / pairs,
        ns_per_pair_packing: mean(&packing) * 1e9 / pairs,
        ns_per_pair_copying: mean(&copying) * 1e9 / pairs,
        ns_per_pair_receipts: mean(&receipts) * 1e9 / pairs,
        bytes_per_pair_sent: bytes as f64 / f64::from(ticks) / pairs,
        allocations_per_tick,
    }
}

/// Writes the newest vector of every entity for every receiver, each by itself: no ledger, no policy, no queue.
fn pack_alone(load: &Load, receivers: u32) -> usize {
    let (ledger, format) = (load.sender.ledger(), load.sender.format());
    let mut buffer = [0; 1200];
    let mut total = 0;
    for _ in 0..receivers {
        let mut w = BitWriter::new(&mut buffer);
        for entity in ledger.entities() {
            let (Some(id), Some(vector)) = (ledger.entity_id(entity), ledger.newest(entity)) else { continue };
            if w.room_bits() < 8 * 208 {
                total += w.len_bytes();
                w.truncate(0);
            }
            let quantised = vector.quantised();
            let _ = emit_vector(format, (id, 0), quantised, Cursor::new(quantised.tick()), None, &mut w);
        }
        total += w.len_bytes();
    }
    black_box(total)
}

/// The same with each vector coded once, and its bits copied.
fn pack_copies(load: &Load, receivers: u32) -> usize {
    let (ledger, format) = (load.sender.ledger(), load.sender.format());
    let coded: Vec<(Vec<u8>, usize)> = ledger
        .entities()
        .filter_map(|entity| {
            let quantised = ledger.newest(entity)?.quantised();
            let mut bits = vec![0; 2 * BODY_BYTES];
            let mut w = BitWriter::new(&mut bits);
            SharedHead::of(format, 0, quantised.tick(), None).emit(&mut w).ok()?;
            emit_absolute(format, quantised, &mut w).ok()?;
            let len_bits = w.len_bits();
            Some((bits, len_bits))
        })
        .collect();
    let mut buffer = [0; 1200];
    let mut total = 0;
    for _ in 0..receivers {
        let mut w = BitWriter::new(&mut buffer);
        for (bits, len_bits) in &coded {
            if w.room_bits() < 8 * 208 {
                total += w.len_bytes();
                w.truncate(0);
            }
            // The entity and its age, as they usually are.
            let _ = w.push(0, 4).and_then(|()| w.copy(bits, *len_bits));
        }
        total += w.len_bytes();
    }
    black_box(total)
}

/// 1,000 entities of which none is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Idle {
    /// Per entity and tick, with 32 receivers.
    pub ns_per_entity: f64,
    /// The same with 512 receivers, as a multiple: 1 if the number of receivers does not matter.
    pub ratio_512_to_32_receivers: f64,
    /// One extrapolation of one arc, for comparison.
    pub ns_per_extrapolation: f64,
}

/// Measures with nothing due.
pub fn idle(ticks: u32) -> Idle {
    const ENTITIES: u32 = 1_000;
    let run = |receivers: u32| {
        let mut load = Load::new(ENTITIES, receivers, Format::lossless(), true);
        let mut times = Vec::new();
        for tick in 0..60 + ticks {
            load.prepare(|_| tick == 0);
            let started = Instant::now();
            load.observe();
            black_box(load.transmit());
            if tick >= 60 {
                times.push(started.elapsed().as_secs_f64());
            }
            load.acknowledge();
        }
        median(&mut times) * 1e9 / f64::from(ENTITIES)
    };
    let (few, many) = (run(32), run(512));
    let arc = Motion::circular(Vec3::ZERO, 0.3, 20.0, 0.7);
    let extrapolations = time(|| (0..100_000).map(|i| arc.at(f64::from(i) * 1e-5).position.x).sum::<f64>());
    Idle { ns_per_entity: few, ratio_512_to_32_receivers: many / few, ns_per_extrapolation: extrapolations * 1e9 / 1e5 }
}

/// 10,000 entities x 100 receivers, 2 % of the entities due per tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Million {
    /// The ledger's own count of its memory, per pair.
    pub bytes_per_pair: f64,
    /// The most memory the whole sender held, in bytes, if allocations are counted.
    pub bytes_in_all: Option<u64>,
    /// Seconds per tick: observing all, sending what is due.
    pub tick_seconds: f64,
    /// Seconds for one plain pass over as many bytes.
    pub memory_pass_seconds: f64,
}

/// Measures a million pairs.
pub fn million(ticks: u32, count: Option<CountAllocations>) -> Million {
    const ENTITIES: u32 = 10_000;
    const RECEIVERS: u32 = 100;
    let mut outcome = None;
    let mut body = || {
        let mut load = Load::new(ENTITIES, RECEIVERS, Format::bzflag(), true);
        let mut times = Vec::new();
        // Once round, so that every pair has been sent something, then the measured ticks.
        for tick in 0..60 + ticks {
            load.prepare(|i| tick == 0 || (i + tick).is_multiple_of(50));
            let started = Instant::now();
            load.observe();
            black_box(load.transmit());
            if tick >= 60 {
                times.push(started.elapsed().as_secs_f64());
            }
            load.acknowledge();
        }
        let memory = load.sender.ledger().memory_bytes();
        outcome = Some((memory, median(&mut times)));
    };
    let bytes_in_all = match count {
        Some(count) => Some(count(&mut body).2),
        None => {
            body();
            None
        }
    };
    let (memory, tick_seconds) = outcome.unwrap_or((0, f64::NAN));
    let bytes = vec![1u64; memory / 8];
    let mut passes: Vec<f64> = (0..5).map(|_| time(|| bytes.iter().fold(0u64, |a, b| a.wrapping_add(*b)))).collect();
    Million {
        bytes_per_pair: memory as f64 / f64::from(ENTITIES * RECEIVERS),
        bytes_in_all,
        tick_seconds,
        memory_pass_seconds: median(&mut passes),
    }
}

fn time<T>(body: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    black_box(body());
    started.elapsed().as_secs_f64()
}

/// Some of the work comes in batches every few ticks: the mean has it, the median would not.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
