//! Names of addresses, for traces that have names instead of addresses: traces written by hand and
//! those of other tools.

use std::collections::BTreeMap;

/// The address of the first name: above the address space of programs.
const FIRST: u64 = 1 << 56;
/// Distance between two names in bytes.
const STEP: u64 = 1 << 12;

/// Names, each with a memory range of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    names: Vec<String>,
    first: BTreeMap<String, u64>,
}

impl Symbols {
    /// The address of a name, which is assigned one if it is new.
    pub fn intern(&mut self, name: &str) -> u64 {
        match self.first.get(name) {
            Some(&addr) => addr,
            None => self.add(name),
        }
    }

    /// A new address with this name, even if the name already has one: a variable and a lock may
    /// share a name.
    pub fn add(&mut self, name: &str) -> u64 {
        let addr = FIRST + STEP * self.names.len() as u64;
        self.names.push(name.to_owned());
        self.first.entry(name.to_owned()).or_insert(addr);
        addr
    }

    /// The name at an address, and the offset from its beginning.
    pub fn name(&self, addr: u64) -> Option<(&str, u64)> {
        let from_first = addr.checked_sub(FIRST)?;
        let name = self.names.get(usize::try_from(from_first / STEP).ok()?)?;
        Some((name, from_first % STEP))
    }
}
