//! Findings: in full, in one line, and failures that nothing predicted.

use std::io::{self, Write};

use norn_model::{BugClass, Location, Ordering};

use super::{columns, interleaving, paint, story};
use crate::{
    Access, AlsoSeen, AtStake, AtomicOperation, BriefLine, Finding, Fix, Harm, HeldLock,
    Interleaving, Object, ObservedFailure, Remark, Report, Status, Unordered, WeakOperation,
    vocabulary::{
        consequence, fix, fix_notes, headline, news, not_reproduced, observed_headline,
        older_loads, path, place, short_function, source,
    },
    writer::Layout,
};

/// The findings that are shown in full.
pub(super) fn details(out: &mut dyn Write, report: &Report, layout: Layout) -> io::Result<()> {
    let mut bugs = Vec::new();
    for (place, it) in (1..).zip(&report.details) {
        let Some(finding) = report.findings.get(it.finding) else { continue };
        bugs.push((finding.bug.unwrap_or(place), Bug::Finding(finding, &it.also)));
    }
    let failures = shown(report).filter_map(|it| Some((it.bug?, Bug::Failure(it))));
    bugs.extend(failures);
    bugs.sort_by_key(|it| it.0);
    for (at, (number, bug)) in bugs.iter().enumerate() {
        match bug {
            Bug::Finding(finding, also) => detail(out, *number, (finding, also), layout)?,
            Bug::Failure(failure) => {
                let known = at.checked_sub(1).is_some_and(|it| bugs[it].0 == *number);
                let attempt = failure.finding.and_then(|it| report.findings.get(it));
                unpredicted(out, failure, (attempt, known), layout)?;
            }
        }
    }
    Ok(())
}

/// What shows a bug.
#[derive(Clone, Copy)]
enum Bug<'a> {
    Finding(&'a Finding, &'a [AlsoSeen]),
    Failure(&'a ObservedFailure),
}

/// The reproducible failures that a reader is shown.
fn shown(report: &Report) -> impl Iterator<Item = &ObservedFailure> {
    report.observed.iter().filter(|it| it.shown && it.not_reproduced.is_none())
}

/// A finding in full, with its number.
fn detail(
    out: &mut dyn Write,
    number: usize,
    (finding, also): (&Finding, &[AlsoSeen]),
    layout: Layout,
) -> io::Result<()> {
    writeln!(out, "{number}. {}", paint::headline(headline(finding), finding.harmful))?;
    body(out, finding, also, layout)
}

fn body(
    out: &mut dyn Write,
    finding: &Finding,
    others: &[AlsoSeen],
    layout: Layout,
) -> io::Result<()> {
    let deadlock = finding.class == BugClass::Deadlock;
    // The story of a deadlock shows which thread holds and wants which lock, and where.
    if !deadlock || finding.story.is_none() {
        accesses(out, finding.cause.as_ref().map_or(&finding.accesses, |it| &it.accesses))?;
    }
    if let Some(cause) = &finding.cause {
        if cause.recorded.is_empty() {
            interleaving::order(out, "forced", &cause.order, layout)?;
        } else {
            let (recorded, forced) = (cause.recorded.clone(), cause.order.clone());
            interleaving::interleaving(out, &Interleaving { recorded, forced }, layout)?;
        }
        writeln!(out, "   it was predicted as: {}", line(finding))?;
    } else if let Some(orders) = &finding.interleaving {
        interleaving::interleaving(out, orders, layout)?;
        if orders.is_same() && finding.unordered.is_none() {
            writeln!(out, "   {}", same_order(finding.class))?;
        }
    }
    if finding.stacks > 1 {
        writeln!(out, "   {} call stacks lead to these places", finding.stacks)?;
    }
    // What was predicted is remarked on, and not what happened instead.
    let is_predicted = finding.cause.is_none();
    if let Some(remark) = finding.remark.as_ref().filter(|_| is_predicted) {
        remarks(out, remark)?;
    }
    let stake = finding.at_stake.as_ref().filter(|_| is_predicted && finding.harmful);
    if let Some(stake) = stake {
        at_stake(out, stake)?;
    }
    if finding.other_output && !deadlock {
        writeln!(out, "   output differs from the recorded run")?;
    }
    if let Some(status) = finding.other_status {
        writeln!(out, "   exit status {status} differs from the recorded run")?;
    }
    if finding.status == Status::Observed {
        writeln!(out, "   the recorded run does this")?;
    }
    if let Some(story) = &finding.story {
        story::story(out, story, layout)?;
    }
    printed(out, &finding.printed)?;
    if !others.is_empty() {
        writeln!(out, "   {}", paint::detail(also(others)))?;
    }
    if let Some(unordered) = &finding.unordered {
        writeln!(out, "   {}", reason(unordered))?;
    }
    possibility(out, finding)?;
    let of_cause = finding.cause.as_ref().and_then(|it| it.fix.as_ref());
    if let Some(it) = finding.fix.as_ref().or(of_cause) {
        suggestion(out, it)?;
    }
    sources(out, &finding.accesses, layout)?;
    reproduce(out, &finding.replay)?;
    if let Some(it) = &finding.harm {
        harm(out, it, layout)?;
    }
    writeln!(out)
}

/// A failure that a violation of a property leads to.
fn harm(out: &mut dyn Write, harm: &Harm, layout: Layout) -> io::Result<()> {
    writeln!(out, "   it can lead to: {}", consequence(&harm.consequence))?;
    if let Some(story) = &harm.story {
        story::story(out, story, layout)?;
    }
    reproduce(out, &harm.replay)
}

/// A lock that would have excluded it, and what was checked.
fn suggestion(out: &mut dyn Write, it: &Fix) -> io::Result<()> {
    writeln!(out, "   possible fix: {}", fix(it))?;
    fix_notes(it).iter().try_for_each(|note| writeln!(out, "     {}", paint::detail(note)))
}

/// What the program itself printed when it failed.
fn printed(out: &mut dyn Write, lines: &[String]) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "   the program printed:")?;
    lines.iter().try_for_each(|it| writeln!(out, "   | {it}"))
}

/// The places of the accesses as paths, which a terminal lets its user open.
fn sources(out: &mut dyn Write, accesses: &[Access], layout: Layout) -> io::Result<()> {
    if !layout.terminal {
        return Ok(());
    }
    let places = accesses.iter().filter_map(|it| it.stack.first());
    let mut paths: Vec<_> = places.filter_map(path).collect();
    paths.dedup();
    paths.iter().try_for_each(|it| writeln!(out, "   source: {}", paint::places(it)))
}

/// Why it is a bug although the forced order of the events looks like the recorded one.
fn same_order(class: BugClass) -> &'static str {
    match class {
        BugClass::Race => {
            "the recorded run has this order, too: nothing is between the two accesses and nothing \
             orders them, so they race in both runs"
        }
        _ => "the recorded run has this order of these events, too; other events differ",
    }
}

fn reproduce(out: &mut dyn Write, command: &[String]) -> io::Result<()> {
    if command.is_empty() {
        return Ok(());
    }
    writeln!(out, "   reproduce: {}", command.join(" "))
}

/// Why it is a data race although the accesses are not adjacent.
fn reason(unordered: &Unordered) -> String {
    let Some(WeakOperation { operation, variable, ordering, location }) = &unordered.weak else {
        return "the atomic operations between them order nothing".to_owned();
    };
    let operation = match operation {
        AtomicOperation::Load => "load of",
        AtomicOperation::Store => "store to",
        AtomicOperation::Update => "update of",
    };
    let ordering = match ordering {
        Ordering::Relaxed => "relaxed",
        Ordering::Consume | Ordering::Acquire => "only acquire",
        Ordering::Release => "only release",
        Ordering::AcqRel | Ordering::SeqCst => "not enough",
    };
    let at = location.as_ref().map_or_else(String::new, |it| format!(" at {}", place(it)));
    let name = variable.full_name();
    format!("the {operation} `{name}`{at} is {ordering}, so nothing orders the two accesses")
}

/// Of what was not tried: the schedule that would make it happen, or why there is none.
fn possibility(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    if let Some(why) = &finding.why {
        writeln!(out, "   {why}")?;
    }
    let Some(schedule) = finding.schedule.as_ref().filter(|it| !it.turns.is_empty()) else {
        return Ok(());
    };
    let turns = schedule.turns.iter().map(|it| format!("{}:{}", it.thread, it.until));
    let turns = turns.collect::<Vec<_>>().join(" ");
    let engine = schedule.engine.as_deref().map_or_else(String::new, |it| format!(", {it}"));
    writeln!(out, "   schedule ({}{engine}): {}", schedule.grade, paint::detail(turns))
}

/// `also seen as: order violation (run.norn/clips/2.json)`.
fn also(others: &[AlsoSeen]) -> String {
    let words = others.iter().map(|it| {
        let more = if it.more > 0 { format!(", and {} more", it.more) } else { String::new() };
        format!("{} ({}{more})", it.name, it.clips.join(", "))
    });
    let words: Vec<_> = words.collect();
    format!("also seen as: {}", words.join(", "))
}

/// How often it can happen, and why it may be intended.
fn remarks(out: &mut dyn Write, remark: &Remark) -> io::Result<()> {
    if remark.count > 1 {
        writeln!(out, "   {} times at these places in the recorded run", remark.count)?;
    }
    match remark.early {
        0 => {}
        early if early == remark.count => {
            writeln!(out, "   the memory was not written before")?;
        }
        early => writeln!(out, "   in {early} of them the memory was not written before")?,
    }
    if let Some(why) = &remark.why {
        writeln!(out, "   possibly intended: {why}")?;
    }
    Ok(())
}

/// From a failure back to the read that decides it, and what that read sees.
fn at_stake(out: &mut dyn Write, stake: &AtStake) -> io::Result<()> {
    let what = match &*stake.failure {
        "assertion" => "whether an assertion holds",
        "error-message" => "whether an error is reported",
        "output" => "what is printed",
        "loop" => "whether a loop ends",
        "free" => "whether memory is freed",
        "invariant" => "whether a likely invariant holds",
        _ => "which memory is accessed",
    };
    let chain: Vec<_> = stake.chain.iter().map(place).collect();
    writeln!(out, "   the read decides {what}: {}", paint::detail(chain.join(" ← ")))?;
    let instead = stake.instead.as_ref().map(place);
    let instead = instead.map_or("nothing".to_owned(), |it| format!("the write at {it}"));
    let expected = stake.expected.as_ref().map(place);
    let expected = expected.map_or(String::new(), |it| format!(" instead of the one at {it}"));
    writeln!(out, "   it sees {instead}{expected}")
}

/// Which thread does what to which variable where.
pub(super) fn accesses(out: &mut dyn Write, accesses: &[Access]) -> io::Result<()> {
    let names = accesses.iter().filter_map(|it| it.event.as_deref()).map(str::len).max();
    for access in accesses {
        let name = names.map(|width| {
            let name = access.event.as_deref().unwrap_or_default();
            format!("{name:width$}  ")
        });
        let what = format!(
            "{:6} {}{:6} {}{}",
            access.thread,
            name.as_deref().unwrap_or_default(),
            verb(access),
            object(&access.variable),
            columns::value_of(access.action, access.value, access.shown.as_deref()),
        );
        let mut calls = access.stack.iter();
        let first = calls.next().map_or_else(|| "?".to_owned(), paint::place);
        writeln!(out, "   {}  {first}", what.trim_end())?;
        let indent = " ".repeat(17 + name.map_or(0, |it| it.len()));
        for caller in calls {
            writeln!(out, "{indent}{}", paint::detail(format!("called from {}", place(caller))))?;
        }
        if !access.locks.is_empty() {
            let locks: Vec<_> = access.locks.iter().map(held).collect();
            writeln!(out, "{indent}{}", paint::detail(format!("holding {}", locks.join(", "))))?;
        }
    }
    Ok(())
}

fn verb(access: &Access) -> &'static str {
    use crate::Action::{Lock, LockShared};
    match access.action {
        Lock | LockShared if access.stuck => "wants",
        action => action.verb(),
    }
}

/// A name, and where its memory comes from.
pub(super) fn object(object: &Object) -> String {
    match &object.allocated_at {
        Some(at) => format!("{} (heap, allocated {})", object.full_name(), origin(at)),
        None => object.full_name(),
    }
}

/// `in make_cache at cache.cc:30`, or as much as is known.
fn origin(at: &Location) -> String {
    let function = at.function.as_deref().map(short_function);
    match (function, source(at)) {
        (Some(function), Some(source)) => format!("in {function} at {source}"),
        _ => format!("at {}", place(at)),
    }
}

fn held(lock: &HeldLock) -> String {
    let shared = if lock.shared { " (shared)" } else { "" };
    format!("{}{shared}", object(&lock.lock))
}

/// The findings that are shown in one line each.
pub(super) fn brief(out: &mut dyn Write, report: &Report, layout: Layout) -> io::Result<()> {
    for section in &report.brief {
        if section.harmless && !layout.verbose {
            let count = section.lines.iter().map(|it| it.times).sum::<usize>() + section.more;
            match count {
                1 => writeln!(out, "1 finding was confirmed without visible harm; -v lists it")?,
                _ => writeln!(
                    out,
                    "{count} findings were confirmed without visible harm; -v lists them"
                )?,
            }
            continue;
        }
        writeln!(out, "{}:", section.title)?;
        for BriefLine { finding, times } in &section.lines {
            let Some(finding) = report.findings.get(*finding) else { continue };
            let times = if *times > 1 { format!(", {times} times") } else { String::new() };
            let expected = finding.remark.as_ref().and_then(|it| it.why.as_deref());
            let expected = expected.map_or_else(String::new, |it| format!(" (expected: {it})"));
            let status = finding.other_status.map(|it| format!(", exit status {it}"));
            let expected = expected + &status.unwrap_or_default();
            let replay = paint::detail(finding.replay.join(" "));
            writeln!(out, "  {}{expected}{times}: {replay}", line(finding))?;
        }
        if section.more > 0 {
            writeln!(out, "  and {} more; --format json lists all of them", section.more)?;
        }
    }
    Ok(())
}

pub(super) fn line(finding: &Finding) -> String {
    let places = finding.accesses.iter().map(|it| {
        let at = it.stack.first().map_or_else(|| "?".to_owned(), paint::place);
        format!("{} {at}", it.action.noun())
    });
    format!("{}, {}", finding.title, places.collect::<Vec<_>>().join(" | "))
}

/// Failures that happened without having been predicted, and do not count.
pub(super) fn observed(out: &mut dyn Write, report: &Report, layout: Layout) -> io::Result<()> {
    for it in shown(report).filter(|it| it.bug.is_none()) {
        let attempt = it.finding.and_then(|it| report.findings.get(it));
        unpredicted(out, it, (attempt, false), layout)?;
    }
    Ok(())
}

/// A failure that happened without having been predicted, the finding that the run was to confirm, and
/// whether its bug was shown before: then the command that reproduces it is enough.
fn unpredicted(
    out: &mut dyn Write,
    failure: &ObservedFailure,
    (attempt, known): (Option<&Finding>, bool),
    layout: Layout,
) -> io::Result<()> {
    let also = if known { "also: " } else { "" };
    let number = failure.bug.map_or_else(String::new, |it| format!("{it}. "));
    let title = format!("{also}{}", observed_headline(failure));
    writeln!(out, "{number}{}", paint::headline(title, true))?;
    if known {
        reproduce(out, &failure.replay)?;
        return writeln!(out);
    }
    if let Some(cause) = &failure.cause {
        // The story of a deadlock shows which thread holds and wants which lock, and where.
        if cause.class != BugClass::Deadlock || failure.story.is_none() {
            accesses(out, &cause.accesses)?;
        }
        interleaving::order(out, "as it happened", &cause.order, layout)?;
        writeln!(out, "   it was not predicted: a run under another schedule failed")?;
    }
    if let Some(finding) = attempt {
        writeln!(out, "   in an attempt to confirm: {}", line(finding))?;
    }
    if failure.older_loads > 0 {
        writeln!(out, "   {}", older_loads(failure.older_loads))?;
    }
    if let Some(story) = &failure.story {
        story::story(out, story, layout)?;
    }
    printed(out, &failure.printed)?;
    if let Some(cause) = &failure.cause {
        if let Some(it) = &cause.fix {
            suggestion(out, it)?;
        }
        sources(out, &cause.accesses, layout)?;
    }
    reproduce(out, &failure.replay)?;
    writeln!(out)
}

/// What happened once, and not again when its clip was replayed.
pub(super) fn not_reproducible(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let findings = report.findings.iter().filter(|it| it.suppressed_by.is_none());
    let findings = findings.filter_map(|it| {
        let led_to = news(it).map_or_else(String::new, |it| format!(": {it}"));
        Some((format!("{}{led_to}", line(it)), it.not_reproduced.as_ref()?, &it.replay))
    });
    let observed =
        report.observed.iter().filter(|it| it.shown).filter_map(|it| {
            Some((observed_headline(it), it.not_reproduced.as_ref()?, &it.replay))
        });
    let all: Vec<_> = findings.chain(observed).collect();
    if !all.is_empty() {
        writeln!(out, "not reproducible, and therefore not counted:")?;
    }
    for (title, why, replay) in all {
        writeln!(out, "  {title}: {}", paint::detail(replay.join(" ")))?;
        for sentence in not_reproduced(why) {
            writeln!(out, "    {sentence}")?;
        }
    }
    Ok(())
}
