//! Suggested fixes in words.

use super::{short_function, source};
use crate::{Fix, FixSection, LockObjection, RejectedLock};

/// What to do: `hold lock in pay_in from account.c:28 to 29`.
pub fn fix(fix: &Fix) -> String {
    let lock = match &fix.lock {
        Some(lock) => format!("`{}`", lock.full_name()),
        None => "one new lock".to_owned(),
    };
    let sections: Vec<_> = fix.sections.iter().map(section).collect();
    format!("hold {lock} {}", list(&sections))
}

/// What else there is to know about it, and what was checked.
pub fn fix_notes(fix: &Fix) -> Vec<String> {
    let mut notes = Vec::new();
    if !fix.acquired_inside.is_empty() {
        let places: Vec<_> = fix.acquired_inside.iter().filter_map(source).collect();
        notes.push(format!("it is acquired inside, too ({}): acquire it only once", list(&places)));
    }
    let cycles = match fix.cycles {
        0 => String::new(),
        1 => " (1 lock cycle was examined)".to_owned(),
        count => format!(" ({count} lock cycles were examined)"),
    };
    notes.push(format!(
        "proved by the exact engine, for this run only: with the lock, the accesses cannot interleave like \
         this, and there is no new deadlock{cycles}; other orders may still fail",
    ));
    notes.extend(fix.rejected.iter().map(rejected));
    notes
}

/// `in pay_in from account.c:28 to 29`.
fn section(section: &FixSection) -> String {
    let FixSection { from, to, loops } = section;
    let function = from.function.as_deref().map(short_function);
    let function = function.map_or_else(String::new, |it| format!("in {it} "));
    let place = source(from).unwrap_or_else(|| "?".to_owned());
    let around = if *loops { ", around the loop" } else { "" };
    if from.line == Some(*to) {
        format!("{function}at {place}{around}")
    } else {
        format!("{function}from {place} to {to}{around}")
    }
}

fn rejected(it: &RejectedLock) -> String {
    let why = match it.why {
        LockObjection::NotExcluded => "it does not exclude the bug for certain",
        LockObjection::Deadlock => "holding it there may lead to a deadlock",
        LockObjection::HeldSometimes => "some executions of these lines hold it already",
        LockObjection::NoPlace => "the accesses are not in one function",
    };
    format!("not `{}`: {why}", it.lock.full_name())
}

/// `a, b and c`.
fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
