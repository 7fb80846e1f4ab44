//! How a failure came about: short sentences, then the last events in a column for each thread.

use std::io::{self, Write};

use norn_model::{Location, MemoryFault, ThreadName};

use super::{columns, finding, paint, wait};
use crate::{
    Block, Death, EventRow, FailureKind, Fault, Misuse, ObjectMisuse, ObjectState, ObservedValue,
    Runner, Running, Step, Story, Stuck, vocabulary::place, writer::Layout,
};

// Signals that are explained by more than their numbers.
const SIGBUS: i32 = 7;
const SIGFPE: i32 = 8;
const SIGSEGV: i32 = 11;

/// Writes a story.
pub(super) fn story(out: &mut dyn Write, story: &Story, layout: Layout) -> io::Result<()> {
    let mut page = Page::default();
    match &story.failure {
        FailureKind::Stuck(it) => stuck(&mut page, it),
        FailureKind::Running(it) => running(&mut page, it),
        FailureKind::Misuse(it) => misuse(&mut page, it),
        FailureKind::Object(it) => object(&mut page, it),
        FailureKind::Death(it) => death(&mut page, it),
    }
    writeln!(out)?;
    page.print(out)?;
    last(out, &story.last, layout)
}

fn last(out: &mut dyn Write, rows: &[EventRow], layout: Layout) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let room = columns::Room::new(layout);
    let cells = |place| rows.iter().map(|it| columns::cell(it, place)).collect::<Vec<_>>();
    let mut shown = cells(columns::short_place);
    // Where there is little room, the names of functions go before the columns do.
    if layout.terminal && !columns::fits(&shown, room) {
        shown = cells(columns::line_only);
    }
    writeln!(out)?;
    for line in columns::lines("the last events", &shown, room) {
        writeln!(out, "  {}", line.text)?;
    }
    Ok(())
}

/// Lines, each about a thread.
#[derive(Default)]
pub(super) struct Page {
    lines: Vec<(String, String)>,
}

impl Page {
    pub(super) fn line(&mut self, thread: &ThreadName, text: String) {
        self.lines.push((thread.0.clone(), text));
    }

    pub(super) fn more(&mut self, text: String) {
        self.lines.push((String::new(), text));
    }

    /// What a thread does or did, and below it the calls that led there.
    pub(super) fn step(&mut self, step: &Step, what: &str) {
        self.line(&step.thread, format!("{what}{}", at(&step.stack)));
        self.calls(step);
    }

    fn calls(&mut self, step: &Step) {
        let callers: Vec<_> = step.stack.iter().skip(1).map(place).collect();
        if !callers.is_empty() {
            let text = paint::detail(format!("called by {}", callers.join(", ")));
            self.more(format!("  {text}"));
        }
    }

    /// More about the thread of the line before.
    pub(super) fn note(&mut self, step: &Step, what: &str) {
        self.more(format!("{what}{}", at(&step.stack)));
        self.calls(step);
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = self.lines.iter().map(|it| it.0.len()).max().unwrap_or(0);
        for (thread, text) in &self.lines {
            writeln!(out, "  {thread:width$}  {text}")?;
        }
        Ok(())
    }
}

/// ` at function file.c:12`.
fn at(stack: &[Location]) -> String {
    stack.first().map_or_else(String::new, |it| format!(" at {}", paint::place(it)))
}

/// `T1, T2 and T3`.
pub(super) fn list(names: &[ThreadName]) -> String {
    let names: Vec<_> = names.iter().map(|it| it.0.as_str()).collect();
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

fn stuck(page: &mut Page, story: &Stuck) {
    for it in &story.waiters {
        wait::waiter(page, it);
    }
    ended(page, &story.ended);
    match &story.cycle[..] {
        [] => page.more("no thread is left that could end these waits".to_owned()),
        [alone] => page.line(alone, "waits for itself".to_owned()),
        [first, rest @ ..] => {
            let rest: Vec<_> = rest.iter().map(|it| format!("{it}, which waits for ")).collect();
            page.line(first, format!("waits for {}{first}", rest.concat()));
        }
    }
}

fn ended(page: &mut Page, names: &[ThreadName]) {
    match names {
        [] => {}
        [one] => page.line(one, "has ended".to_owned()),
        several => page.more(format!("{} have ended", list(several))),
    }
}

fn running(page: &mut Page, story: &Running) {
    for it in &story.runners {
        runner(page, it);
    }
    for it in &story.waiters {
        wait::waiter(page, it);
    }
    ended(page, &story.ended);
}

fn runner(page: &mut Page, runner: &Runner) {
    page.step(&runner.step, "keeps running, last seen");
    for it in &runner.reads {
        read(page, it);
    }
}

fn read(page: &mut Page, read: &ObservedValue) {
    let value = columns::shown(read.value, read.shown.as_deref());
    let value = value.map_or_else(String::new, |it| format!(" = {it}"));
    page.more(format!("it read {}{value}", finding::object(&read.object)));
    match &read.written {
        None => page.more("  no thread has written there".to_owned()),
        Some(it) => {
            let value = columns::shown(it.value, it.shown.as_deref());
            let value = value.map_or_else(String::new, |it| format!(" {it}"));
            let thread = &it.step.thread;
            page.more(format!("  {thread} wrote{value} there{}", at(&it.step.stack)));
        }
    }
}

fn misuse(page: &mut Page, story: &Misuse) {
    let address = story.address;
    let what = match (story.fault, &story.block) {
        (MemoryFault::UseAfterFree, Some(it)) => {
            let name = typed(it);
            format!("used byte {} of a freed block of {} bytes{name}", it.offset, it.size)
        }
        (MemoryFault::UseAfterFree, None) => "used a freed block".to_owned(),
        (MemoryFault::DoubleFree, Some(it)) => {
            format!("freed a block of {} bytes{} for the second time", it.size, typed(it))
        }
        (MemoryFault::DoubleFree, None) => "freed a block for the second time".to_owned(),
        (MemoryFault::BadFree, _) => format!("freed {address}, which is not a block"),
        (MemoryFault::OutOfBounds, Some(it)) => {
            format!("used {} a block of {} bytes", beyond(it.offset, it.size), it.size)
        }
        (MemoryFault::OutOfBounds, None) => format!("used {address}, next to a block"),
        (MemoryFault::UseAfterDestroy, _) => "used an object that was destroyed".to_owned(),
    };
    page.step(&story.by, &what);
    if let Some(destroyed) = &story.destroyed {
        page.step(destroyed, "destroyed it");
    }
    if let Some(block) = &story.block {
        if let Some(freed) = &block.freed {
            page.step(freed, "freed it");
        }
        page.step(&block.allocated, "allocated it");
    }
}

fn object(page: &mut Page, story: &ObjectMisuse) {
    use norn_model::Misuse;
    let name = finding::object(&story.object);
    let what = match story.fault {
        Misuse::UnlockNotHeld => format!("unlocked {name}, which it does not hold,"),
        Misuse::WaitNotHeld => format!("began to wait with {name}, which it does not hold,"),
        Misuse::Relock => format!("waits for {name}, which it holds itself,"),
        Misuse::DestroyInUse => format!("destroyed {name}, which is in use,"),
        Misuse::EndHoldingLock => format!("ended while it held {name}"),
        Misuse::UseAfterClose => format!("used {name}, which is closed,"),
        Misuse::DoubleClose => format!("closed {name}, which is already closed,"),
        Misuse::CloseInUse => format!("closed {name}, which is in use,"),
    };
    page.step(&story.by, &what);
    for it in &story.earlier {
        let what = match it.state {
            ObjectState::Locked => "locked it",
            ObjectState::Unlocked => "unlocked it before",
            ObjectState::Waits => "waits on it",
            ObjectState::Closed => "closed it",
            ObjectState::Used => "uses it",
        };
        page.step(&it.step, what);
    }
}

/// The type and member in a block, if they are known.
fn typed(block: &Block) -> String {
    let name = Some(block.object.full_name());
    let name = name.filter(|it| !it.is_empty() && !it.starts_with("heap["));
    name.map_or_else(String::new, |it| format!(" ({it})"))
}

/// How far from a block an address is.
fn beyond(offset: i64, size: u64) -> String {
    let behind = offset.saturating_sub_unsigned(size);
    match u64::try_from(behind) {
        Ok(0) => "the byte behind".to_owned(),
        Ok(more) => format!("byte {} behind", more + 1),
        Err(_) => format!("byte {} before", offset.unsigned_abs()),
    }
}

fn death(page: &mut Page, story: &Death) {
    let what = match story.fault {
        Some(Fault { null: true, address, .. }) => format!("used a null pointer ({address})"),
        Some(Fault { signal: SIGSEGV | SIGBUS, address, .. }) => {
            format!("used {address}, which it may not access,")
        }
        Some(Fault { signal: SIGFPE, .. }) => {
            "divided by zero, or with too large a result,".to_owned()
        }
        Some(Fault { signal, .. }) => format!("received signal {signal}"),
        None => "ended the program".to_owned(),
    };
    if let Some(by) = &story.by {
        page.step(by, &what);
    }
    for it in &story.reads {
        read(page, it);
    }
}
