//! Writes a trace for RAPID.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    iter,
};

use norn_model::{
    self as model, ConditionEffect, Effect, Event, Held, LockEffect, LockMode, MemoryAccess, Op,
    Order, SiteId, Start, ThreadEffect, ThreadId,
};
use rustc_hash::FxHashMap;

use super::{
    cell::Cells,
    life::Lives,
    order::{Possible, Written},
};
use crate::Trace;

/// What can be exported: a trace on disk or one in memory.
pub trait Source {
    /// All events in an order that is consistent with their numbers.
    fn events(&self) -> impl Iterator<Item = Event>;
    /// The events of each thread, and where they begin.
    fn threads(&self) -> Vec<(Start, impl Iterator<Item = Event>)>;
    /// Whether all events are in one order.
    fn order(&self) -> Order;
    /// The name of a thread.
    fn thread(&self, id: ThreadId) -> Option<&str>;
    /// What people call a site.
    fn place(&self, id: SiteId) -> Option<&str>;
    /// What people call an address, and how far behind that it is.
    fn symbol(&self, addr: u64) -> Option<(&str, u64)>;
}

/// What came of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Lines that were written.
    pub lines: u64,
    /// Events that RAPID cannot express, by what they are.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Reads whose values differ from what the last write before them wrote.
    pub unexplained: u64,
}

/// Writes a trace in RAPID's STD format, in an order in which each read comes after the write whose
/// value it saw, as far as there is one.
///
/// - A read or write of memory is one of each *variable* that it touches; where accesses overlap,
///   the overlapping parts are variables of their own.
/// - Mutexes, spin locks and read-write locks taken to write are *locks*. Of a lock that is taken
///   again by its holder only the first `acq` and the last `rel` are written. A condition wait
///   gives its mutex back and takes it again.
/// - An atomic operation is an access inside of a critical section of its own, under a lock that
///   only operations on this address use: it is ordered and no race, as a sequentially consistent
///   one. Relaxed operations order more than they do in the program.
/// - Memory that is allocated again is another variable, with the number of the allocation in its
///   name.
/// - A location is the number of the site; or its name, if that is a number.
///
/// All else is left out and counted. Without its read locks, barriers, semaphores and
/// allocations a program seems to have races that it does not have.
pub fn export_std(source: &impl Source, out: impl Write) -> io::Result<Exported> {
    let cells = Cells::new(source.events());
    let (held, lives) = (FxHashMap::default(), Lives::default());
    let mut export = Export { source, cells, held, lives, out, done: Exported::default() };
    // In a total order there is nothing to choose.
    let mut threads = match source.order() {
        Order::Local => Possible::new(source.threads(), Written::new(source.events())),
        Order::Global => Possible::new(Vec::new(), Written::new(iter::empty())),
    };
    for event in threads.by_ref() {
        export.event(&event)?;
    }
    if source.order() == Order::Global {
        source.events().try_for_each(|it| export.event(&it))?;
    }
    export.out.flush()?;
    Ok(Exported { unexplained: threads.unexplained, ..export.done })
}

struct Export<'a, S, W> {
    source: &'a S,
    cells: Cells,
    held: FxHashMap<ThreadId, Held>,
    lives: Lives,
    out: W,
    done: Exported,
}

impl<S: Source, W: Write> Export<'_, S, W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.lives.step(event);
        if is_read_lock(&event.op) {
            return self.leave_out("read locks");
        }
        match event.op.effect() {
            Effect::Access(access) if access.atomic => self.atomic(event, access),
            Effect::Access(access) => self.access(event, access),
            Effect::Lock(LockEffect::Acquire { lock, mode, .. }) => self.acquire(event, lock, mode),
            Effect::Lock(LockEffect::Release { lock, .. }) => self.release(event, lock),
            Effect::Condition(ConditionEffect::Wake { lock, .. }) => {
                self.acquire(event, lock, LockMode::Mutex)
            }
            Effect::Thread(ThreadEffect::Fork(thread)) => {
                self.line(event, "fork", &self.thread(thread))
            }
            Effect::Thread(ThreadEffect::Join(thread)) => {
                self.line(event, "join", &self.thread(thread))
            }
            // A wait is in the lines already: it is between a `rel` and an `acq`.
            Effect::Condition(ConditionEffect::Wait { .. }) => Ok(()),
            // So are these: a thread begins with its first line and ends with its last.
            Effect::None if matches!(event.op, Op::Begin { .. } | Op::End) => Ok(()),
            Effect::None
            | Effect::Lock(LockEffect::Failed { .. })
            | Effect::Condition(ConditionEffect::Signal { .. })
            | Effect::Barrier(_)
            | Effect::Semaphore(_)
            | Effect::Once(_)
            | Effect::Annotation(_)
            | Effect::Channel(_)
            | Effect::Block(_)
            | Effect::Object(_) => self.leave_out(event.op.kind().family()),
        }
    }

    fn access(&mut self, event: &Event, access: MemoryAccess) -> io::Result<()> {
        let cells = self.cells.touched(access).to_owned();
        let operations = [access.read.map(|_| "r"), access.write.map(|_| "w")];
        for operation in operations.into_iter().flatten() {
            cells
                .iter()
                .try_for_each(|&it| self.line(event, operation, &self.variable("V", it)))?;
        }
        Ok(())
    }

    fn atomic(&mut self, event: &Event, access: MemoryAccess) -> io::Result<()> {
        let lock = format!("A{}", self.variable("", access.addr));
        self.line(event, "acq", &lock)?;
        self.access(event, access)?;
        self.line(event, "rel", &lock)
    }

    fn acquire(&mut self, event: &Event, lock: u64, mode: LockMode) -> io::Result<()> {
        match self.held.entry(event.id.thread).or_default().acquire(lock, mode) {
            1 => self.line(event, "acq", &self.named("L", lock)),
            _ => Ok(()),
        }
    }

    fn release(&mut self, event: &Event, lock: u64) -> io::Result<()> {
        match self.held.entry(event.id.thread).or_default().release(lock) {
            Some((_, 0)) => self.line(event, "rel", &self.named("L", lock)),
            Some(_) => Ok(()),
            None => self.leave_out("releases of locks that were not held"),
        }
    }

    fn line(&mut self, event: &Event, op: &str, operand: &str) -> io::Result<()> {
        let (thread, location) = (self.thread(event.id.thread), self.location(event.site));
        self.done.lines += 1;
        writeln!(self.out, "{thread}|{op}({operand})|{location}")
    }

    #[expect(clippy::unnecessary_wraps, reason = "so that all arms of a match are alike")]
    fn leave_out(&mut self, what: &'static str) -> io::Result<()> {
        *self.done.left_out.entry(what).or_default() += 1;
        Ok(())
    }

    fn thread(&self, id: ThreadId) -> String {
        self.source.thread(id).map_or_else(|| id.to_string(), str::to_owned)
    }

    /// RAPID takes only numbers that a Java `int` can hold.
    fn location(&self, site: SiteId) -> u32 {
        let number = self.source.place(site).and_then(|it| it.parse::<i32>().ok());
        number.and_then(|it| u32::try_from(it).ok()).unwrap_or(site.0)
    }

    /// The name of a variable in its present life.
    fn variable(&self, prefix: &str, addr: u64) -> String {
        match self.lives.number(addr) {
            0 => self.named(prefix, addr),
            again => format!("{}.{again}", self.named(prefix, addr)),
        }
    }

    fn named(&self, prefix: &str, addr: u64) -> String {
        match self.source.symbol(addr) {
            Some((name, 0)) => name.to_owned(),
            Some((name, offset)) => format!("{name}+{offset}"),
            None => format!("{prefix}{addr:x}"),
        }
    }
}

/// Whether a read-write lock is acquired or released by a reader.
fn is_read_lock(op: &Op) -> bool {
    let read = LockMode::Read;
    matches!(*op, Op::Acquire { mode, .. } | Op::Release { mode, .. } if mode == read)
}

impl Source for Trace {
    fn events(&self) -> impl Iterator<Item = Event> {
        self.merged()
    }

    fn threads(&self) -> Vec<(Start, impl Iterator<Item = Event>)> {
        Trace::threads(self).iter().map(|it| (it.start, Trace::events(self, it.id))).collect()
    }

    fn order(&self) -> Order {
        Trace::order(self)
    }

    fn thread(&self, id: ThreadId) -> Option<&str> {
        Some(&Trace::thread(self, id)?.name.0)
    }

    fn place(&self, _: SiteId) -> Option<&str> {
        None
    }

    fn symbol(&self, _: u64) -> Option<(&str, u64)> {
        None
    }
}

impl Source for model::Trace {
    fn events(&self) -> impl Iterator<Item = Event> {
        self.merged()
    }

    fn threads(&self) -> Vec<(Start, impl Iterator<Item = Event>)> {
        let thread = |it: &'_ model::Thread| (self.start(it), it.events.clone().into_iter());
        self.threads.iter().map(thread).collect()
    }

    fn order(&self) -> Order {
        self.order
    }

    fn thread(&self, id: ThreadId) -> Option<&str> {
        Some(&model::Trace::thread(self, id)?.name.0)
    }

    fn place(&self, id: SiteId) -> Option<&str> {
        self.site(id)?.place.as_deref()
    }

    fn symbol(&self, addr: u64) -> Option<(&str, u64)> {
        self.symbols.name(addr)
    }
}
