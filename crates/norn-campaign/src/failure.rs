//! Whether a run passed, and the failures by which failing runs are clustered.

use std::cmp::Ordering;

use norn_model::{Consequence, FailureSite};
use norn_report::vocabulary::consequence;
use serde::{Deserialize, Serialize};

/// Maximum number of bytes of a match that identify a failure.
const MATCHED: usize = 200;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed(Failure),
    /// It exceeded a limit, which shows nothing about the program.
    Unfinished,
}

impl RunOutcome {
    /// The failure.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            RunOutcome::Failed(failure) => Some(failure),
            RunOutcome::Passed | RunOutcome::Unfinished => None,
        }
    }
}

/// A failure. Two failures are the same if they are of the same kind and at the same places, whatever
/// values of one run their texts contain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// What identifies it.
    pub site: FailureSite,
    /// Its description, from one of the runs.
    pub title: String,
}

impl Failure {
    /// A failure that the run itself showed, and its place.
    pub fn new(led_to: &Consequence, site: Option<FailureSite>) -> Failure {
        let site = site.unwrap_or_else(|| FailureSite::new(led_to, []));
        Failure { site, title: consequence(led_to) }
    }

    /// Whether both are of one kind, wherever they are.
    pub(crate) fn is_like(&self, other: &Failure) -> bool {
        self.site.kind == other.site.kind
    }

    /// A failure that a regular expression of the user found in the output. Failures with other texts are
    /// other ones, but numbers and addresses differ from run to run.
    pub(crate) fn of_match(regex: &str, found: &[u8]) -> Failure {
        let found = String::from_utf8_lossy(&found[..found.len().min(MATCHED)]).into_owned();
        let of =
            |text: &str| Failure::of_criterion(format!("the output matches `{regex}`: {text}"));
        Failure { title: of(&found).title, ..of(&without_numbers(&found)) }
    }

    /// A failure that only the user's criterion sees.
    pub fn of_criterion(title: impl Into<String>) -> Failure {
        let title = title.into();
        let site = FailureSite { kind: title.clone(), ..FailureSite::new(&Consequence::None, []) };
        Failure { site, title }
    }
}

/// A text with a `#` for each number, decimal or hexadecimal.
fn without_numbers(text: &str) -> String {
    let mut short = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_digit = |it: char| it.is_ascii_digit();
        let hexadecimal =
            rest.strip_prefix("0x").filter(|it| it.starts_with(|c: char| c.is_ascii_hexdigit()));
        rest = if let Some(digits) = hexadecimal {
            digits.trim_start_matches(|it: char| it.is_ascii_hexdigit())
        } else if is_digit(first) {
            rest.trim_start_matches(is_digit)
        } else {
            short.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        short.push('#');
    }
    short
}

impl PartialEq for Failure {
    fn eq(&self, other: &Failure) -> bool {
        self.site == other.site
    }
}

impl Eq for Failure {}

impl PartialOrd for Failure {
    fn partial_cmp(&self, other: &Failure) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Failure {
    fn cmp(&self, other: &Failure) -> Ordering {
        self.site.cmp(&other.site)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_that_differ_only_in_numbers_are_one_failure() {
        let of = |text: &str| Failure::of_match("FAILED.*", text.as_bytes());
        let one = of("FAILED: lost 3 of 10 at 0x7ffd10");
        assert_eq!(one, of("FAILED: lost 12 of 10 at 0x55aF0"));
        assert_ne!(one, of("FAILED: lost all"));
        assert_eq!(one.title, "the output matches `FAILED.*`: FAILED: lost 3 of 10 at 0x7ffd10");
        assert_eq!(without_numbers("0xyz 0x1f, T0.12 ä3"), "#xyz #, T#.# ä#");
    }
}
