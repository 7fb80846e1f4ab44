//! Headlines of patterns.

use norn_localize::PatternKind;
use norn_model::BugClass;
use norn_report::{Access, Action};

/// The class of bugs that a pattern is a sign of.
pub(crate) fn class(kind: PatternKind) -> BugClass {
    if kind.is_triple() { BugClass::Atomicity } else { BugClass::Order }
}

/// A headline: the class, the variable, and what happened to it.
pub(crate) fn title(kind: PatternKind, accesses: &[Access]) -> String {
    let class = class(kind).title();
    let on = match accesses.first() {
        Some(it) => format!(" on `{}`", it.variable.full_name()),
        None => String::new(),
    };
    let freed = accesses.iter().any(|it| it.action == Action::Free);
    let what = if freed { "a thread frees memory that another one uses" } else { meaning(kind) };
    format!("{class}{on}: {what}")
}

fn meaning(kind: PatternKind) -> &'static str {
    match kind {
        PatternKind::ReadWriteRead => "another thread's write falls between two reads",
        PatternKind::WriteWriteRead => "another thread's write falls between a write and a read",
        PatternKind::WriteReadWrite => "another thread's read falls between two writes",
        PatternKind::ReadWriteWrite => "another thread's write falls between a read and a write",
        PatternKind::WriteWriteWrite => "another thread's write falls between two writes",
        PatternKind::ReadWrite => "a read is followed by another thread's write",
        PatternKind::WriteRead => "a write is followed by another thread's read",
        PatternKind::WriteWrite => "a write is followed by another thread's write",
    }
}
