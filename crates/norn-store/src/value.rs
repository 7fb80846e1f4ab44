//! Values of columns: whole numbers, texts and bytes are all that the schema uses.

use crate::StoreError;

/// The value of a column or of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// No value.
    Null,
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<u64> for Value {
    /// Numbers are counted from 0 and stay far below the limit of the columns.
    fn from(number: u64) -> Value {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Value {
        Value::Int(yes.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        // PostgreSQL has no texts with this character.
        Value::Text(text.replace('\0', "\u{fffd}"))
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// Takes the values of a row, column by column. Whoever can write to a database may have changed
/// it, so that nothing about its content is certain.
#[derive(Debug)]
pub(crate) struct Columns(std::vec::IntoIter<Value>);

impl Columns {
    pub(crate) fn new(row: Vec<Value>) -> Columns {
        Columns(row.into_iter())
    }

    pub(crate) fn int(&mut self) -> Result<i64, StoreError> {
        self.optional_int()?.ok_or(StoreError::Content("a number is missing"))
    }

    pub(crate) fn unsigned(&mut self) -> Result<u64, StoreError> {
        u64::try_from(self.int()?).map_err(|_| StoreError::Content("a number is negative"))
    }

    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        self.optional_text()?.ok_or(StoreError::Content("a text is missing"))
    }

    pub(crate) fn optional_int(&mut self) -> Result<Option<i64>, StoreError> {
        match self.0.next() {
            Some(Value::Int(number)) => Ok(Some(number)),
            Some(Value::Null) => Ok(None),
            Some(Value::Text(_) | Value::Bytes(_)) | None => {
                Err(StoreError::Content("a column is not a number"))
            }
        }
    }

    pub(crate) fn optional_text(&mut self) -> Result<Option<String>, StoreError> {
        match self.0.next() {
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(Value::Null) => Ok(None),
            Some(Value::Int(_) | Value::Bytes(_)) | None => {
                Err(StoreError::Content("a column is not a text"))
            }
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>, StoreError> {
        match self.0.next() {
            Some(Value::Bytes(bytes)) => Ok(bytes),
            _ => Err(StoreError::Content("a column has no bytes")),
        }
    }
}
