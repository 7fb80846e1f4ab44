//! Reads traces in the text notation.

use std::collections::BTreeMap;

use super::{
    ParseError, SIZE,
    call::region,
    line::{Line, Step, digits},
    word::Word,
};
use crate::{
    AtomicOp, Event, EventId, LockMode, Op, OpKind, Order, Ordering, Outcome, RmwOp, Role, Site,
    SiteId, StackId, Thread, ThreadId, ThreadName, Trace, Value, WokenBy,
};

/// Reads a trace.
pub fn parse(text: &str) -> Result<Trace, ParseError> {
    let mut parser = Parser::default();
    for (at, line) in text.lines().enumerate() {
        parser.line(Line::new(line, at + 1))?;
    }
    Ok(parser.trace)
}

#[derive(Default)]
pub(super) struct Parser {
    pub(super) trace: Trace,
    threads: BTreeMap<String, ThreadId>,
    places: BTreeMap<String, SiteId>,
    seq: u64,
}

impl Parser {
    fn line(&mut self, mut line: Line<'_>) -> Step<()> {
        match line.peek() {
            "" => return Ok(()),
            word if word.starts_with('#') => return Ok(()),
            "order" if self.trace.threads.is_empty() => return self.order(&mut line),
            _ => {}
        }
        let thread = self.other(&mut line)?;
        let kind = OpKind::from_keyword(line.peek()).ok_or_else(|| line.error("a verb"))?;
        line.verb = Some(kind.keyword());
        line.next();
        let op = self.op(kind, &mut line)?;
        let site = self.site(&mut line)?;
        self.push(thread, op, site);
        Ok(())
    }

    fn order(&mut self, line: &mut Line<'_>) -> Step<()> {
        line.next();
        self.trace.order = match line.peek() {
            "global" => Order::Global,
            "local" => Order::Local,
            _ => return Err(line.error("`global` or `local`")),
        };
        line.next();
        line.end()
    }

    fn push(&mut self, thread: ThreadId, op: Op, site: SiteId) {
        let access = matches!(op, Op::Read { .. } | Op::Write { .. });
        let seq = (!access || self.trace.order == Order::Global).then(|| {
            self.seq += 1;
            self.seq
        });
        let Some(thread) = self.trace.threads.get_mut(thread.0 as usize) else { return };
        let id = EventId { thread: thread.id, index: thread.events.len() as u64 };
        thread.events.push(Event { id, op, site, stack: StackId(0), seq });
    }

    /// Threads are numbered as they are mentioned.
    fn thread(&mut self, name: &str) -> ThreadId {
        if let Some(&id) = self.threads.get(name) {
            return id;
        }
        let parent = name
            .strip_suffix('!')
            .or_else(|| name.rsplit_once('.').map(|(parent, _)| parent))
            .map(|parent| self.thread(parent));
        let role = match name.as_bytes() {
            [.., b'!'] => Role::Handler,
            [b'F', ..] => Role::Foreign,
            _ => Role::Thread,
        };
        let id = ThreadId(number(self.trace.threads.len()));
        self.threads.insert(name.to_owned(), id);
        let name = ThreadName(name.to_owned());
        let thread = Thread { id, name, role, parent, after: 0, events: Vec::new() };
        self.trace.threads.push(thread);
        id
    }

    /// The place at the end of a line.
    fn site(&mut self, line: &mut Line<'_>) -> Step<SiteId> {
        if line.peek() != "@" {
            line.end()?;
            return Ok(self.new_site(None));
        }
        line.next();
        let place = line.rest();
        if place.is_empty() {
            return Err(line.error("a place"));
        }
        if let Some(&site) = self.places.get(place) {
            return Ok(site);
        }
        let site = self.new_site(Some(place.to_owned()));
        self.places.insert(place.to_owned(), site);
        Ok(site)
    }

    fn new_site(&mut self, place: Option<String>) -> SiteId {
        self.trace.sites.push(Site { pc: 0, place });
        SiteId(number(self.trace.sites.len() - 1))
    }

    /// The operation, of the first kind that has the keyword.
    #[expect(clippy::too_many_lines, reason = "an arm for each operation")]
    fn op(&mut self, kind: OpKind, line: &mut Line<'_>) -> Step<Op> {
        Ok(match kind {
            OpKind::Begin => self.begin(line)?,
            OpKind::End => Op::End,
            OpKind::Fork => Op::Fork(self.other(line)?),
            OpKind::Join => Op::Join(self.other(line)?),
            OpKind::Detach => Op::Detach(self.other(line)?),
            OpKind::Cancel => Op::Cancel(self.other(line)?),
            OpKind::HandlerBegin => Op::HandlerBegin { signal: line.signed("a signal")? },
            OpKind::HandlerEnd | OpKind::Return => self.returned(line)?,
            OpKind::Call => self.call(line)?,
            OpKind::Mark => self.mark(line)?,
            OpKind::RegionBegin | OpKind::RegionEnd => region(line)?,
            OpKind::Acquire | OpKind::AcquireFailed | OpKind::Release => self.lock(kind, line)?,
            OpKind::WaitRelease => Op::WaitRelease { lock: self.object(line, "a lock")? },
            OpKind::Wait => {
                let (cond, lock) = self.cond_and_lock(line)?;
                Op::Wait { cond, lock, timed: line.is("timed") }
            }
            OpKind::WaitAcquire => {
                let (cond, lock) = self.cond_and_lock(line)?;
                Op::WaitAcquire { cond, lock, woken: self.woken(line)? }
            }
            OpKind::Signal => Op::Signal { cond: self.object(line, "a condition")? },
            OpKind::Broadcast => Op::Broadcast { cond: self.object(line, "a condition")? },
            OpKind::BarrierEnter => Op::BarrierEnter { barrier: self.object(line, "a barrier")? },
            OpKind::BarrierLeave => {
                let barrier = self.object(line, "a barrier")?;
                Op::BarrierLeave { barrier, serial: line.is("serial") }
            }
            OpKind::SemPost => Op::SemPost { semaphore: self.object(line, "a semaphore")? },
            OpKind::SemWait => {
                let semaphore = self.object(line, "a semaphore")?;
                Op::SemWait { semaphore, timed: line.is("timed") }
            }
            OpKind::SemFailed => {
                let semaphore = self.object(line, "a semaphore")?;
                Op::SemFailed { semaphore, error: line.signed("an error")? }
            }
            OpKind::OnceBegin => Op::OnceBegin { once: self.object(line, "an object")? },
            OpKind::OnceEnd => {
                let once = self.object(line, "an object")?;
                Op::OnceEnd { once, done: !line.is("failed") }
            }
            OpKind::OnceDone => Op::OnceDone { once: self.object(line, "an object")? },
            OpKind::Fence => Op::Fence(line.choice(Ordering::SeqCst)),
            OpKind::HappensBefore => Op::HappensBefore { object: self.object(line, "an object")? },
            OpKind::HappensAfter => Op::HappensAfter { object: self.object(line, "an object")? },
            OpKind::Sleep => Op::Sleep { nanoseconds: line.number("nanoseconds")? },
            OpKind::Yield => Op::Yield,
            OpKind::ProcessFork => Op::ProcessFork { process: line.number("a process")? },
            OpKind::Exec => Op::Exec,
            OpKind::Exit => Op::Exit { status: line.signed("a status")? },
            OpKind::Abort => Op::Abort,
            OpKind::Read
            | OpKind::Write
            | OpKind::Alloc
            | OpKind::Free
            | OpKind::Map
            | OpKind::Unmap
            | OpKind::Init
            | OpKind::Destroy => self.memory_op(kind, line)?,
            OpKind::Load
            | OpKind::Store
            | OpKind::Exchange
            | OpKind::Add
            | OpKind::Sub
            | OpKind::And
            | OpKind::Or
            | OpKind::Xor
            | OpKind::Nand
            | OpKind::Cas
            | OpKind::CasFailed => self.atomic(kind, line)?,
        })
    }

    fn begin(&mut self, line: &mut Line<'_>) -> Step<Op> {
        if line.at_end() {
            return Ok(Op::Begin { stack: 0, size: 0 });
        }
        let stack = self.object(line, "a stack")?;
        Ok(Op::Begin { stack, size: line.number("a size")? })
    }

    fn other(&mut self, line: &mut Line<'_>) -> Step<ThreadId> {
        let name = line.peek();
        if !is_thread(name) {
            return Err(line.error("a thread, as `T0` or `T0.1`"));
        }
        line.next();
        Ok(self.thread(name))
    }

    fn lock(&mut self, kind: OpKind, line: &mut Line<'_>) -> Step<Op> {
        let lock = self.object(line, "a lock")?;
        let mode = line.choice(LockMode::Mutex);
        if kind == OpKind::Release {
            return Ok(Op::Release { lock, mode });
        }
        let how = line.choice(Outcome::Waited);
        if kind == OpKind::Acquire {
            return Ok(Op::Acquire { lock, mode, how });
        }
        Ok(Op::AcquireFailed { lock, mode, how, error: line.signed("an error")? })
    }

    fn cond_and_lock(&mut self, line: &mut Line<'_>) -> Step<(u64, u64)> {
        Ok((self.object(line, "a condition")?, self.object(line, "a lock")?))
    }

    fn woken(&mut self, line: &mut Line<'_>) -> Step<WokenBy> {
        Ok(match line.peek() {
            "by" => {
                line.next();
                WokenBy::Event(self.event(line)?)
            }
            "any" => {
                line.next();
                WokenBy::OneOf(line.number("a count")?)
            }
            "timeout" => {
                line.next();
                WokenBy::Timeout
            }
            "error" => {
                line.next();
                WokenBy::Error(line.signed("an error")?)
            }
            _ => WokenBy::Nothing,
        })
    }

    fn event(&mut self, line: &mut Line<'_>) -> Step<EventId> {
        let parts = line.peek().rsplit_once(':');
        let parts = parts.and_then(|(thread, index)| Some((thread, index.parse().ok()?)));
        let Some((thread, index)) = parts.filter(|it| is_thread(it.0)) else {
            return Err(line.error("an event, as `T0:3`"));
        };
        line.next();
        Ok(EventId { thread: self.thread(thread), index })
    }

    /// Accesses, blocks of memory and the lives of objects.
    fn memory_op(&mut self, kind: OpKind, line: &mut Line<'_>) -> Step<Op> {
        if matches!(kind, OpKind::Read | OpKind::Write) {
            let (addr, size) = self.memory(line)?;
            let value: Value = line.optional();
            let volatile = line.is("volatile");
            return Ok(if kind == OpKind::Read {
                Op::Read { addr, size, value, volatile }
            } else {
                Op::Write { addr, size, value, volatile }
            });
        }
        let addr = self.object(line, "an object")?;
        if kind == OpKind::Free {
            return Ok(Op::Free { addr });
        }
        if matches!(kind, OpKind::Init | OpKind::Destroy) {
            let (object, class) = (addr, line.required("a kind of object")?);
            return Ok(if kind == OpKind::Init {
                Op::Init { object, class, detail: line.optional().unwrap_or(0) }
            } else {
                Op::Destroy { object, class }
            });
        }
        let size = line.number("a size")?;
        Ok(if kind == OpKind::Alloc {
            Op::Alloc { addr, size }
        } else if kind == OpKind::Map {
            Op::Map { addr, size }
        } else {
            Op::Unmap { addr, size }
        })
    }

    fn atomic(&mut self, kind: OpKind, line: &mut Line<'_>) -> Step<Op> {
        let start = line.at;
        let (addr, size) = self.memory(line)?;
        let Ok(size) = u8::try_from(size) else {
            line.at = start;
            return Err(line.error("a size of 1 to 16"));
        };
        let first = line.number("a value")?;
        let op = if kind == OpKind::Load {
            AtomicOp::Load(first)
        } else if kind == OpKind::Store {
            AtomicOp::Store(first)
        } else {
            let second = line.number("a value")?;
            match RmwOp::from_word(kind.keyword()) {
                Some(op) => AtomicOp::Rmw { op, old: first, new: second },
                None if kind == OpKind::Cas => AtomicOp::Cas { old: first, new: second },
                None => AtomicOp::CasFailed { seen: first, expected: second },
            }
        };
        Ok(Op::Atomic { addr, size, ordering: line.choice(Ordering::SeqCst), op })
    }

    fn memory(&mut self, line: &mut Line<'_>) -> Step<(u64, u64)> {
        let word = line.peek();
        let (object, size) = word.split_once(':').unwrap_or((word, ""));
        let size = if size.is_empty() { Some(SIZE) } else { digits(size) };
        match (self.address(object), size) {
            (Some(addr), Some(size)) => {
                line.next();
                Ok((addr, size))
            }
            _ => Err(line.error("an object")),
        }
    }

    fn object(&mut self, line: &mut Line<'_>, expected: &'static str) -> Step<u64> {
        let addr = self.address(line.peek()).ok_or_else(|| line.error(expected))?;
        line.next();
        Ok(addr)
    }

    /// `name`, `name+4` or `0x7f00`.
    pub(super) fn address(&mut self, word: &str) -> Option<u64> {
        if word.starts_with(|it: char| it.is_ascii_digit()) {
            return digits(word);
        }
        let (name, offset) = word.split_once('+').unwrap_or((word, "0"));
        let named = name.starts_with(|it: char| it.is_alphabetic() || it == '_');
        let offset = digits(offset).filter(|&it: &u64| it < 1 << 12)?;
        named.then(|| self.trace.symbols.intern(name) + offset)
    }
}

/// Whether this can name a thread: a word, numbers of children, a mark for handlers.
fn is_thread(name: &str) -> bool {
    const LONGEST: usize = 255;
    let mut parts = name.trim_end_matches('!').split('.');
    let first = parts.next().is_some_and(|it| {
        it.starts_with(|it: char| it.is_ascii_alphabetic())
            && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
    });
    let numbered = parts.all(|it| !it.is_empty() && it.bytes().all(|digit| digit.is_ascii_digit()));
    first && numbered && name.len() <= LONGEST
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
