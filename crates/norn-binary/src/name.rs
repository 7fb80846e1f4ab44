//! Source names of entries: qualified names and locations of declaration.

use std::borrow::Cow;
use std::sync::Arc;

use gimli::AttributeValue;

use crate::demangle::demangle;
use crate::scope::Scope;
use crate::unit::{DieId, Units, Value};

/// The qualified name of a variable or function: its demangled linkage name, or else its plain name
/// after the names of the scopes around its declaration.
pub(crate) fn qualified(units: &Units<'_>, die: DieId) -> Option<String> {
    qualified_within(units, die, 0)
}

/// The linkage name, if the entry has one.
pub(crate) fn linkage(units: &Units<'_>, die: DieId) -> Option<String> {
    let names = [gimli::DW_AT_linkage_name, gimli::DW_AT_MIPS_linkage_name];
    let (unit, value) = units.inherited(die, &names)?;
    units.text(unit, value).map(Cow::into_owned)
}

/// The name as written in the declaration.
pub(crate) fn plain(units: &Units<'_>, die: DieId) -> Option<String> {
    let (unit, value) = units.inherited(die, &[gimli::DW_AT_name])?;
    units.text(unit, value).map(Cow::into_owned)
}

/// File and line of the declaration.
pub(crate) fn declared_at(units: &Units<'_>, die: DieId) -> (Option<Arc<str>>, Option<u32>) {
    let file = units.inherited(die, &[gimli::DW_AT_decl_file]);
    let line = units.inherited(die, &[gimli::DW_AT_decl_line]);
    let line = line.and_then(|(_, value)| value.udata_value()).and_then(|n| u32::try_from(n).ok());
    (file.and_then(|(unit, value)| file_name(units, unit, &value)), line)
}

/// The name of a type as source code has it. A struct without a name has that of its typedef.
pub(crate) fn of_type(units: &Units<'_>, die: DieId) -> Option<String> {
    type_within(units, die, 0)
}

/// A type without `const` and `volatile`.
pub(crate) fn unqualified(units: &Units<'_>, die: DieId) -> DieId {
    let next = |die: DieId| {
        let entry = units.entry(die)?;
        let qualifies = matches!(
            entry.tag(),
            gimli::DW_TAG_const_type | gimli::DW_TAG_volatile_type | gimli::DW_TAG_restrict_type
        );
        units.follow(die.unit, entry.attr_value(gimli::DW_AT_type).filter(|_| qualifies)?)
    };
    // A type has at most these three qualifiers; damaged ones may form a cycle.
    std::iter::successors(Some(die), |it| next(*it)).take(4).last().unwrap_or(die)
}

fn type_within(units: &Units<'_>, die: DieId, depth: usize) -> Option<String> {
    // Real types nest a few levels deep; damaged ones may form a cycle.
    const MAX_DEPTH: usize = 16;
    let entry = units.entry(die).filter(|_| depth < MAX_DEPTH)?;
    let target = || {
        let value = entry.attr_value(gimli::DW_AT_type)?;
        type_within(units, units.follow(die.unit, value)?, depth + 1)
    };
    match entry.tag() {
        gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_restrict_type
        | gimli::DW_TAG_atomic_type => target(),
        gimli::DW_TAG_typedef => target().or_else(|| scoped(units, die, 0)),
        gimli::DW_TAG_pointer_type => Some(target().unwrap_or_else(|| "void".to_owned()) + "*"),
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => Some(target()? + "&"),
        gimli::DW_TAG_array_type => Some(target()? + "[]"),
        _ => scoped(units, die, 0),
    }
}

fn qualified_within(units: &Units<'_>, die: DieId, depth: usize) -> Option<String> {
    // Nested functions are rare and shallow; damaged ones may form a cycle.
    const MAX_DEPTH: usize = 8;
    let demangled = linkage(units, die).as_deref().and_then(demangle);
    demangled.or_else(|| if depth < MAX_DEPTH { scoped(units, die, depth) } else { None })
}

/// The innermost function around a variable is qualified on its own, since it may complete a
/// declaration elsewhere, and the function around an inlined call is not part of its name.
fn scoped(units: &Units<'_>, die: DieId, depth: usize) -> Option<String> {
    let name = plain(units, die)?;
    let declaration = units.declaration(die);
    let at = |scope: &Scope| DieId { offset: scope.offset, ..declaration };
    let mut parts = Vec::new();
    for scope in units.scopes(declaration) {
        if scope.is_function() {
            parts.clear();
            parts.extend(qualified_within(units, at(&scope), depth + 1));
        } else {
            parts.push(scope_name(units, &scope, at(&scope), &name));
        }
    }
    parts.push(name);
    Some(parts.join("::"))
}

/// gcc describes a lambda as an unnamed class with a call operator.
fn scope_name(units: &Units<'_>, scope: &Scope, die: DieId, inside: &str) -> String {
    plain(units, die).unwrap_or_else(|| {
        let stand_in = match scope.tag {
            gimli::DW_TAG_namespace => "(anonymous namespace)",
            _ if inside == "operator()" => "{lambda}",
            _ => "(anonymous)",
        };
        stand_in.to_owned()
    })
}

fn file_name(units: &Units<'_>, unit: usize, value: &Value<'_>) -> Option<Arc<str>> {
    let index = match value {
        AttributeValue::FileIndex(index) => *index,
        value => value.udata_value()?,
    };
    let context = units.unit(unit);
    let header = context.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let directory = file.directory(header).and_then(|value| units.text(unit, value));
    let parts = [context.comp_dir.map(|dir| dir.to_string_lossy()), directory];
    let mut path = String::new();
    for part in parts.into_iter().flatten().chain(units.text(unit, file.path_name())) {
        push(&mut path, &part);
    }
    (!path.is_empty()).then(|| path.into())
}

/// Joins paths as text: they belong to the machine that compiled, which need not be this one.
fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}
