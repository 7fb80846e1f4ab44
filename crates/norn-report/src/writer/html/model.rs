//! What the page shows.

use norn_model::BugClass;
use serde::Serialize;

use super::{
    order::{Order, orders},
    source::Sources,
};
use crate::{
    Access, Action, EventRow, Finding, Fix, Remark, Report, Status, Verdict,
    vocabulary::{self, not_reproduced, obstacle, place},
    writer::{
        entry::{Entry, Severity, Subject, access, entries, of_any, summary},
        timeline::{lanes, sorted},
    },
};

/// The data of the page.
#[derive(Serialize)]
pub(super) struct Page {
    entries: Vec<PageEntry>,
    sources: Vec<super::source::SourceFile>,
    summary: String,
}

/// One finding or failure.
#[derive(Serialize)]
struct PageEntry {
    severity: &'static str,
    /// Its number, if it is a bug.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    title: String,
    headline: String,
    /// The kind by which it is filtered.
    kind: String,
    name: String,
    badge: String,
    consequence: Option<String>,
    /// When it was found.
    found: Option<String>,
    times: usize,
    /// Where it is, in short.
    at: Option<String>,
    files: Vec<String>,
    threads: Vec<String>,
    /// Variables and functions, for the search.
    names: Vec<String>,
    replay: Option<String>,
    why: Vec<String>,
    /// A suggested fix, and what was checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fix: Vec<String>,
    /// Whether the accesses are numbered as in the orders.
    steps: bool,
    accesses: Vec<PageAccess>,
    lanes: Vec<String>,
    failing: Order,
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Order>,
    story: String,
}

/// One access, or the place at which a thread waits.
#[derive(Serialize)]
struct PageAccess {
    thread: String,
    text: String,
    locks: Vec<String>,
    frames: Vec<String>,
    /// All calls, if there are some that `frames` leaves out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

/// The data of the page for a report, whose sources were read before.
pub(super) fn page(report: &Report, sources: &Sources) -> Page {
    let mut all = entries(report);
    // What is not confirmed comes last, with the reason.
    let undecided = report.findings.iter().filter(|it| it.suppressed_by.is_none()).map(of_any);
    let listed = |it: &Entry<'_>| it.severity == Severity::Undecided;
    let known = all.iter().filter(|it| listed(it)).count();
    all.extend(undecided.filter(|it| known == 0 && listed(it)));
    let entries = all.iter().map(|it| entry(it, report, sources)).collect();
    let summary = summary(report);
    Page { entries, sources: sources.files(), summary }
}

fn entry(entry: &Entry<'_>, report: &Report, sources: &Sources) -> PageEntry {
    let (forced, recorded) = entry.orders();
    let threads = lanes(forced.iter().chain(recorded));
    let (failing, recorded) = orders(forced, recorded, &threads, sources);
    let finding = finding(entry);
    let accesses = accesses(entry, sources);
    let at = entry.location().map(place);
    let number = entry.number();
    let title = finding.map(vocabulary::title).or(entry.cause().map(|it| it.title.as_str()));
    let title = title.map_or_else(|| entry.headline.clone(), str::to_owned);
    let consequence = match entry.subject {
        Subject::Failure(it) => vocabulary::observed_news(it),
        _ => finding.and_then(vocabulary::news),
    };
    let name = entry.cause().map(|it| &it.name).or(finding.map(|it| &it.name));
    PageEntry {
        severity: severity(entry),
        number,
        title,
        headline: entry.headline.clone(),
        kind: entry.rule().1.to_owned(),
        name: name.map_or_else(|| entry.rule().1.to_owned(), String::clone),
        badge: badge(entry),
        consequence,
        found: found(entry),
        times: entry.times,
        at,
        files: files(entry),
        threads: all_threads(entry, &threads),
        names: names(entry),
        replay: Some(entry.replay().join(" ")).filter(|it| !it.is_empty()),
        why: why(entry),
        fix: entry.fix().map_or_else(Vec::new, fix),
        steps: is_numbered(entry, forced),
        accesses,
        lanes: threads.iter().map(ToString::to_string).collect(),
        failing,
        recorded,
        story: entry.text(report),
    }
}

/// The accesses of a deadlock are listed thread by thread, and not in the order of its events.
fn is_numbered(entry: &Entry<'_>, rows: &[EventRow]) -> bool {
    entry.rule().0 != BugClass::Deadlock.name() && rows.iter().any(|it| it.step.is_some())
}

fn finding<'a>(entry: &Entry<'a>) -> Option<&'a Finding> {
    match entry.subject {
        Subject::Finding(it, _) => Some(it),
        Subject::Failure(_) | Subject::Run(_) | Subject::Cluster(_) => None,
    }
}

fn severity(entry: &Entry<'_>) -> &'static str {
    match entry.severity {
        Severity::Harmful => "harmful",
        Severity::Unreproducible => "unreproducible",
        Severity::Harmless => "harmless",
        Severity::Undecided => "undecided",
    }
}

/// What came of it.
fn badge(entry: &Entry<'_>) -> String {
    let status = finding(entry).map_or(Status::Observed, |it| it.status);
    let status = vocabulary::status(status);
    match entry.severity {
        Severity::Harmful => format!("{status}, harmful"),
        Severity::Harmless => format!("{status}, without visible harm"),
        Severity::Unreproducible => "not reproducible".to_owned(),
        Severity::Undecided => status.to_owned(),
    }
}

fn found(entry: &Entry<'_>) -> Option<String> {
    let executions = match entry.subject {
        Subject::Finding(it, _) => it.executions?,
        Subject::Failure(it) => it.executions,
        Subject::Run(_) | Subject::Cluster(_) => return None,
    };
    Some(format!("shown by execution {executions}"))
}

/// The stacks of a finding's accesses; of a failure, those of the threads that it is about.
fn accesses(entry: &Entry<'_>, sources: &Sources) -> Vec<PageAccess> {
    let own = entry.accesses();
    if !own.is_empty() {
        return own.iter().map(|it| of_access(it, sources)).collect();
    }
    let stacks = entry.stacks().into_iter();
    let stack = |(text, frames): (String, &[norn_model::Location])| {
        let (thread, text) = text.split_once(' ').unwrap_or(("", &text));
        let (file, line) = sources.place(frames.first());
        let (thread, text) = (thread.to_owned(), text.to_owned());
        PageAccess {
            thread,
            text,
            locks: Vec::new(),
            frames: frames.iter().map(place).collect(),
            calls: Vec::new(),
            file,
            line,
        }
    };
    stacks.map(stack).collect()
}

fn of_access(it: &Access, sources: &Sources) -> PageAccess {
    let text = access(it);
    let text = text.strip_prefix(&it.thread.0).unwrap_or(&text).trim_start().to_owned();
    let text = match it.action {
        Action::Lock | Action::LockShared if it.stuck => {
            format!("waits for {}, and never gets it", it.variable.full_name())
        }
        _ if it.stuck => format!("{text}, and never continues"),
        _ => text,
    };
    let lock = |it: &crate::HeldLock| {
        let shared = if it.shared { " (shared)" } else { "" };
        format!("{}{shared}", it.lock.full_name())
    };
    let (file, line) = sources.place(it.stack.first());
    PageAccess {
        thread: it.thread.to_string(),
        text,
        locks: it.locks.iter().map(lock).collect(),
        frames: it.stack.iter().map(place).collect(),
        calls: if it.frames.len() > it.stack.len() {
            it.frames.iter().map(place).collect()
        } else {
            Vec::new()
        },
        file,
        line,
    }
}

fn fix(it: &Fix) -> Vec<String> {
    let mut lines = vec![vocabulary::fix(it)];
    lines.extend(vocabulary::fix_notes(it));
    lines
}

fn files(entry: &Entry<'_>) -> Vec<String> {
    let stacks = entry.stacks().into_iter().flat_map(|it| it.1);
    let rows = entry.orders().0.iter().filter_map(|it| it.at.as_ref());
    let names = stacks.chain(rows).filter_map(|it| it.file_name()).map(str::to_owned);
    names.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

fn all_threads(entry: &Entry<'_>, lanes: &[&norn_model::ThreadName]) -> Vec<String> {
    let own = entry.accesses();
    let threads = lanes.iter().copied().chain(own.iter().map(|it| &it.thread));
    sorted(threads).into_iter().map(ToString::to_string).collect()
}

fn names(entry: &Entry<'_>) -> Vec<String> {
    let of_finding = finding(entry).map(|it| &it.variables);
    let variables = entry.cause().map(|it| &it.variables).or(of_finding);
    let variables = variables.into_iter().flatten().map(crate::Object::full_name);
    let functions = entry.accesses().iter().flat_map(|it| &it.stack);
    variables.chain(functions.filter_map(|it| it.function.clone())).collect()
}

/// Why it is not confirmed, not reproducible, or possibly intended.
fn why(entry: &Entry<'_>) -> Vec<String> {
    let mut why = entry.not_reproduced().map_or_else(Vec::new, not_reproduced);
    let Some(finding) = finding(entry) else { return why };
    match finding.status {
        Status::Unconfirmed => {
            why.push("There is a schedule for it, and the program did not follow it.".to_owned());
        }
        Status::Untried => why.push("It was not tried: the search ended before.".to_owned()),
        Status::Infeasible => why.push("No schedule can make it happen.".to_owned()),
        Status::Inconclusive => {
            why.push("No schedule was found within the limits, and none is excluded.".to_owned());
        }
        Status::Observed | Status::Confirmed | Status::NotReproducible => {}
    }
    why.extend(finding.why.clone());
    if let Some(Verdict::Diverged(left) | Verdict::Infeasible(left)) = &finding.verdict {
        let at = left.actual.as_ref().and_then(|it| it.at.as_ref());
        let at = at.map_or_else(String::new, |it| format!(" at {}", place(it)));
        let segment = left.segment + 1;
        why.push(format!("In segment {segment}, {} {}{at}.", left.thread, obstacle(left.why)));
    }
    if finding.unrecorded_sync.is_some() {
        why.push("Synchronisation that is not recorded may order the accesses.".to_owned());
    }
    if let Some(Remark { why: Some(text), .. }) = &finding.remark {
        why.push(format!("Possibly intended: {text}."));
    }
    why
}
