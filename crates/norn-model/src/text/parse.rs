//! Reads traces in the text notation.

use std::collections::BTreeMap;

use super::{
    ParseError, SIZE,
    line::{Line, Step, digits},
};
use crate::{
    AtomicOp, Event, EventId, Field, LockMode, Object, Op, OpKind, Order, Ordering, Outcome, Role,
    Site, SiteId, StackId, Thread, ThreadId, ThreadName, Trace, WokenBy,
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

    /// An operation of the kind, or of another kind with the same keyword.
    fn op(&mut self, kind: OpKind, line: &mut Line<'_>) -> Step<Op> {
        let mut op = among(kind, line)?.blank();
        for field in op.fields() {
            self.field(field, line)?;
        }
        Ok(op)
    }

    /// Fills in one operand.
    fn field(&mut self, field: Field<'_>, line: &mut Line<'_>) -> Step<()> {
        match field {
            Field::Thread(thread) => *thread = self.other(line)?,
            Field::Lock(lock, mode) => {
                *lock = self.object(line, "a lock")?;
                *mode = line.choice(LockMode::Mutex);
            }
            Field::Object(addr, class) => *addr = self.object(line, expected(class))?,
            Field::AnyObject(addr, class) => {
                *addr = self.object(line, "an object")?;
                *class = line.required("a kind of object")?;
            }
            Field::Address(addr) | Field::Freed(addr) => *addr = self.object(line, "an object")?,
            Field::Channel(channel) => *channel = self.object(line, "a channel")?,
            Field::WaitMutex(lock) => *lock = self.object(line, "a lock")?,
            Field::Stack(..) if line.at_end() => {}
            Field::Stack(addr, size) => self.block(line, "a stack", addr, size)?,
            Field::Allocated(addr, size) | Field::Pages(addr, size) => {
                self.block(line, "an object", addr, size)?;
            }
            Field::Memory(addr, size) => (*addr, *size) = self.memory(line)?,
            Field::Value(value) => *value = line.optional(),
            Field::Atomic(addr, size, op, ordering) => {
                (*addr, *size) = self.atomic_memory(line)?;
                values(line, op)?;
                *ordering = line.choice(Ordering::SeqCst);
            }
            Field::Ordering(ordering) => *ordering = line.choice(Ordering::SeqCst),
            Field::Request(how) => *how = line.choice(Outcome::Waited),
            Field::WokenBy(woken) => *woken = self.woken(line)?,
            Field::Detail(detail) => *detail = line.optional().unwrap_or(0),
            Field::Flag(word, is) => *is = line.is(word),
            Field::Answer(_, (word, meaning), answer) => *answer = line.is(word) == meaning,
            Field::I32(_, expected, number) => *number = line.signed(expected)?,
            Field::U32(_, expected, number) => *number = line.number(expected)?,
            Field::U64(_, expected, number) => *number = line.number(expected)?,
            Field::Duration(nanoseconds) => *nanoseconds = line.number("nanoseconds")?,
            Field::Call(function, arguments) => (*function, *arguments) = self.call(line)?,
            Field::Return(function, value) => (*function, *value) = self.returned(line)?,
            Field::Mark(name, object) => (*name, *object) = self.mark(line)?,
            Field::Word(word) => drop(line.is(word)),
        }
        Ok(())
    }

    fn block(
        &mut self,
        line: &mut Line<'_>,
        expected: &'static str,
        addr: &mut u64,
        size: &mut u64,
    ) -> Step<()> {
        *addr = self.object(line, expected)?;
        *size = line.number("a size")?;
        Ok(())
    }

    fn other(&mut self, line: &mut Line<'_>) -> Step<ThreadId> {
        let name = line.peek();
        if !is_thread(name) {
            return Err(line.error("a thread, as `T0` or `T0.1`"));
        }
        line.next();
        Ok(self.thread(name))
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

    /// The memory of an atomic operation, which is at most 16 bytes wide.
    fn atomic_memory(&mut self, line: &mut Line<'_>) -> Step<(u64, u8)> {
        let start = line.at;
        let (addr, size) = self.memory(line)?;
        let Ok(size) = u8::try_from(size) else {
            line.at = start;
            return Err(line.error("a size of 1 to 16"));
        };
        Ok((addr, size))
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

/// Of the kinds that share a keyword, the one that the operands belong to.
fn among(kind: OpKind, line: &Line<'_>) -> Step<OpKind> {
    match line.peek() {
        _ if kind == OpKind::HandlerEnd && !line.at_end() => Ok(OpKind::Return),
        "end" if kind == OpKind::RegionBegin => Ok(OpKind::RegionEnd),
        word if kind == OpKind::RegionBegin && word != "begin" => {
            Err(line.error("`begin` or `end`"))
        }
        _ => Ok(kind),
    }
}

/// The values of an atomic operation.
fn values(line: &mut Line<'_>, op: &mut AtomicOp) -> Step<()> {
    let (first, second) = match op {
        AtomicOp::Load(value) | AtomicOp::Store(value) => (value, None),
        AtomicOp::Rmw { old, new, .. } | AtomicOp::Cas { old, new } => (old, Some(new)),
        AtomicOp::CasFailed { seen, expected } => (seen, Some(expected)),
    };
    *first = line.number("a value")?;
    if let Some(second) = second {
        *second = line.number("a value")?;
    }
    Ok(())
}

/// What an error message says of a missing object.
fn expected(class: Object) -> &'static str {
    match class {
        Object::Mutex | Object::Spin | Object::RwLock => "a lock",
        Object::Cond => "a condition",
        Object::Barrier => "a barrier",
        Object::Semaphore => "a semaphore",
        Object::Key | Object::Descriptor => "an object",
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
