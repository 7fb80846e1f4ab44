//! What threads wait for, in sentences.

use norn_model::LockMode;

use super::{
    finding::object,
    story::{Page, list},
};
use crate::{
    Barrier, Holder, Notice, Semaphore, SentSignal, SignalWait, Step, Waiter, Wakeup, Want,
};

/// A thread that waits, and why its wait does not end.
pub(super) fn waiter(page: &mut Page, waiter: &Waiter) {
    let step = &waiter.step;
    match &waiter.want {
        Want::Lock { object: lock, holders, behind } => {
            page.step(step, &format!("waits for the lock {}", object(lock)));
            for it in holders {
                holder(page, step, it);
            }
            for it in behind {
                let text = format!("{} waits to take it for writing, and goes first,", it.thread);
                page.note(it, &text);
            }
            if holders.is_empty() {
                page.more("no thread was seen to take it".to_owned());
            }
        }
        Want::Wakeup(it) => wakeup(page, step, it),
        Want::Barrier(it) => barrier(page, step, it),
        Want::Semaphore(it) => semaphore(page, step, it),
        Want::Signal(it) => signal(page, step, it),
        Want::End { thread, ended } => {
            let gone = if *ended { ", which has ended," } else { "" };
            page.step(step, &format!("waits for the end of {thread}{gone}"));
        }
        Want::Once { object: what, by } => {
            page.step(step, &format!("waits until {} is initialised", object(what)));
            if let Some(by) = by {
                page.note(by, &format!("{} began that", by.thread));
            }
        }
        Want::Word(it) => {
            page.step(step, &format!("sleeps until it is woken at {},", object(it)));
        }
        Want::File => {
            page.step(step, "waits for another thread to write to, read from or close a file");
        }
        Want::Outside => page.step(step, "waits for something outside of the program"),
    }
}

fn holder(page: &mut Page, waiter: &Step, holder: &Holder) {
    let thread = match &holder.taken.thread {
        it if *it == waiter.thread => format!("{it} itself"),
        it if holder.ended => format!("{it}, which has ended,"),
        it => it.to_string(),
    };
    let how = match holder.mode {
        LockMode::Mutex | LockMode::Spin => "",
        LockMode::Read => " for reading",
        LockMode::Write => " for writing",
    };
    page.note(&holder.taken, &format!("{thread} took it{how}"));
}

fn wakeup(page: &mut Page, step: &Step, wakeup: &Wakeup) {
    page.step(step, &format!("waits for a signal of {}", object(&wakeup.object)));
    if wakeup.calls.is_empty() {
        page.more("there was none".to_owned());
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
        (true, []) => " before the wait began, and no thread was waiting".to_owned(),
        (true, woke) => format!(" before the wait began, and woke {}", list(woke)),
        (false, []) => " during the wait, and woke no thread".to_owned(),
        (false, woke) => format!(" during the wait, and woke {}", list(woke)),
    }
}

fn barrier(page: &mut Page, step: &Step, barrier: &Barrier) {
    page.step(step, &format!("waits at the barrier {}", object(&barrier.object)));
    let (came, threads) = (barrier.arrived.len(), list(&barrier.arrived));
    page.more(match barrier.needed {
        Some(needed) => format!("{came} of {needed} threads arrived: {threads}"),
        None => format!("{came} threads arrived: {threads}"),
    });
}

fn semaphore(page: &mut Page, step: &Step, semaphore: &Semaphore) {
    page.step(step, &format!("waits for the semaphore {}", object(&semaphore.object)));
    let begun = semaphore.initial.map_or_else(String::new, |it| format!("it began with {it}, "));
    let (posts, waits) = (times(semaphore.posts), times(semaphore.waits));
    page.more(format!("{begun}was posted {posts} and taken {waits}"));
    for post in &semaphore.last {
        page.note(post, &format!("{} posted it", post.thread));
    }
}

fn signal(page: &mut Page, step: &Step, wait: &SignalWait) {
    page.step(step, &format!("waits for the signal {}", wait.signals.join(" or ")));
    if wait.sent.is_empty() {
        page.more("there was none".to_owned());
    }
    if wait.earlier > 0 {
        page.more(format!("there were {} before these", wait.earlier));
    }
    for sent in &wait.sent {
        let to = sent.to.as_ref().map_or_else(|| "the process".to_owned(), ToString::to_string);
        let (thread, signal) = (&sent.step.thread, &sent.signal);
        let text = format!("{thread} sent {signal} to {to}{},", received(sent));
        page.note(&sent.step, &text);
    }
}

fn received(sent: &SentSignal) -> String {
    let when = if sent.before { "before the wait began" } else { "during the wait" };
    match &sent.received[..] {
        [] => format!(" {when}, and no thread received it"),
        threads => format!(" {when}, and {} received it", list(threads)),
    }
}

fn times(count: u64) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        more => format!("{more} times"),
    }
}
