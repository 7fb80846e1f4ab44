//! Paths and arguments, which need not be UTF-8, in JSON.
//!
//! JSON has only Unicode text. A path or argument that is UTF-8 is a string; any other is an object
//! with its bytes in hexadecimal, so that it is read back exactly as it was written:
//!
//! ```json
//! ["./caf\u00e9", {"hex": "2e2f636166e9"}]
//! ```

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// A path or an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub struct OsText(pub OsString);

/// The form in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { hex: String },
}

impl OsText {
    /// The text for a reader, with `\u{fffd}` for what is not UTF-8.
    pub fn lossy(&self) -> Cow<'_, str> {
        self.0.to_string_lossy()
    }

    /// The path that it is.
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl<T: Into<OsString>> From<T> for OsText {
    fn from(text: T) -> OsText {
        OsText(text.into())
    }
}

impl AsRef<OsStr> for OsText {
    fn as_ref(&self) -> &OsStr {
        &self.0
    }
}

impl From<OsText> for PathBuf {
    fn from(text: OsText) -> PathBuf {
        text.0.into()
    }
}

impl From<OsText> for Form {
    fn from(text: OsText) -> Form {
        match text.0.into_string() {
            Ok(text) => Form::Text(text),
            Err(other) => {
                let digit = |it: u8| char::from_digit(it.into(), 16).unwrap_or_default();
                let digits =
                    other.as_bytes().iter().flat_map(|it| [digit(it >> 4), digit(it & 15)]);
                Form::Bytes { hex: digits.collect() }
            }
        }
    }
}

impl TryFrom<Form> for OsText {
    type Error = String;

    fn try_from(form: Form) -> Result<OsText, String> {
        let hex = match form {
            Form::Text(text) => return Ok(OsText(text.into())),
            Form::Bytes { hex } => hex,
        };
        let byte = |pair: &[u8]| {
            let [high, low] = pair else { return None };
            let digit = |it: u8| char::from(it).to_digit(16);
            u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
        };
        let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(byte).collect();
        let bytes = bytes.ok_or_else(|| format!("`{hex}` is not a list of hexadecimal bytes"))?;
        Ok(OsText(OsString::from_vec(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(bytes: &[u8]) -> OsText {
        OsText(OsString::from_vec(bytes.to_vec()))
    }

    #[test]
    fn text_is_a_string_and_other_bytes_are_hexadecimal() {
        let json = |bytes: &[u8]| serde_json::to_string(&of(bytes)).unwrap();
        assert_eq!(json(b"./prog"), "\"./prog\"");
        assert_eq!(json(b"caf\xe9"), r#"{"hex":"636166e9"}"#);
    }

    #[test]
    fn wrong_bytes_are_an_error() {
        for hex in ["6", "6g", "é", "+1"] {
            let text = format!(r#"{{"hex": "{hex}"}}"#);
            let error = serde_json::from_str::<OsText>(&text).unwrap_err().to_string();
            assert!(error.contains(hex), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_round_trip(bytes: Vec<u8>) {
            let text = of(&bytes);
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<OsText>(&json).unwrap(), text);
        }
    }
}
