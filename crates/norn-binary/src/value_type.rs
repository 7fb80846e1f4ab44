//! The types of variables without members, from debug information.

use std::sync::Arc;

use gimli::AttributeValue;
use norn_model::{ValueKind, ValueType, truncated};

use crate::unit::{DieId, Entry, Units};

/// The type that a debugging entry describes.
pub(crate) fn value_type(units: &Units<'_>, die: DieId, entry: &Entry<'_>, size: u64) -> ValueType {
    let kind = match entry.tag() {
        gimli::DW_TAG_base_type => base(units, die, entry),
        gimli::DW_TAG_pointer_type
        | gimli::DW_TAG_reference_type
        | gimli::DW_TAG_rvalue_reference_type => ValueKind::Pointer,
        gimli::DW_TAG_enumeration_type => ValueKind::Enumeration(enumerators(units, die, size)),
        _ => ValueKind::Unknown,
    };
    ValueType { size, kind }
}

/// `signed char` and `unsigned char` are small numbers; only `char` is text.
fn base(units: &Units<'_>, die: DieId, entry: &Entry<'_>) -> ValueKind {
    let Some(AttributeValue::Encoding(encoding)) = entry.attr_value(gimli::DW_AT_encoding) else {
        return ValueKind::Unknown;
    };
    match encoding {
        gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char
            if crate::name::plain(units, die).as_deref() == Some("char") =>
        {
            ValueKind::Character
        }
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => ValueKind::Signed,
        gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => {
            ValueKind::Unsigned
        }
        gimli::DW_ATE_boolean => ValueKind::Bool,
        gimli::DW_ATE_float => ValueKind::Float,
        _ => ValueKind::Unknown,
    }
}

fn enumerators(units: &Units<'_>, die: DieId, size: u64) -> Arc<[(u128, String)]> {
    let mut found = Vec::new();
    let unit = units.unit(die.unit);
    let Ok(mut tree) = unit.entries_tree(Some(die.offset)) else { return found.into() };
    let Ok(root) = tree.root() else { return found.into() };
    let mut children = root.children();
    while let Ok(Some(child)) = children.next() {
        let entry = child.entry();
        let value = entry.attr_value(gimli::DW_AT_const_value);
        let value =
            value.and_then(|it| it.sdata_value().or(it.udata_value().map(u64::cast_signed)));
        let name = crate::name::plain(units, DieId { unit: die.unit, offset: entry.offset() });
        found.extend(
            value
                .zip(name)
                .map(|(value, name)| (truncated(i128::from(value).cast_unsigned(), size), name)),
        );
    }
    found.into()
}
