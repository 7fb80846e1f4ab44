//! Formats the bits of a variable according to its type: as a signed number, a pointer, a boolean.

use std::sync::Arc;

use gimli::AttributeValue;

use crate::unit::{DieId, Entry, Units};

/// How to format the bits of a scalar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    size: u64,
    kind: Kind,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Unknown,
    Unsigned,
    Signed,
    Float,
    Pointer,
    Bool,
    Character,
    /// The names of its values, by their bits.
    Enumeration(Arc<[(u128, String)]>),
}

impl Reading {
    /// The format of a scalar type according to debug information.
    pub(crate) fn of(units: &Units<'_>, die: DieId, entry: &Entry<'_>, size: u64) -> Reading {
        let kind = match entry.tag() {
            gimli::DW_TAG_base_type => base(units, die, entry),
            gimli::DW_TAG_pointer_type
            | gimli::DW_TAG_reference_type
            | gimli::DW_TAG_rvalue_reference_type => Kind::Pointer,
            gimli::DW_TAG_enumeration_type => Kind::Enumeration(enumerators(units, die, size)),
            _ => Kind::Unknown,
        };
        Reading { size, kind }
    }

    /// The value with these bits in C notation; `None` if the format is unknown.
    pub fn text(&self, bits: u128) -> Option<String> {
        let bits = cut(bits, self.size);
        match &self.kind {
            Kind::Unknown => None,
            Kind::Unsigned => Some(bits.to_string()),
            Kind::Signed => Some(self.signed(bits).to_string()),
            Kind::Float => float(bits, self.size),
            Kind::Pointer if bits == 0 => Some("0".to_owned()),
            Kind::Pointer => Some(format!("{bits:#x}")),
            Kind::Bool => match bits {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                other => Some(other.to_string()),
            },
            Kind::Character => {
                let byte = u8::try_from(bits).ok().filter(u8::is_ascii_graphic);
                Some(byte.map_or_else(
                    || self.signed(bits).to_string(),
                    |it| format!("'{}'", char::from(it)),
                ))
            }
            Kind::Enumeration(names) => {
                let name = names.iter().find(|it| it.0 == bits).map(|it| it.1.clone());
                Some(name.unwrap_or_else(|| self.signed(bits).to_string()))
            }
        }
    }

    fn signed(&self, bits: u128) -> i128 {
        let unused = 128 - self.size.clamp(1, 16) * 8;
        bits.cast_signed() << unused >> unused
    }
}

/// Keeps the lowest bytes.
fn cut(bits: u128, size: u64) -> u128 {
    let unused = 128 - size.clamp(1, 16) * 8;
    bits << unused >> unused
}

fn float(bits: u128, size: u64) -> Option<String> {
    match size {
        4 => Some(format!("{:?}", f32::from_bits(u32::try_from(bits).ok()?))),
        8 => Some(format!("{:?}", f64::from_bits(u64::try_from(bits).ok()?))),
        _ => None,
    }
}

/// `signed char` and `unsigned char` are small numbers; only `char` is text.
fn base(units: &Units<'_>, die: DieId, entry: &Entry<'_>) -> Kind {
    let Some(AttributeValue::Encoding(encoding)) = entry.attr_value(gimli::DW_AT_encoding) else {
        return Kind::Unknown;
    };
    match encoding {
        gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char
            if crate::name::plain(units, die).as_deref() == Some("char") =>
        {
            Kind::Character
        }
        gimli::DW_ATE_signed | gimli::DW_ATE_signed_char => Kind::Signed,
        gimli::DW_ATE_unsigned | gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF => Kind::Unsigned,
        gimli::DW_ATE_boolean => Kind::Bool,
        gimli::DW_ATE_float => Kind::Float,
        _ => Kind::Unknown,
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
                .map(|(value, name)| (cut(i128::from(value).cast_unsigned(), size), name)),
        );
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: Kind, size: u64, bits: u128) -> String {
        Reading { size, kind }.text(bits).unwrap_or_default()
    }

    #[test]
    fn numbers() {
        assert_eq!(text(Kind::Signed, 4, 0xffff_ffff), "-1");
        assert_eq!(text(Kind::Signed, 8, 0xffff_ffff), "4294967295");
        assert_eq!(text(Kind::Signed, 1, 0x80), "-128");
        assert_eq!(text(Kind::Signed, 16, u128::MAX), "-1");
        assert_eq!(text(Kind::Unsigned, 4, 0xffff_ffff), "4294967295");
        assert_eq!(text(Kind::Float, 8, 1.5f64.to_bits().into()), "1.5");
        assert_eq!(text(Kind::Float, 4, 2.0f32.to_bits().into()), "2.0");
        assert_eq!(text(Kind::Float, 16, 1), "");
    }

    #[test]
    fn words() {
        assert_eq!(text(Kind::Bool, 1, 1), "true");
        assert_eq!(text(Kind::Bool, 1, 7), "7");
        assert_eq!(text(Kind::Pointer, 8, 0x10), "0x10");
        assert_eq!(text(Kind::Pointer, 8, 0), "0");
        assert_eq!(text(Kind::Character, 1, 97), "'a'");
        assert_eq!(text(Kind::Character, 1, 0xff), "-1");
        let names = Kind::Enumeration([(1, "OPEN".to_owned())].into());
        assert_eq!(text(names.clone(), 4, 1), "OPEN");
        assert_eq!(text(names, 4, 0xffff_ffff), "-1");
    }
}
