//! The traced functions, by the return address of their call of the runtime. The table only grows.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use norn_abi::function::{Function, NOWHERE};

const MOST: usize = 1 << 13;

struct Row {
    key: AtomicUsize,
    to: AtomicUsize,
    number: AtomicU32,
    flags: AtomicU32,
    registers: AtomicU64,
}

static ROWS: [Row; MOST] = [const {
    Row {
        key: AtomicUsize::new(0),
        to: AtomicUsize::new(0),
        number: AtomicU32::new(0),
        flags: AtomicU32::new(0),
        registers: AtomicU64::new(0),
    }
}; MOST];
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A traced function.
pub struct Seen {
    /// Where the function continues after the call.
    pub to: usize,
    pub number: u32,
    pub flags: u32,
    registers: u64,
}

impl Seen {
    /// The register of an argument, if there is one.
    pub fn register(&self, at: usize) -> Option<usize> {
        let register = (self.registers >> (8 * at)) as u8;
        (register != NOWHERE && register < 6).then_some(register as usize)
    }
}

fn first_row(key: usize) -> usize {
    (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 32
}

/// The function whose call of the runtime has the return address `key`.
pub fn find(key: usize) -> Option<Seen> {
    for at in 0..MOST {
        let row = &ROWS[(first_row(key) + at) % MOST];
        match row.key.load(Ordering::Acquire) {
            0 => return None,
            it if it == key => {
                return Some(Seen {
                    to: row.to.load(Ordering::Relaxed),
                    number: row.number.load(Ordering::Relaxed),
                    flags: row.flags.load(Ordering::Relaxed),
                    registers: row.registers.load(Ordering::Relaxed),
                });
            }
            _ => {}
        }
    }
    None
}

/// Adds a function whose call of the runtime returns to `key` and that then continues at `to`.
/// Replaces the row of a function that an unloaded module had at the same address. Returns false if
/// the table is full.
pub fn add(key: usize, to: usize, function: &Function) -> bool {
    if COUNT.load(Ordering::Relaxed) >= MOST / 2 {
        return false;
    }
    for at in 0..MOST {
        let row = &ROWS[(first_row(key) + at) % MOST];
        let there = row.key.load(Ordering::Acquire);
        if there != 0 && there != key {
            continue;
        }
        row.to.store(to, Ordering::Relaxed);
        row.number.store(function.number, Ordering::Relaxed);
        row.flags.store(function.flags, Ordering::Relaxed);
        let mut registers = 0;
        for (at, &register) in function.registers.iter().enumerate() {
            registers |= u64::from(register) << (8 * at);
        }
        row.registers.store(registers, Ordering::Relaxed);
        row.key.store(key, Ordering::Release);
        COUNT.fetch_add(usize::from(there == 0), Ordering::Relaxed);
        return true;
    }
    false
}
