//! A schedule: a sequence of segments, each of which runs one thread up to a point. A plain value
//! that users can write:
//!
//! ```json
//! [
//!   {"thread": "T0", "until": {"before": "join"}},
//!   {"thread": "T0.1", "until": {"after": "read counter.c:12"}},
//!   {"thread": "T0.2", "until": "end"}
//! ]
//! ```

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{PointError, ThreadName, Visit};

/// A sequence of segments, each of which runs one thread up to a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schedule {
    /// Its segments.
    pub segments: Vec<Segment>,
}

/// Runs one thread up to a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The thread.
    pub thread: ThreadName,
    /// The end of the segment.
    pub until: Until,
}

/// The end of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Form", into = "Form")]
pub enum Until {
    /// Before the thread's event with this index, which is expected to be at this point.
    Event {
        /// The index of the event in its thread, from 0.
        index: u64,
        /// Its point, if known, with the count in this segment. The count is needed if the program
        /// was rebuilt, because the index may then differ.
        at: Option<Visit>,
    },
    /// Before the thread reaches a point, counted from the segment's start.
    Before(Visit),
    /// After the thread has executed the event at a point, counted from the segment's start.
    After(Visit),
    /// When the thread blocks.
    Blocks,
    /// When a wait of the thread has timed out, before the thread continues.
    Timeout,
    /// When the thread ends.
    End,
}

impl Until {
    /// The place in the code at which the segment ends, if it ends at one.
    pub fn visit(&self) -> Option<&Visit> {
        match self {
            Until::Event { at, .. } => at.as_ref(),
            Until::Before(visit) | Until::After(visit) => Some(visit),
            Until::Blocks | Until::Timeout | Until::End => None,
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Event { index, at: Some(at) } => write!(f, "before event {index}, {at}"),
            Until::Event { index, at: None } => write!(f, "before event {index}"),
            Until::Before(visit) => write!(f, "before {visit}"),
            Until::After(visit) => write!(f, "after {visit}"),
            Until::Blocks => write!(f, "until it blocks"),
            Until::Timeout => write!(f, "until its time runs out"),
            Until::End => write!(f, "to its end"),
        }
    }
}

/// Why the end of a segment cannot be parsed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UntilError {
    /// An unknown keyword.
    #[error("`{0}` is no end of a segment: expected {FORMS}")]
    Word(String),
    /// A table with too many or too few fields.
    #[error("a segment ends in one way: {FORMS}")]
    Table,
    /// An invalid point.
    #[error(transparent)]
    Point(#[from] PointError),
}

const FORMS: &str = r#""end", "blocks", "timeout", {"before": POINT}, {"after": POINT} or {"event": N, "at": POINT}"#;

/// The serialized forms of an end.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = r#"expected "end", "blocks", "timeout", {"before": POINT}, {"after": POINT} or {"event": N, "at": POINT}"#
)]
enum Form {
    Word(String),
    Table(Table),
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    event: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl TryFrom<Form> for Until {
    type Error = UntilError;

    fn try_from(form: Form) -> Result<Until, UntilError> {
        let table = match form {
            Form::Word(word) if word == "end" => return Ok(Until::End),
            Form::Word(word) if word == "blocks" => return Ok(Until::Blocks),
            Form::Word(word) if word == "timeout" => return Ok(Until::Timeout),
            Form::Word(word) => return Err(UntilError::Word(word)),
            Form::Table(table) => table,
        };
        match (table.event, table.at, table.before, table.after) {
            (Some(index), at, None, None) => {
                let at = at.map(|it| it.parse::<Visit>()).transpose()?;
                Ok(Until::Event { index, at })
            }
            (None, None, Some(before), None) => Ok(Until::Before(before.parse()?)),
            (None, None, None, Some(after)) => Ok(Until::After(after.parse()?)),
            _ => Err(UntilError::Table),
        }
    }
}

impl From<Until> for Form {
    fn from(until: Until) -> Form {
        let text = |it: &dyn fmt::Display| Some(it.to_string());
        let none = Table::default();
        Form::Table(match until {
            Until::End => return Form::Word("end".to_owned()),
            Until::Blocks => return Form::Word("blocks".to_owned()),
            Until::Timeout => return Form::Word("timeout".to_owned()),
            Until::Before(visit) => Table { before: text(&visit), ..none },
            Until::After(visit) => Table { after: text(&visit), ..none },
            Until::Event { index, at } => {
                Table { event: Some(index), at: at.map(|it| it.to_string()), ..none }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"[
        {"thread": "T0", "until": {"before": "join"}},
        {"thread": "T0.1", "until": {"after": "read counter.c:12 x2"}},
        {"thread": "T0.2", "until": {"event": 17, "at": "lock a.c:3 in f x2 @prog+0x1a"}},
        {"thread": "T0.2", "until": {"event": 20}},
        {"thread": "T0.1", "until": "blocks"},
        {"thread": "T0.1", "until": "timeout"},
        {"thread": "T0.2", "until": "end"}
    ]"#;

    #[test]
    fn schedules_round_trip() {
        let schedule: Schedule = serde_json::from_str(TEXT).unwrap();
        assert_eq!(schedule.segments.len(), 7);
        let written = serde_json::to_value(&schedule).unwrap();
        assert_eq!(written, serde_json::from_str::<serde_json::Value>(TEXT).unwrap());
        assert_eq!(serde_json::from_value::<Schedule>(written).unwrap(), schedule);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |until: &str| {
            let text = format!(r#"[{{"thread": "T0", "until": {until}}}]"#);
            serde_json::from_str::<Schedule>(&text).unwrap_err().to_string()
        };
        assert!(error(r#""never""#).contains("`never` is no end"));
        assert!(error(r#"{"before": "reed a.c:1"}"#).contains("`reed a.c:1` does not begin"));
        assert!(error(r#"{"before": "read", "after": "read"}"#).contains("ends in one way"));
        assert!(error(r#"{"befor": "read"}"#).contains("expected \"end\""));
    }
}
