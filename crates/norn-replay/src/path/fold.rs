//! Compresses long sequences of numbers to a short text: `0 1 (2 3)*40 4*7`. A group that repeats
//! immediately is written once with a count. Groups can be nested.

use std::fmt::{self, Write as _};

use thiserror::Error;

/// The longest group that is searched for.
const LONGEST: usize = 64;

/// Why a text is not a sequence.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum FoldError {
    /// A word is not a number, or parentheses do not match.
    #[error("`{0}` is not a sequence: expected numbers and groups such as (1 2)*3")]
    Syntax(String),
    /// It is longer than the limit.
    #[error("a sequence has more than {0} numbers")]
    TooLong(usize),
}

/// A part of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    One(u32),
    Group { body: Vec<Item>, times: u64 },
}

/// Writes a sequence.
pub(crate) fn fold(numbers: &[u32]) -> String {
    let mut items = Vec::new();
    for &number in numbers {
        items.push(Item::One(number));
        while fold_end(&mut items) {}
    }
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut text, &items);
    text
}

/// Folds the last items if they repeat the items before them. Returns whether they did.
fn fold_end(items: &mut Vec<Item>) -> bool {
    let all = items.len();
    for period in 1..=LONGEST.min(all.saturating_sub(1)) {
        let (before, end) = items.split_at_mut(all - period);
        if let Some(Item::Group { body, times }) = before.last_mut()
            && body == end
        {
            *times += 1;
            items.truncate(all - period);
            return true;
        }
        if before.ends_with(end) {
            let body = items.split_off(all - period);
            items.truncate(all - 2 * period);
            items.push(Item::Group { body, times: 2 });
            return true;
        }
    }
    false
}

fn write(text: &mut String, items: &[Item]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { " " });
        match item {
            Item::One(number) => write!(text, "{number}")?,
            Item::Group { body, times } => {
                if let [Item::One(number)] = body[..] {
                    write!(text, "{number}*{times}")?;
                } else {
                    text.push('(');
                    write(text, body)?;
                    write!(text, ")*{times}")?;
                }
            }
        }
    }
    Ok(())
}

/// Reads a sequence of at most `most` numbers.
pub(crate) fn unfold(text: &str, most: usize) -> Result<Vec<u32>, FoldError> {
    // The start indices of the open groups.
    let mut open: Vec<usize> = Vec::new();
    let mut numbers = Vec::new();
    let wrong = |word: &str| FoldError::Syntax(word.to_owned());
    for word in text.split_ascii_whitespace() {
        let inner = word.trim_start_matches('(');
        open.extend(std::iter::repeat_n(numbers.len(), word.len() - inner.len()));
        let mut parts = inner.split(')');
        let first = parts.next().unwrap_or(inner);
        let (number, times) = first.split_once('*').unwrap_or((first, "1"));
        let start = numbers.len();
        numbers.push(number.parse().map_err(|_| wrong(word))?);
        repeat(&mut numbers, start, times, most).ok_or_else(|| wrong(word))??;
        for end in parts {
            let start = open.pop().ok_or_else(|| wrong(word))?;
            let times = end.strip_prefix('*').ok_or_else(|| wrong(word))?;
            repeat(&mut numbers, start, times, most).ok_or_else(|| wrong(word))??;
        }
    }
    if open.is_empty() { Ok(numbers) } else { Err(wrong(text)) }
}

/// Repeats the numbers from `start` on; none if `times` is not a positive number.
fn repeat(
    numbers: &mut Vec<u32>,
    start: usize,
    times: &str,
    most: usize,
) -> Option<Result<(), FoldError>> {
    let times = times.parse::<usize>().ok().filter(|&it| it > 0)?;
    let body = numbers[start..].to_vec();
    if start.saturating_add(body.len().saturating_mul(times)) > most {
        return Some(Err(FoldError::TooLong(most)));
    }
    for _ in 1..times {
        numbers.extend_from_slice(&body);
    }
    Some(Ok(()))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[track_caller]
    fn check(numbers: &[u32], text: &str) {
        assert_eq!(fold(numbers), text);
        assert_eq!(unfold(text, 1000).unwrap(), numbers);
    }

    #[test]
    fn repeated_groups_are_written_once() {
        check(&[], "");
        check(&[7], "7");
        check(&[0, 1, 2, 2, 2, 3], "0 1 2*3 3");
        check(&[1, 2, 1, 2, 1, 2, 3], "(1 2)*3 3");
        check(&[1, 1, 2, 1, 1, 2, 5], "(1*2 2)*2 5");
        check(&[[1, 2, 3].repeat(3), vec![9]].concat().repeat(2), "((1 2 3)*3 9)*2");
    }

    #[test]
    fn a_long_loop_has_a_short_text() {
        assert_eq!(fold(&[4, 5, 6].repeat(33_000)), "(4 5 6)*33000");
    }

    #[test]
    fn invalid_sequences_are_rejected() {
        for text in ["a", "1 (2", "1)*2", "(1 2)", "1*0", "2*", "()*2", "1*2*3", "-1"] {
            assert!(matches!(unfold(text, 9), Err(FoldError::Syntax(_))), "{text}");
        }
        assert_eq!(unfold("(1*100000 2)*100000000000", 9), Err(FoldError::TooLong(9)));
        assert_eq!(unfold("1 2 3*3", 4), Err(FoldError::TooLong(4)));
        assert!(unfold(&"(".repeat(100), 9).is_err());
    }

    proptest! {
        #[test]
        fn a_folded_sequence_unfolds_unchanged(numbers in vec(0..3_u32, 0..200)) {
            prop_assert_eq!(unfold(&fold(&numbers), 200), Ok(numbers));
        }

        #[test]
        fn unfolding_any_text_does_not_exceed_the_limit(text in "[0-9 ()*]{0,40}") {
            if let Ok(numbers) = unfold(&text, 100) {
                prop_assert!(numbers.len() <= 100);
            }
        }
    }
}
