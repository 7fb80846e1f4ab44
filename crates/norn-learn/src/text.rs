//! The text form of invariants: one in each line, to be read and edited.
//!
//! ```text
//! total @ report progress.c:37: = sum of done[] @ report progress.c:36  # 50 runs, 50 reads
//! state @ poll server.c:12: in {0, 1, 3}  # 50 runs, 200 reads
//! ```

use std::{fmt, str::FromStr};

use thiserror::Error;

use crate::{Direction, Invariant, Property, ReadPoint, Support};

/// The first line of a file.
pub const HEAD: &str = "# norn invariants 1";

/// Why a line is no invariant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LineError {
    /// The variable and its place are missing.
    #[error("expected `VARIABLE @ PLACE: PROPERTY`, found `{0}`")]
    Point(String),
    /// The property is unknown.
    #[error(
        "expected `= N`, `in {{N, N}}`, `in N..N`, `!= 0`, `= VARIABLE @ PLACE`, `<= VARIABLE @ PLACE`, \
         `= sum of VARIABLE @ PLACE`, `never decreases` or `never increases`, found `{0}`"
    )]
    Property(String),
}

/// Why a file has no invariants.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TextError {
    /// It begins with something else.
    #[error("a file of invariants begins with `{HEAD}`")]
    Head,
    /// A line is no invariant.
    #[error("line {0}: {1}")]
    Line(usize, LineError),
}

/// Writes invariants.
pub fn write(invariants: &[Invariant], runs: u64) -> String {
    let lines = invariants.iter().map(|it| format!("{it}\n"));
    let counts =
        format!("# {} in {}\n", count(invariants.len() as u64, "invariant"), count(runs, "run"));
    format!("{HEAD}\n{counts}{}", lines.collect::<String>())
}

/// Reads invariants. Empty lines and comments are ignored.
pub fn parse(text: &str) -> Result<Vec<Invariant>, TextError> {
    let mut lines = text.lines().zip(1..);
    if lines.next().is_none_or(|it| it.0.trim() != HEAD) {
        return Err(TextError::Head);
    }
    let is_content = |it: &(&str, usize)| !it.0.split('#').next().unwrap_or("").trim().is_empty();
    let parse = |(line, number): (&str, usize)| {
        line.parse().map_err(|error| TextError::Line(number, error))
    };
    lines.filter(is_content).map(parse).collect()
}

fn count(number: u64, word: &str) -> String {
    if number == 1 { format!("{number} {word}") } else { format!("{number} {word}s") }
}

impl fmt::Display for ReadPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @ {}", self.variable, self.place)
    }
}

impl FromStr for ReadPoint {
    type Err = LineError;

    fn from_str(text: &str) -> Result<ReadPoint, LineError> {
        let wrong = || LineError::Point(text.to_owned());
        let (variable, place) = text.split_once(" @ ").ok_or_else(wrong)?;
        let (variable, place) = (variable.trim().to_owned(), place.trim().to_owned());
        if variable.is_empty() || place.is_empty() {
            return Err(wrong());
        }
        Ok(ReadPoint { variable, place })
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::Constant(value) => write!(f, "= {value}"),
            Property::OneOf(values) => {
                let values: Vec<_> = values.iter().map(i64::to_string).collect();
                write!(f, "in {{{}}}", values.join(", "))
            }
            Property::Range(low, high) => write!(f, "in {low}..{high}"),
            Property::NonZero => write!(f, "!= 0"),
            Property::Equal(other) => write!(f, "= {other}"),
            Property::AtMost(other) => write!(f, "<= {other}"),
            Property::Sum(array) => write!(f, "= sum of {array}"),
            Property::Monotone(Direction::Up) => write!(f, "never decreases"),
            Property::Monotone(Direction::Down) => write!(f, "never increases"),
        }
    }
}

impl FromStr for Property {
    type Err = LineError;

    fn from_str(text: &str) -> Result<Property, LineError> {
        property(text).ok_or_else(|| LineError::Property(text.to_owned()))
    }
}

fn property(text: &str) -> Option<Property> {
    match text {
        "!= 0" => return Some(Property::NonZero),
        "never decreases" => return Some(Property::Monotone(Direction::Up)),
        "never increases" => return Some(Property::Monotone(Direction::Down)),
        _ => {}
    }
    if let Some(other) = text.strip_prefix("<= ") {
        return other.parse().ok().map(Property::AtMost);
    }
    if let Some(array) = text.strip_prefix("= sum of ") {
        return array.parse().ok().map(Property::Sum);
    }
    if let Some(value) = text.strip_prefix("= ") {
        let constant = value.parse().map(Property::Constant).ok();
        return constant.or_else(|| value.parse().ok().map(Property::Equal));
    }
    let set = text.strip_prefix("in ")?;
    if let Some(values) = set.strip_prefix('{') {
        let values = values.strip_suffix('}')?.split(',').map(|it| it.trim().parse());
        return values.collect::<Result<_, _>>().ok().map(Property::OneOf);
    }
    let (low, high) = set.split_once("..")?;
    Some(Property::Range(low.parse().ok()?, high.parse().ok()?))
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Support { runs, reads } = self.support;
        write!(f, "{}: {}", self.point, self.property)?;
        if self.support != Support::default() {
            write!(f, "  # {}, {}", count(runs, "run"), count(reads, "read"))?;
        }
        Ok(())
    }
}

impl FromStr for Invariant {
    type Err = LineError;

    fn from_str(line: &str) -> Result<Invariant, LineError> {
        let (text, comment) = line.split_once('#').unwrap_or((line, ""));
        let wrong = || LineError::Point(text.trim().to_owned());
        let (point, property) = text.split_once(": ").ok_or_else(wrong)?;
        let property = property.trim().parse()?;
        let mut numbers = comment.split(',').map(|it| it.split_whitespace().next()?.parse().ok());
        let support = match (numbers.next().flatten(), numbers.next().flatten()) {
            (Some(runs), Some(reads)) => Support { runs, reads },
            _ => Support::default(),
        };
        Ok(Invariant { point: point.trim().parse()?, property, support })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said() {
        let text = |line: &str| format!("{HEAD}\n\n# a comment\n{line}\n");
        assert_eq!(parse("x @ f: = 1"), Err(TextError::Head));
        let error = |line: &str| parse(&text(line)).map_err(|it| it.to_string()).unwrap_err();
        assert!(error("x = 1").starts_with("line 4: expected `VARIABLE @ PLACE: PROPERTY`"));
        assert!(error("x @ f a.c:1: > 1").ends_with("found `> 1`"));
        assert_eq!(parse(&text("x @ f a.c:1: = 1")).map(|it| it.len()), Ok(1));
    }
}
