//! Names of addresses, for traces that have names instead of addresses: those that people write,
//! and those of other tools.

use std::collections::BTreeMap;

/// Where the first name lives: no program has addresses up there.
const FIRST: u64 = 1 << 56;
/// Bytes from one name to the next.
const STEP: u64 = 1 << 12;

/// Names, each with some memory of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    names: Vec<String>,
    first: BTreeMap<String, u64>,
}

impl Symbols {
    /// The address of a name, which gets one now if it has none.
    pub fn intern(&mut self, name: &str) -> u64 {
        match self.first.get(name) {
            Some(&addr) => addr,
            None => self.add(name),
        }
    }

    /// A new address with this name, whether or not there is one already: a variable and a lock
    /// may have the same.
    pub fn add(&mut self, name: &str) -> u64 {
        let addr = FIRST + STEP * self.names.len() as u64;
        self.names.push(name.to_owned());
        self.first.entry(name.to_owned()).or_insert(addr);
        addr
    }

    /// The name at an address, and how far into its memory that is.
    pub fn name(&self, addr: u64) -> Option<(&str, u64)> {
        let from_first = addr.checked_sub(FIRST)?;
        let name = self.names.get(usize::try_from(from_first / STEP).ok()?)?;
        Some((name, from_first % STEP))
    }
}
