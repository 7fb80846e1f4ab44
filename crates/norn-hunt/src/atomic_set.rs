//! Atomic sets that the user declares: variables that belong together, given by name.
//!
//! A name denotes a variable or a part of one, as findings print it: `bank`, `bank.balance`.
//! Without an index, `accounts.balance` denotes that member of every account. Only variables with a
//! symbol can be named: globals, and the static variables of functions.

use std::collections::BTreeSet;

use norn_model::{Op, Trace};
use norn_predict::AtomicSet;

use crate::source::Source;

/// Finds the variables of each set in a trace. Also returns the names that match no accessed
/// variable.
pub(crate) fn find(source: &Source, sets: &[Vec<String>]) -> (Vec<AtomicSet>, Vec<String>) {
    let symbols = &*source.symbolized.symbols;
    find_in(&source.trace, sets, |addr, size| symbols.variable(addr, size).map(|it| it.name))
}

/// The same for a trace whose variables have these names.
pub(crate) fn find_in(
    trace: &Trace,
    sets: &[Vec<String>],
    name: impl Fn(u64, u64) -> Option<String>,
) -> (Vec<AtomicSet>, Vec<String>) {
    let named = if sets.is_empty() { Vec::new() } else { named(trace, name) };
    let ranges = |name: &String| {
        let fitting = named.iter().filter(|it| means(name, &it.0));
        fitting.map(|it| it.1.clone()).collect::<Vec<_>>()
    };
    let set = |names: &Vec<String>| AtomicSet(names.iter().flat_map(ranges).collect());
    let unknown = sets.iter().flatten().filter(|it| ranges(it).is_empty()).cloned().collect();
    (sets.iter().map(set).collect(), unknown)
}

/// The names of all variables that are accessed, with their address ranges.
fn named(
    trace: &Trace,
    name: impl Fn(u64, u64) -> Option<String>,
) -> Vec<(String, std::ops::Range<u64>)> {
    let events = trace.threads.iter().flat_map(|it| &it.events);
    let places: BTreeSet<(u64, u64)> = events.filter_map(|it| place(&it.op)).collect();
    let range = |(addr, size)| Some((name(addr, size)?, addr..addr.saturating_add(size)));
    places.into_iter().filter_map(range).collect()
}

fn place(op: &Op) -> Option<(u64, u64)> {
    match *op {
        Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => Some((addr, size)),
        Op::Atomic { addr, size, .. } => Some((addr, size.into())),
        _ => None,
    }
}

/// Whether the user's `given` denotes the variable `name` or an object that contains it.
fn means(given: &str, name: &str) -> bool {
    let name = if given.contains('[') { name.to_owned() } else { without_indices(name) };
    let unqualified = name.rsplit_once("::").map_or(name.as_str(), |it| it.1);
    [name.as_str(), unqualified].into_iter().any(|it| {
        it.strip_prefix(given).is_some_and(|it| it.is_empty() || it.starts_with(['.', '[']))
    })
}

/// Removes the indices: `accounts[2].balance` becomes `accounts.balance`.
fn without_indices(name: &str) -> String {
    let parts = name.split('[').enumerate().map(|(at, it)| match (at, it.split_once(']')) {
        (1.., Some((_, rest))) => rest,
        _ => it,
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_a_variable_or_a_part_of_it() {
        assert!(means("bank", "bank"));
        assert!(means("bank", "bank.balance"));
        assert!(means("bank.balance", "bank.balance"));
        assert!(means("accounts.balance", "accounts[2].balance"));
        assert!(means("accounts[2]", "accounts[2].balance"));
        assert!(means("grid", "grid[1][2]"));
        assert!(means("counter", "next_id::counter"));
        assert!(means("next_id::counter", "next_id::counter"));
        assert!(!means("bank", "banks"));
        assert!(!means("bank.balance", "bank"));
        assert!(!means("accounts[2]", "accounts[12].balance"));
        assert!(!means("balance", "bank.balance"));
    }
}
