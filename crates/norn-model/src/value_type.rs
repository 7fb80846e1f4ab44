//! The type of a variable without members: how its bits are shown to a person.

use std::sync::Arc;

/// The type of a variable without members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueType {
    /// The size in bytes.
    pub size: u64,
    /// The interpretation of the bits.
    pub kind: ValueKind,
}

/// The interpretation of the bits of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ValueKind {
    /// Unknown.
    #[default]
    Unknown,
    /// An unsigned number.
    Unsigned,
    /// A signed number.
    Signed,
    /// A floating-point number.
    Float,
    /// An address.
    Pointer,
    /// A truth value.
    Bool,
    /// A character.
    Character,
    /// An enumeration: the names of its values, by their bits.
    Enumeration(Arc<[(u128, String)]>),
}

impl ValueType {
    /// The value with these bits, as a programmer would write it; none if the type is unknown.
    pub fn text(&self, bits: u128) -> Option<String> {
        let bits = truncated(bits, self.size);
        match &self.kind {
            ValueKind::Unknown => None,
            ValueKind::Unsigned => Some(bits.to_string()),
            ValueKind::Signed => Some(self.signed(bits).to_string()),
            ValueKind::Float => float(bits, self.size),
            ValueKind::Pointer if bits == 0 => Some("0".to_owned()),
            ValueKind::Pointer => Some(format!("{bits:#x}")),
            ValueKind::Bool => match bits {
                0 => Some("false".to_owned()),
                1 => Some("true".to_owned()),
                other => Some(other.to_string()),
            },
            ValueKind::Character => {
                let byte = u8::try_from(bits).ok().filter(u8::is_ascii_graphic);
                Some(byte.map_or_else(
                    || self.signed(bits).to_string(),
                    |it| format!("'{}'", char::from(it)),
                ))
            }
            ValueKind::Enumeration(names) => {
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

/// The bits of the lowest `size` bytes.
pub fn truncated(bits: u128, size: u64) -> u128 {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: ValueKind, size: u64, bits: u128) -> String {
        ValueType { size, kind }.text(bits).unwrap_or_default()
    }

    #[test]
    fn numbers() {
        assert_eq!(text(ValueKind::Signed, 4, 0xffff_ffff), "-1");
        assert_eq!(text(ValueKind::Signed, 8, 0xffff_ffff), "4294967295");
        assert_eq!(text(ValueKind::Signed, 1, 0x80), "-128");
        assert_eq!(text(ValueKind::Signed, 16, u128::MAX), "-1");
        assert_eq!(text(ValueKind::Unsigned, 4, 0xffff_ffff), "4294967295");
        assert_eq!(text(ValueKind::Float, 8, 1.5f64.to_bits().into()), "1.5");
        assert_eq!(text(ValueKind::Float, 4, 2.0f32.to_bits().into()), "2.0");
        assert_eq!(text(ValueKind::Float, 16, 1), "");
    }

    #[test]
    fn words() {
        assert_eq!(text(ValueKind::Bool, 1, 1), "true");
        assert_eq!(text(ValueKind::Bool, 1, 7), "7");
        assert_eq!(text(ValueKind::Pointer, 8, 0x10), "0x10");
        assert_eq!(text(ValueKind::Pointer, 8, 0), "0");
        assert_eq!(text(ValueKind::Character, 1, 97), "'a'");
        assert_eq!(text(ValueKind::Character, 1, 0xff), "-1");
        let names = ValueKind::Enumeration([(1, "OPEN".to_owned())].into());
        assert_eq!(text(names.clone(), 4, 1), "OPEN");
        assert_eq!(text(names, 4, 0xffff_ffff), "-1");
    }
}
