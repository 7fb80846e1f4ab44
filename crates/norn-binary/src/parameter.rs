//! The parameters of functions: their names and registers.
//!
//! A function with external linkage has its parameters where the calling convention (System V,
//! x86-64) puts them. The compiler may have changed a function with internal linkage: there, debug
//! information describes the location of each parameter at the entry, or that it was removed.

use std::collections::BTreeMap;

use gimli::{AttributeValue, DwAt, Operation, Register};
use norn_model::FunctionPattern;

use crate::name;
use crate::unit::{DieId, Entry, Units, Value};

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; empty if it has none.
    pub name: String,
    /// The index of its register at the entry, among those for integers and pointers: 0 to 5 in the
    /// order of the convention. `None` if it is elsewhere, or was removed.
    pub register: Option<u8>,
}

/// By address of the function: its parameters.
pub(crate) type Signatures = BTreeMap<u64, Vec<Parameter>>;

/// The parameters of the functions at these addresses.
pub(crate) fn signatures(units: &Units<'_>, wanted: &[u64]) -> Signatures {
    let mut found = Signatures::new();
    each_function(units, |die, entry| {
        for address in addresses(units, die.unit, entry) {
            if wanted.contains(&address) {
                found.insert(address, parameters(units, die, address));
            }
        }
    });
    found
}

/// Whether a function whose name matches was inlined anywhere.
pub(crate) fn is_inlined(units: &Units<'_>, pattern: &FunctionPattern) -> bool {
    let mut found = false;
    each_function(units, |die, entry| {
        let inlined = entry.attr_value(gimli::DW_AT_inline);
        let inlined = inlined.is_some_and(|it| {
            matches!(
                it,
                AttributeValue::Inline(gimli::DW_INL_inlined | gimli::DW_INL_declared_inlined)
            )
        });
        found |=
            inlined && !found && name::qualified(units, die).is_some_and(|it| pattern.matches(&it));
    });
    found
}

/// Visits the functions of all units.
pub(crate) fn each_function<'a>(units: &Units<'a>, mut visit: impl FnMut(DieId, &Entry<'a>)) {
    for index in 0..units.len() {
        let _damage = visit_unit(units, index, &mut visit);
    }
}

fn visit_unit<'a>(
    units: &Units<'a>,
    index: usize,
    visit: &mut impl FnMut(DieId, &Entry<'a>),
) -> gimli::Result<()> {
    let unit = units.unit(index);
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let die = DieId { unit: index, offset: entries.next_offset() };
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        entries.skip_attributes(abbreviation.attributes())?;
        if abbreviation.tag() == gimli::DW_TAG_subprogram
            && let Some(entry) = units.entry(die)
        {
            visit(die, &entry);
        }
    }
    Ok(())
}

/// The start addresses of the ranges of a function; one of them is its entry.
fn addresses<'a>(units: &Units<'a>, unit: usize, entry: &Entry<'a>) -> Vec<u64> {
    let unit = units.unit(unit);
    let mut found = Vec::new();
    let Ok(mut ranges) = unit.die_ranges(entry) else { return found };
    while let Ok(Some(range)) = ranges.next() {
        found.push(range.begin);
    }
    found
}

/// The parameters of a function that begins at an address.
pub(crate) fn parameters(units: &Units<'_>, function: DieId, address: u64) -> Vec<Parameter> {
    let changed = units.inherited(function, &[gimli::DW_AT_external]).is_none();
    let mut next = u8::from(returns_in_memory(units, function));
    let mut found = Vec::new();
    for die in children(units, function) {
        let (first, count) = (next, words(units, die));
        let usual = (count > 0 && first < 6).then_some(first);
        next = next.saturating_add(count);
        let register = if changed { placed(units, die, address).resolve(usual) } else { usual };
        found.push(Parameter { name: name::plain(units, die).unwrap_or_default(), register });
    }
    found
}

fn children(units: &Units<'_>, function: DieId) -> Vec<DieId> {
    let mut found = Vec::new();
    let unit = units.unit(function.unit);
    let Ok(mut tree) = unit.entries_tree(Some(function.offset)) else { return found };
    let Ok(root) = tree.root() else { return found };
    let mut children = root.children();
    while let Ok(Some(child)) = children.next() {
        if child.entry().tag() == gimli::DW_TAG_formal_parameter {
            found.push(DieId { unit: function.unit, offset: child.entry().offset() });
        }
    }
    found
}

/// The location of a parameter according to debug information.
enum Placed {
    Register(u8),
    /// On the stack after the entry: the code is not optimised, and the convention applies.
    Usual,
    Gone,
}

impl Placed {
    fn resolve(self, usual: Option<u8>) -> Option<u8> {
        match self {
            Placed::Register(register) => Some(register),
            Placed::Usual => usual,
            Placed::Gone => None,
        }
    }
}

fn placed(units: &Units<'_>, die: DieId, address: u64) -> Placed {
    let unit = units.unit(die.unit);
    let value = units.entry(die).and_then(|it| it.attr_value(gimli::DW_AT_location));
    let Some(value) = value else { return Placed::Gone };
    if let AttributeValue::Exprloc(expression) = value {
        return placed_by(expression.operations(unit.encoding()));
    }
    let Ok(Some(mut list)) = unit.attr_locations(value) else { return Placed::Gone };
    while let Ok(Some(entry)) = list.next() {
        if (entry.range.begin..entry.range.end).contains(&address) {
            return placed_by(entry.data.operations(unit.encoding()));
        }
    }
    Placed::Gone
}

fn placed_by<R: gimli::Reader>(mut operations: gimli::OperationIter<R>) -> Placed {
    match operations.next() {
        Ok(Some(Operation::Register { register })) => {
            argument(register).map_or(Placed::Gone, Placed::Register)
        }
        Ok(Some(Operation::FrameOffset { .. })) => Placed::Usual,
        _ => Placed::Gone,
    }
}

/// DWARF's numbers of rdi, rsi, rdx, rcx, r8 and r9.
fn argument(register: Register) -> Option<u8> {
    [5, 4, 1, 2, 8, 9].into_iter().zip(0..).find(|&(it, _)| it == register.0).map(|it| it.1)
}

/// Number of integer registers that a parameter occupies.
fn words(units: &Units<'_>, die: DieId) -> u8 {
    let Some(entry) = type_of(units, die) else { return 1 };
    let size = number(&entry, gimli::DW_AT_byte_size).unwrap_or(8);
    match entry.tag() {
        gimli::DW_TAG_base_type => {
            let float = [gimli::DW_ATE_float.0, gimli::DW_ATE_complex_float.0];
            let encoding = entry.attr_value(gimli::DW_AT_encoding);
            let is_float =
                matches!(encoding, Some(AttributeValue::Encoding(it)) if float.contains(&it.0));
            if is_float { 0 } else { u8::from(size > 8) + 1 }
        }
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            if is_passed_by_address(&entry) {
                1
            } else if size > 16 {
                0
            } else {
                u8::from(size > 8) + 1
            }
        }
        _ => 1,
    }
}

/// Whether the result is returned in memory, at an address passed as a hidden first argument.
fn returns_in_memory(units: &Units<'_>, function: DieId) -> bool {
    let Some(entry) = type_of(units, function) else { return false };
    let record = [gimli::DW_TAG_structure_type, gimli::DW_TAG_class_type, gimli::DW_TAG_union_type]
        .contains(&entry.tag());
    let large = number(&entry, gimli::DW_AT_byte_size).is_some_and(|it| it > 16);
    record && (large || is_passed_by_address(&entry))
}

/// A class with a constructor or destructor of its own.
fn is_passed_by_address(entry: &Entry<'_>) -> bool {
    let convention = entry.attr_value(gimli::DW_AT_calling_convention);
    matches!(convention, Some(AttributeValue::CallingConvention(gimli::DW_CC_pass_by_reference)))
}

/// The type of an entry, without typedefs and qualifiers.
fn type_of<'a>(units: &Units<'a>, die: DieId) -> Option<Entry<'a>> {
    const MAX_LINKS: usize = 32;
    let (unit, value) = units.inherited(die, &[gimli::DW_AT_type])?;
    let mut die = units.follow(unit, value)?;
    for _ in 0..MAX_LINKS {
        let entry = units.entry(die)?;
        let alias = [
            gimli::DW_TAG_typedef,
            gimli::DW_TAG_const_type,
            gimli::DW_TAG_volatile_type,
            gimli::DW_TAG_restrict_type,
            gimli::DW_TAG_atomic_type,
        ]
        .contains(&entry.tag());
        if !alias {
            return Some(entry);
        }
        die = units.follow(die.unit, entry.attr_value(gimli::DW_AT_type)?)?;
    }
    None
}

fn number(entry: &Entry<'_>, name: DwAt) -> Option<u64> {
    entry.attr_value(name).as_ref().and_then(Value::udata_value)
}
