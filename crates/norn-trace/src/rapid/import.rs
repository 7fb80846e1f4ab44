//! Reads a trace that was written for RAPID, or by it.

use std::{collections::BTreeMap, fmt};

use norn_model::{
    Event, EventId, LockMode, Op, Order, Outcome, Role, Site, SiteId, StackId, Thread, ThreadId,
    ThreadName, Trace, excerpt,
};
use thiserror::Error;

/// Bytes of a variable; it could be any number, for no two variables overlap.
const SIZE: u64 = 4;

/// Maximum length of a field in bytes, and so of a name.
const MAX_NAME: usize = 4096;

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The trace. Its order is the one of the lines.
    pub trace: Trace,
    /// Lines that say nothing about memory, locks or threads, by operation: RAPID's transactions,
    /// and requests of locks that other tools write.
    pub ignored: BTreeMap<String, u64>,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct StdError {
    /// Which line, from 1.
    pub line: usize,
    /// Which character of it, from 1.
    pub column: usize,
    /// What would be right there.
    pub expected: &'static str,
    /// What is there; empty if there is nothing.
    pub found: String,
}

impl fmt::Display for StdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StdError { line, column, expected, found } = self;
        write!(f, "line {line}, column {column}: expected {expected}, found ")?;
        match found.as_str() {
            "" => write!(f, "nothing")?,
            found => write!(f, "`{}`", excerpt(found))?,
        }
        write!(f, "\nhint: a line is `thread|operation(operand)|location`, as `T0|w(x)|12`")
    }
}

/// Reads a trace in RAPID's STD format. Variables and locks become [symbols], locations the places
/// of sites.
///
/// [symbols]: norn_model::Symbols
pub fn import_std(text: &str) -> Result<Imported, StdError> {
    let mut import = Import::default();
    import.done.trace.order = Order::Global;
    for (at, line) in text.lines().enumerate() {
        if !line.trim().is_empty() {
            import.line(line, at + 1)?;
        }
    }
    Ok(import.done)
}

#[derive(Default)]
struct Import {
    done: Imported,
    threads: BTreeMap<String, ThreadId>,
    variables: BTreeMap<String, u64>,
    locks: BTreeMap<String, u64>,
    sites: BTreeMap<String, SiteId>,
    seq: u64,
}

impl Import {
    fn line(&mut self, line: &str, number: usize) -> Result<(), StdError> {
        let fields: Vec<_> = line.split('|').collect();
        let column = |field: usize| {
            let before: usize = fields.iter().take(field).map(|it| it.chars().count() + 1).sum();
            before + 1
        };
        let wrong = |field: usize, expected| {
            let found = fields.get(field).copied().unwrap_or_default().to_owned();
            Err(StdError { line: number, column: column(field), expected, found })
        };
        if let Some(long) = fields.iter().position(|it| it.len() > MAX_NAME) {
            return wrong(long, "a name of at most 4096 bytes");
        }
        let &[thread, operation, location] = fields.as_slice() else {
            let expected = "three fields with `|` between them";
            return wrong(fields.len().min(3), expected);
        };
        if thread.is_empty() || thread.contains(char::is_whitespace) {
            return wrong(0, "a thread");
        }
        let Some((op, operand)) = split(operation) else {
            return wrong(1, "an operation with its operand, as `acq(m)`");
        };
        if location.is_empty() {
            return wrong(2, "a location");
        }
        let thread = self.thread(thread);
        match (op, operand) {
            ("begin" | "end" | "dummy" | "branch" | "req", _) => {
                *self.done.ignored.entry(op.to_owned()).or_default() += 1;
                return Ok(());
            }
            (_, "") => return wrong(1, "an operand in parentheses"),
            _ => {}
        }
        match self.op(op, operand) {
            Some(op) => self.push(thread, op, location),
            None => return wrong(1, "one of `r`, `w`, `acq`, `rel`, `fork`, `join`"),
        }
        Ok(())
    }

    fn op(&mut self, op: &str, operand: &str) -> Option<Op> {
        let (value, volatile) = (None, false);
        let (mode, how) = (LockMode::Mutex, Outcome::Waited);
        Some(match op {
            "r" => Op::Read { addr: self.variable(operand), size: SIZE, value, volatile },
            "w" => Op::Write { addr: self.variable(operand), size: SIZE, value, volatile },
            "acq" => Op::Acquire { lock: self.lock(operand), mode, how },
            "rel" => Op::Release { lock: self.lock(operand), mode },
            "fork" => Op::Fork(self.thread(operand)),
            "join" => Op::Join(self.thread(operand)),
            _ => return None,
        })
    }

    fn push(&mut self, thread: ThreadId, op: Op, location: &str) {
        let site = self.site(location);
        self.seq += 1;
        let Some(thread) = self.done.trace.threads.get_mut(thread.0 as usize) else { return };
        let id = EventId { thread: thread.id, index: thread.events.len() as u64 };
        let seq = Some(self.seq);
        thread.events.push(Event { id, op, site, stack: StackId(0), seq });
    }

    /// Threads are numbered as they are mentioned. Who created whom, the names do not say.
    fn thread(&mut self, name: &str) -> ThreadId {
        let threads = &mut self.done.trace.threads;
        let next = ThreadId(u32::try_from(threads.len()).unwrap_or(u32::MAX));
        let id = *self.threads.entry(name.to_owned()).or_insert(next);
        if id == next {
            let (name, role) = (ThreadName(name.to_owned()), Role::Thread);
            let (parent, after, events) = (None, 0, Vec::new());
            threads.push(Thread { id, name, role, parent, after, events });
        }
        id
    }

    fn variable(&mut self, name: &str) -> u64 {
        let symbols = &mut self.done.trace.symbols;
        *self.variables.entry(name.to_owned()).or_insert_with(|| symbols.add(name))
    }

    fn lock(&mut self, name: &str) -> u64 {
        let symbols = &mut self.done.trace.symbols;
        *self.locks.entry(name.to_owned()).or_insert_with(|| symbols.add(name))
    }

    fn site(&mut self, location: &str) -> SiteId {
        let sites = &mut self.done.trace.sites;
        *self.sites.entry(location.to_owned()).or_insert_with(|| {
            sites.push(Site { pc: 0, place: Some(location.to_owned()) });
            SiteId(u32::try_from(sites.len() - 1).unwrap_or(u32::MAX))
        })
    }
}

/// `op(operand)`; the operand of a transaction may be missing.
fn split(operation: &str) -> Option<(&str, &str)> {
    match operation.split_once('(') {
        Some((op, rest)) => {
            let operand = rest.strip_suffix(')').filter(|it| !it.is_empty())?;
            (!operand.contains(char::is_whitespace)).then_some((op, operand))
        }
        None => (!operation.is_empty() && !operation.contains(')')).then_some((operation, "")),
    }
}
