//! Data races that synchronisation may order which is not recorded.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use super::finding::line;
use crate::{Report, UnrecordedOrder, UnrecordedSync, vocabulary::place};

/// Maximum number of races that are listed.
const LINES: usize = 10;

const HINT: &str = "hint: use the atomics of C or C++ instead of assembly, build the code with `norn cc`, \
                    or declare the synchronisation with annotations";

/// Lists them, each with what may order its accesses.
pub(super) fn unrecorded(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let quiet = report.findings.iter().filter(|it| !it.harmful && it.suppressed_by.is_none());
    let lines = quiet.filter_map(|it| Some((line(it), reason(it.unrecorded_sync.as_ref()?))));
    let lines: BTreeSet<_> = lines.collect();
    if lines.is_empty() {
        return Ok(());
    }
    let title =
        "not counted as harmful, because synchronisation that is not recorded may order them";
    writeln!(out, "{title}:")?;
    for (race, reason) in lines.iter().take(LINES) {
        writeln!(out, "  {race}")?;
        writeln!(out, "    {reason}")?;
    }
    if lines.len() > LINES {
        writeln!(out, "  and {} more; --format json lists all of them", lines.len() - LINES)?;
    }
    writeln!(out, "  {HINT}")
}

/// What may order the accesses of a race.
fn reason(order: &UnrecordedOrder) -> String {
    let parts = [
        ("after the first access", order.release.as_ref()),
        ("before the second", order.acquire.as_ref()),
    ];
    let parts = parts.into_iter().filter_map(|(when, it)| Some(format!("{} {when}", shown(it?))));
    parts.collect::<Vec<_>>().join(", ")
}

fn shown(sync: &UnrecordedSync) -> String {
    let at = sync.location.as_ref().map_or_else(String::new, |it| format!(" in {}", place(it)));
    format!("`{}`{at}", sync.instruction)
}
