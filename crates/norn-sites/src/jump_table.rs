//! The tables of `switch` statements: where an indirect jump leads.
//!
//! Position-independent code loads a 32-bit distance and adds the address of the table; other code loads
//! a 64-bit address. Both show in the sum that is jumped to and in the address that is loaded from, at any
//! level of optimisation. The table ends where an entry does not lead into the function, or where another
//! table begins.

use std::collections::BTreeSet;

use iced_x86::{FlowControl, OpKind};

use crate::{
    cfg::Tables,
    linear::{Linear, Root, Values},
    location::Location,
    reaching::Definition,
};

/// Maximum number of entries of a table.
const MAX_ENTRIES: u64 = 4_096;

/// A table that an indirect jump uses.
#[derive(Clone, Copy, Debug)]
struct Table {
    jump: u32,
    /// The address of its first entry.
    address: u64,
    /// What is added to an entry, if entries are distances.
    base: Option<u64>,
}

/// The targets of all indirect jumps whose tables are found.
pub(crate) fn jump_tables(values: &mut Values<'_, '_>) -> Tables {
    let jumps = (0..values.function.len()).filter(|at| {
        values.function.instruction(*at).flow_control() == FlowControl::IndirectBranch
    });
    let tables: Vec<_> =
        jumps.collect::<Vec<_>>().into_iter().filter_map(|it| table(it, values)).collect();
    let starts: BTreeSet<u64> = tables.iter().map(|it| it.address).collect();
    tables
        .iter()
        .map(|table| {
            let end = starts.range(table.address + 1..).next().copied().unwrap_or(u64::MAX);
            (table.jump, entries(*table, end, values))
        })
        .collect()
}

fn table(jump: u32, values: &mut Values<'_, '_>) -> Option<Table> {
    let code = *values.function.instruction(jump);
    if code.op0_kind() == OpKind::Memory {
        let address = table_address(&values.address(jump), 8)?;
        return Some(Table { jump, address, base: None });
    }
    let target = values.before(jump, Location::of(code.op0_register())?);
    let [(Root::Defined(definitions), 1)] = &target.terms[..] else { return None };
    let [Definition::Instruction(load)] = definitions[..] else { return None };
    let loaded = values.function.instruction(load);
    if loaded.op1_kind() != OpKind::Memory {
        return None;
    }
    let size = loaded.memory_size().size();
    let address = values.address(load);
    match (size, target.constant) {
        (8, 0) => Some(Table { jump, address: table_address(&address, 8)?, base: None }),
        (4, base) => {
            let base = Some(base.cast_unsigned()).filter(|it| *it > 0);
            Some(Table { jump, address: table_address(&address, 4)?, base: Some(base?) })
        }
        _ => None,
    }
}

/// The constant part of an address with one index of this size.
fn table_address(address: &Linear, size: i64) -> Option<u64> {
    let [(_, factor)] = &address.terms[..] else { return None };
    (*factor == size && address.constant > 0).then(|| address.constant.cast_unsigned())
}

fn entries(table: Table, end: u64, values: &Values<'_, '_>) -> Vec<u64> {
    let size: u64 = if table.base.is_some() { 4 } else { 8 };
    let entry = |index: u64| {
        let at = table.address.checked_add(index * size).filter(|it| *it < end)?;
        let bytes = values.view.bytes(at)?;
        let target = match table.base {
            Some(base) => {
                let distance = i32::from_le_bytes(*bytes.first_chunk()?);
                base.wrapping_add_signed(i64::from(distance))
            }
            None => u64::from_le_bytes(*bytes.first_chunk()?),
        };
        values.function.at(target).map(|_| target)
    };
    let mut targets: Vec<u64> = (0..MAX_ENTRIES).map_while(entry).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}
