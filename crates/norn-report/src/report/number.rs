//! Numbers that JSON readers would lose digits of.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A value of up to sixteen bytes. JSON has it as a number if 64 bits are enough, else as a string
/// of decimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(pub u128);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(small) => to.serialize_u64(small),
            Err(_) => to.collect_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Number(u64),
            Digits(String),
        }
        match Form::deserialize(from)? {
            Form::Number(small) => Ok(Number(small.into())),
            Form::Digits(digits) => digits.parse().map(Number).map_err(D::Error::custom),
        }
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number, or a string of decimal digits if 64 bits are not enough.",
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string", "pattern": "^[0-9]+$" }
            ]
        })
    }
}

/// Small numbers are decimal, large ones, which are mostly pointers, hexadecimal.
impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 <= u128::from(u32::MAX) {
            write!(f, "{}", self.0)
        } else {
            write!(f, "{:#x}", self.0)
        }
    }
}

/// An address. JSON has it as a string: `0x7f001234`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub u64);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Address, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.strip_prefix("0x").ok_or_else(|| D::Error::custom("no address"))?;
        u64::from_str_radix(digits, 16).map(Address).map_err(D::Error::custom)
    }
}

impl JsonSchema for Address {
    fn schema_name() -> Cow<'static, str> {
        "Address".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An address, in hexadecimal digits.",
            "type": "string",
            "pattern": "^0x[0-9a-f]+$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_do_not_fit_are_strings() {
        let json = |it| serde_json::to_string(&Number(it)).unwrap();
        assert_eq!(json(7), "7");
        assert_eq!(json(u128::from(u64::MAX)), "18446744073709551615");
        assert_eq!(json(1 << 64), "\"18446744073709551616\"");
        assert_eq!(serde_json::to_string(&Address(0x1f)).unwrap(), "\"0x1f\"");
        assert_eq!(Number(9).to_string(), "9");
        assert_eq!(Number(1 << 40).to_string(), "0x10000000000");
    }
}
