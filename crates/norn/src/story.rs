//! What a person is told of a failure: short sentences, then the last events in a column for each
//! thread.

pub(crate) mod columns;

use std::io::{self, Write};

use norn_model::{LockMode, MemoryFault, ThreadName};
use norn_replay::story::{
    Barrier, Death, Fault, Holder, Look, Misuse, Notice, Place, Plot, Runner, Running, Semaphore,
    Step, Story, Stuck, Waiter, Wakeup, Want,
};

/// Tells a story.
pub(crate) fn tell(out: &mut impl Write, story: &Story) -> io::Result<()> {
    let mut page = Page::default();
    match &story.plot {
        Plot::Stuck(it) => stuck(&mut page, it),
        Plot::Running(it) => running(&mut page, it),
        Plot::Misuse(it) => misuse(&mut page, it),
        Plot::Death(it) => death(&mut page, it),
    }
    writeln!(out)?;
    page.print(out)?;
    columns::print(out, &story.last)
}

/// Lines, each about somebody.
#[derive(Default)]
struct Page {
    lines: Vec<(String, String)>,
}

impl Page {
    fn line(&mut self, who: &ThreadName, text: String) {
        self.lines.push((who.0.clone(), text));
    }

    fn more(&mut self, text: String) {
        self.lines.push((String::new(), text));
    }

    /// What someone does or did, and below it the calls that led there.
    fn step(&mut self, step: &Step, what: &str) {
        self.line(&step.thread, format!("{what}{}", at(&step.at)));
        self.calls(step);
    }

    fn calls(&mut self, step: &Step) {
        let callers: Vec<_> = step.at.iter().skip(1).map(ToString::to_string).collect();
        if !callers.is_empty() {
            self.more(format!("  called by {}", callers.join(", ")));
        }
    }

    /// More about the one of the line before.
    fn note(&mut self, step: &Step, what: &str) {
        self.more(format!("{what}{}", at(&step.at)));
        self.calls(step);
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let width = self.lines.iter().map(|it| it.0.len()).max().unwrap_or(0);
        for (who, text) in &self.lines {
            writeln!(out, "  {who:width$}  {text}")?;
        }
        Ok(())
    }
}

/// ` at function file.c:12`.
fn at(places: &[Place]) -> String {
    places.first().map_or_else(String::new, |it| format!(" at {it}"))
}

fn list(names: &[ThreadName]) -> String {
    let names: Vec<_> = names.iter().map(|it| it.0.as_str()).collect();
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

fn stuck(page: &mut Page, story: &Stuck) {
    for it in &story.waiters {
        waiter(page, it);
    }
    ended(page, &story.ended);
    match &story.circle[..] {
        [] => page.more("nobody is left who could change that".to_owned()),
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

fn waiter(page: &mut Page, waiter: &Waiter) {
    let step = &waiter.step;
    match &waiter.want {
        Want::Lock { object, holders } => {
            page.step(step, &format!("waits for the lock {object}"));
            for it in holders {
                holder(page, step, it);
            }
            if holders.is_empty() {
                page.more("nobody that was seen has it".to_owned());
            }
        }
        Want::Wakeup(it) => wakeup(page, step, it),
        Want::Barrier(it) => barrier(page, step, it),
        Want::Semaphore(it) => semaphore(page, step, it),
        Want::End { thread, ended } => {
            let gone = if *ended { ", which has ended," } else { "" };
            page.step(step, &format!("waits for the end of {thread}{gone}"));
        }
        Want::Once { object, by } => {
            page.step(step, &format!("waits until {object} is initialised"));
            if let Some(by) = by {
                page.note(by, &format!("{} began that", by.thread));
            }
        }
        Want::Word(it) => page.step(step, &format!("sleeps until it is woken at {it},")),
        Want::Outside => page.step(step, "waits for something outside"),
    }
}

fn holder(page: &mut Page, waiter: &Step, holder: &Holder) {
    let who = match &holder.taken.thread {
        it if *it == waiter.thread => format!("{it} itself"),
        it if holder.ended => format!("{it}, which has ended,"),
        it => it.to_string(),
    };
    let how = match holder.mode {
        LockMode::Mutex | LockMode::Spin => "",
        LockMode::Read => " for reading",
        LockMode::Write => " for writing",
    };
    page.note(&holder.taken, &format!("{who} took it{how}"));
}

fn wakeup(page: &mut Page, step: &Step, wakeup: &Wakeup) {
    page.step(step, &format!("waits for a signal of {}", wakeup.object));
    if wakeup.calls.is_empty() {
        page.more("there never was one".to_owned());
    }
    if wakeup.earlier > 0 {
        page.more(format!("there were {} before these", wakeup.earlier));
    }
    for call in &wakeup.calls {
        let did = if call.broadcast { "broadcast to all" } else { "signalled" };
        page.note(&call.step, &format!("{} {did}{},", call.step.thread, effect(call)));
    }
}

fn effect(call: &Notice) -> String {
    match (call.before, &call.woke[..]) {
        (true, []) => " before the wait began, and nobody was waiting".to_owned(),
        (true, woke) => format!(" before the wait began, and woke {}", list(woke)),
        (false, []) => " during the wait, and woke nobody".to_owned(),
        (false, woke) => format!(" during the wait, and woke {}", list(woke)),
    }
}

fn barrier(page: &mut Page, step: &Step, barrier: &Barrier) {
    page.step(step, &format!("waits at the barrier {}", barrier.object));
    let (came, who) = (barrier.arrived.len(), list(&barrier.arrived));
    page.more(match barrier.needed {
        Some(needed) => format!("{came} of {needed} came: {who}"),
        None => format!("{came} came: {who}"),
    });
}

fn semaphore(page: &mut Page, step: &Step, semaphore: &Semaphore) {
    page.step(step, &format!("waits for the semaphore {}", semaphore.object));
    let begun = semaphore.initial.map_or_else(String::new, |it| format!("it was {it} at first, "));
    let (posts, waits) = (times(semaphore.posts), times(semaphore.waits));
    page.more(format!("{begun}went up {posts} and down {waits}"));
    for post in &semaphore.last {
        page.note(post, &format!("{} posted it", post.thread));
    }
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}

fn running(page: &mut Page, story: &Running) {
    for it in &story.runners {
        runner(page, it);
    }
    for it in &story.waiters {
        waiter(page, it);
    }
    ended(page, &story.ended);
}

fn runner(page: &mut Page, runner: &Runner) {
    page.step(&runner.step, "goes on and on, last seen");
    for it in &runner.looks {
        look(page, it);
    }
}

fn look(page: &mut Page, look: &Look) {
    let value = shown(look.value, look.shown.as_deref());
    let value = value.map_or_else(String::new, |it| format!(" = {it}"));
    page.more(format!("it read {}{value}", look.object));
    match &look.written {
        None => page.more("  nobody has written there".to_owned()),
        Some(it) => {
            let value = shown(it.value, it.shown.as_deref());
            let value = value.map_or_else(String::new, |it| format!(" {it}"));
            let who = &it.step.thread;
            page.more(format!("  {who} wrote{value} there{}", at(&it.step.at)));
        }
    }
}

/// A value as its type has it, or as a number.
fn shown(value: Option<u128>, shown: Option<&str>) -> Option<String> {
    shown.map(str::to_owned).or_else(|| value.map(readable))
}

/// Small numbers as people count, large ones, which are mostly pointers, as machines do.
fn readable(value: u128) -> String {
    if value <= u128::from(u32::MAX) { value.to_string() } else { format!("{value:#x}") }
}

fn misuse(page: &mut Page, story: &Misuse) {
    let what = match (story.fault, &story.block) {
        (MemoryFault::UseAfterFree, Some(it)) => {
            format!("used byte {} of a freed block of {} bytes", it.offset, it.size)
        }
        (MemoryFault::UseAfterFree, None) => "used a freed block".to_owned(),
        (MemoryFault::DoubleFree, Some(it)) => {
            format!("freed a block of {} bytes for the second time", it.size)
        }
        (MemoryFault::DoubleFree, None) => "freed a block for the second time".to_owned(),
        (MemoryFault::BadFree, _) => format!("freed {:#x}, which is no block", story.address),
        (MemoryFault::OutOfBounds, Some(it)) => {
            format!("used {} a block of {} bytes", beyond(it.offset, it.size), it.size)
        }
        (MemoryFault::OutOfBounds, None) => format!("used {:#x}, next to a block", story.address),
        (MemoryFault::UseAfterDestroy, _) => "used what was destroyed".to_owned(),
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
        Some(Fault { null: true, address, .. }) => format!("used a null pointer ({address:#x})"),
        Some(Fault { signal: libc::SIGSEGV | libc::SIGBUS, address, .. }) => {
            format!("used {address:#x}, which it may not")
        }
        Some(Fault { signal: libc::SIGFPE, .. }) => {
            "divided by zero, or with too large a result,".to_owned()
        }
        Some(Fault { signal, .. }) => format!("was hit by signal {signal}"),
        None => "ended the program".to_owned(),
    };
    if let Some(by) = &story.by {
        page.step(by, &what);
    }
    for it in &story.looks {
        look(page, it);
    }
}
