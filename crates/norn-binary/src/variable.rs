//! Maps addresses to global and static variables.
//!
//! The index is built on first use: one sorted list for memory, one for thread-local storage, with
//! binary search. Variables without debug information fall back to the symbol table and an offset,
//! `stats+0x10`.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::elf::{Segment, TlsSegment};
use crate::name;
use crate::path;
use crate::place::Place;
use crate::scan;
use crate::symbol::{Entry, Symbols, Table};
use crate::types::{Type, Types};
use crate::unit::{DieId, Units};
use norn_model::ValueType;

/// A global or static variable, and the accessed part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The full path to the part: `bank::accounts[2].balance`. A static variable of a function is
    /// qualified with the function: `next_id::counter`.
    pub name: String,
    /// The linkage name of the whole variable; its source name if it has none.
    pub symbol: String,
    /// The offset of the accessed part in the variable.
    pub offset: u64,
    /// Size of the whole variable; zero if it is unknown.
    pub size: u64,
    /// File of the declaration.
    pub file: Option<Arc<str>>,
    /// Line of the declaration.
    pub line: Option<u32>,
    /// Module-relative address of the whole variable; its offset in the thread-local block if
    /// `is_thread_local`.
    pub address: u64,
    /// Whether every thread has its own instance.
    pub is_thread_local: bool,
    /// How to format the value of the accessed part, if it is a scalar.
    pub value_type: Option<ValueType>,
}

/// All variables of a module that debug information describes.
#[derive(Default)]
pub(crate) struct Variables {
    memory: Vec<Global>,
    tls: Vec<Global>,
}

impl Variables {
    /// Scans the units. The linker has discarded variables outside of the segments and the block.
    pub(crate) fn load(
        units: &Units<'_>,
        symbols: &Symbols<'_>,
        segments: &[Segment],
        tls: Option<TlsSegment>,
    ) -> Self {
        let mut variables = Self::default();
        let mut types = Types::new(units);
        for found in scan::variables(units) {
            match found.place {
                Place::Memory(address) if is_mapped(segments, address) => {
                    let symbol = symbols.data.at(address);
                    variables.memory.extend(global(address, found.die, symbol, &mut types));
                }
                Place::Memory(_) => {}
                Place::ThreadLocal(offset) => {
                    let Some(offset) = tls.and_then(|tls| in_block(tls, offset)) else { continue };
                    let symbol = symbols.tls.at(offset);
                    variables.tls.extend(global(offset, found.die, symbol, &mut types));
                }
            }
        }
        settle(&mut variables.memory);
        settle(&mut variables.tls);
        variables
    }

    /// The variable that covers the address, and the part that an access of `size` bytes touches.
    pub(crate) fn in_memory(
        &self,
        address: u64,
        size: u64,
        units: &Units<'_>,
        symbols: &Symbols<'_>,
    ) -> Option<Variable> {
        let known = covering(&self.memory, address);
        let known = known.map(|global| global.describe(address, size, units, &symbols.data));
        known.or_else(|| from_symbol(symbols.data.covering(address)?, address))
    }

    /// The shape of the variable that covers the address, and the offset of the address in it.
    pub(crate) fn shape_at(&self, address: u64) -> Option<(Arc<Type>, u64)> {
        let global = covering(&self.memory, address)?;
        Some((Arc::clone(&global.shape), address - global.address))
    }

    /// The same for an offset in the thread-local block.
    pub(crate) fn in_tls(
        &self,
        offset: u64,
        size: u64,
        units: &Units<'_>,
        symbols: &Symbols<'_>,
    ) -> Option<Variable> {
        let known = covering(&self.tls, offset);
        let known = known.map(|global| global.describe(offset, size, units, &symbols.tls));
        let variable = known.or_else(|| from_symbol(symbols.tls.covering(offset)?, offset))?;
        Some(Variable { is_thread_local: true, ..variable })
    }
}

struct Global {
    address: u64,
    size: u64,
    name: String,
    die: DieId,
    shape: Arc<Type>,
}

impl Global {
    fn describe(&self, address: u64, size: u64, units: &Units<'_>, table: &Table<'_>) -> Variable {
        let offset = address - self.address;
        let (file, line) = name::declared_at(units, self.die);
        let symbol = table.at(self.address).map(|symbol| symbol.name.to_owned());
        let symbol = symbol.or_else(|| name::linkage(units, self.die));
        let (part, value_type) = part(&self.shape, offset, size);
        Variable {
            name: format!("{}{part}", self.name),
            symbol: symbol.unwrap_or_else(|| self.name.clone()),
            offset,
            size: self.size,
            file,
            line,
            address: self.address,
            is_thread_local: false,
            value_type,
        }
    }
}

fn global(
    address: u64,
    die: DieId,
    symbol: Option<Entry<'_>>,
    types: &mut Types<'_, '_>,
) -> Option<Global> {
    let name = name::qualified(types.units, die)?;
    let shape = types.of(die);
    // A flexible array is larger than its type, and so is a class that another unit defines.
    let size = shape.size().max(symbol.map_or(0, |symbol| symbol.size));
    Some(Global { address, size, name, die, shape })
}

/// The offset in the block. In split DWARF, gcc writes the address in the template instead.
fn in_block(tls: TlsSegment, offset: u64) -> Option<u64> {
    let offsets = [Some(offset), offset.checked_sub(tls.address)];
    offsets.into_iter().flatten().find(|offset| *offset < tls.memory_size)
}

/// Linkers write zero for discarded variables; no variable has this address.
fn is_mapped(segments: &[Segment], address: u64) -> bool {
    address != 0 && segments.iter().any(|segment| segment.contains(address))
}

/// The path within the variable; a plain offset if the type is unknown.
pub(crate) fn part(shape: &Type, offset: u64, size: u64) -> (String, Option<ValueType>) {
    match shape {
        Type::Scalar { size: 0, .. } => (plus(offset), None),
        Type::Record { members, .. } if members.is_empty() => (plus(offset), None),
        shape => path::part(shape, offset, size),
    }
}

fn plus(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset:#x}") }
}

fn from_symbol(symbol: Entry<'_>, address: u64) -> Option<Variable> {
    let offset = address.checked_sub(symbol.address)?;
    Some(Variable {
        name: format!("{}{}", symbol.source_name(), plus(offset)),
        symbol: symbol.name.to_owned(),
        offset,
        size: symbol.size,
        file: None,
        line: None,
        address: symbol.address,
        is_thread_local: false,
        value_type: None,
    })
}

/// Sorts, and keeps one variable per address: an abstract and a concrete instance of an inlined
/// function describe the same static variable, and so do two units that share an inline variable.
fn settle(globals: &mut Vec<Global>) {
    globals.sort_by(|a, b| {
        let key = |global: &Global| (global.address, Reverse(global.size));
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    globals.dedup_by_key(|global| global.address);
}

fn covering(globals: &[Global], address: u64) -> Option<&Global> {
    let after = globals.partition_point(|global| global.address <= address);
    let global = globals.get(after.checked_sub(1)?)?;
    // A variable of unknown size has at least one byte.
    (address - global.address < global.size.max(1)).then_some(global)
}
