//! Tells the program's atomic variables from those by which the language's library synchronises.
//!
//! Semaphores, latches, barriers, waits for atomic variables and reference counts are atomic
//! operations of the C++ library, most of them in templates that are compiled into the program. These
//! operations order threads, and the library is prepared for any order of them, as libc is for the
//! words of a mutex. So an atomicity or order violation among them is none of the program's. Data
//! races are: if the program constructs or destroys a semaphore while another thread uses it, one
//! of the two accesses is not atomic. The exception is `std::atomic<std::shared_ptr>`: GNU's library protects
//! the pointer by a bit lock that readers release with a relaxed operation, so that its own accesses race.
//!
//! The same holds for the memory of the channels and locks of Rust's library, and for memory that any library protects by
//! locks of its own: the lock is acquired, and the memory accessed, in one call that the program makes. A container that the
//! program protects by its own lock is accessed in another call than that which acquires the lock. Data races and uses of
//! freed memory in channels and locks are possible only if unsafe code of the program uses them wrongly: they are tried last.
//!
//! What the program may not be prepared for is the order of its own calls: that another thread's message comes first, or that
//! the receiver is gone. Where two calls update the same word of the library, their order is a candidate, once for
//! each two places.
//!
//! GNU's C++ library also fills tables of its own, such as those of a locale, without synchronisation: any two threads that use
//! a regular expression do. That is nothing that a program could repair.
//!
//! Libraries of Rust also race on purpose: a thread that steals from a queue of `crossbeam-deque`, or reads a sequence lock, reads what
//! may be overwritten meanwhile, and discards it if it was. Such a read is volatile. A race with one, between two accesses by
//! dependencies, is none of the program's either.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use norn_frontend::Owner;
use norn_model::{
    AtomicOp, BugClass, Candidate, Event, EventId, Location, LockEffect, Op, SiteId, StackId, Step,
};
use norn_predict::{Options, Prediction, Remark, predict};

use crate::{
    describe::{frames_of, stack_of},
    source::Source,
};

/// The class by which GNU's library implements `std::atomic<std::shared_ptr>`, and its constructors and
/// destructor.
const ATOMIC_POINTER: &str = "std::_Sp_atomic<";
const ENDS: [&str; 2] = ["::_Sp_atomic", "::~_Sp_atomic"];
/// Number of events before an access among which the acquisition of a library's lock is searched.
const LONGEST_SECTION: usize = 1 << 10;

/// Predicts from a trace, without candidates about the library's synchronisation, but with the order of calls.
pub(crate) fn predict_program(source: &Source, options: &Options) -> Prediction {
    let mut prediction = predict(&source.trace, options);
    let library = LibrarySync::new(source);
    prediction.candidates.retain(|it| !library.concerns(it));
    let all = std::mem::take(&mut prediction.violations);
    let (own, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| !library.concerns(&it.0));
    prediction.violations = own;
    prediction.violations.extend(library.orders_of_calls(others));
    prediction
}

/// Which operations and which memory of a trace are the library's own.
pub(crate) struct LibrarySync<'a> {
    source: &'a Source,
    /// The answers so far, by place and call stack.
    known: RefCell<BTreeMap<(SiteId, StackId), bool>>,
    calls: RefCell<BTreeMap<(SiteId, StackId), Option<Call>>>,
}

/// A call of a library: the function, and the place in the program, if the call stack has one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    /// Whether the library synchronises threads.
    synchronises: bool,
    function: Option<String>,
    place: Option<(Option<String>, Option<u32>, Option<u32>)>,
}

/// Whether a function is an operation of some kind.
type IsOperation<'a> = &'a dyn Fn(&Location) -> bool;

impl LibrarySync<'_> {
    pub(crate) fn new(source: &Source) -> LibrarySync<'_> {
        LibrarySync { source, known: RefCell::default(), calls: RefCell::default() }
    }

    /// Whether a race or a use of freed memory is inside channels or locks of the language's library.
    pub(crate) fn is_inside_synchronisation(&self, candidate: &Candidate) -> bool {
        matches!(candidate.class(), BugClass::Race | BugClass::Lifetime)
            && candidate.steps.iter().all(|it| self.synchronises(it.event))
    }

    /// Whether a candidate depends on the order of the library's own atomic operations, or is a race on purpose.
    fn concerns(&self, candidate: &Candidate) -> bool {
        match candidate.class() {
            // Whatever the library does meanwhile, the program has to handle that its time limit expires.
            BugClass::Order if candidate.expires().is_some() => false,
            BugClass::Atomicity | BugClass::AtomicSet | BugClass::Order => {
                candidate.steps.iter().any(|it| self.is_library_atomic(it))
                    || candidate.steps.iter().all(|it| self.is_of_library(it.event))
            }
            BugClass::Race => {
                self.is_race_on_purpose(&candidate.steps)
                    || candidate.steps.iter().all(|it| self.is_in_atomic_pointer(it))
                    || candidate.steps.iter().all(|it| self.is_library_data(it))
            }
            _ => false,
        }
    }

    /// Whether an access is one of an operation of `std::atomic<std::shared_ptr>`, other than its
    /// construction and destruction.
    fn is_in_atomic_pointer(&self, step: &Step) -> bool {
        let is_operation = |it: &Location| {
            let name = it.function.as_deref().unwrap_or_default();
            name.starts_with(ATOMIC_POINTER) && !ENDS.iter().any(|it| name.ends_with(it))
        };
        stack_of(self.source, step).iter().any(is_operation)
    }

    fn is_library_atomic(&self, step: &Step) -> bool {
        let Some(event) = self.source.trace.event(step.event) else { return false };
        if !matches!(event.op, Op::Atomic { .. }) {
            return false;
        }
        // Operations without a place in the program's code are the runtime's own.
        let placed = self.source.symbolized.trace.site(event.site).is_some_and(|it| it.pc != 0);
        let symbols = &self.source.symbolized.symbols;
        let decide = || !placed || self.is_internal(step, &|it| symbols.is_atomic_operation(it));
        *self.known.borrow_mut().entry((event.site, event.stack)).or_insert_with(decide)
    }

    /// One candidate for the order of each two calls, first those of which both depend on what the other one did.
    fn orders_of_calls(&self, all: Vec<(Candidate, Remark)>) -> Vec<(Candidate, Remark)> {
        let mut known = BTreeSet::new();
        let [mut both, mut one] = [Vec::new(), Vec::new()];
        for (candidate, remark) in all {
            let Some((calls, dependent)) = self.order_of_calls(&candidate) else { continue };
            if known.insert(calls) {
                let list = if dependent == 2 { &mut both } else { &mut one };
                // That both threads change the word in turn says nothing about the calls.
                list.push((candidate, Remark { expected: None, ..remark }));
            }
        }
        both.extend(one);
        both
    }

    /// The calls of a library, made by the program, whose order a candidate is about: both update the same word.
    /// And how many of them depend on what the word was: counters and flags do not say what the calls are for.
    fn order_of_calls(&self, candidate: &Candidate) -> Option<(BTreeSet<Call>, usize)> {
        if candidate.class() != BugClass::Order {
            return None;
        }
        let (mut calls, mut dependent) = (BTreeSet::new(), 0);
        for step in &candidate.steps {
            let event = self.source.trace.event(step.event)?;
            let Op::Atomic { op, .. } = event.op else { return None };
            if !op.reads() || !op.writes() || !self.is_library_atomic(step) {
                return None;
            }
            dependent += usize::from(matches!(op, AtomicOp::Cas { .. }));
            calls.insert(self.call(event).filter(|it| it.place.is_some())?);
        }
        (dependent > 0).then_some((calls, dependent))
    }

    /// Whether an event accesses memory that only a library's own synchronisation protects.
    fn is_of_library(&self, at: EventId) -> bool {
        self.synchronises(at) || self.is_guarded(at)
    }

    /// Whether a library accesses a static variable of its own, which the program cannot protect.
    fn is_library_data(&self, step: &Step) -> bool {
        let event = self.source.trace.event(step.event);
        event.is_some_and(|it| self.call(it).is_some())
            && self.source.symbolized.symbols.is_in_library(step.addr)
    }

    /// Whether an event happens inside of channels or locks of the language's library.
    fn synchronises(&self, at: EventId) -> bool {
        let call = self.source.trace.event(at).and_then(|it| self.call(it));
        call.is_some_and(|it| it.synchronises)
    }

    /// Whether a library holds a lock of its own at an event.
    fn is_guarded(&self, at: EventId) -> bool {
        let thread = self.source.trace.thread(at.thread);
        let before = usize::try_from(at.index).ok().and_then(|it| thread?.events.get(..=it));
        let Some((event, before)) = before.and_then(<[Event]>::split_last) else { return false };
        let Some(call) = self.call(event) else { return false };
        let mut released = BTreeSet::new();
        for event in before.iter().rev().take(LONGEST_SECTION) {
            match event.op.effect().lock() {
                Some(LockEffect::Release { lock, .. }) => _ = released.insert(lock),
                Some(LockEffect::Acquire { lock, .. }) if !released.remove(&lock) => {
                    return self.call(event).is_some_and(|it| it == call);
                }
                _ => {}
            }
        }
        false
    }

    /// The call of the program during which an event happens in a library; none if it happens in the program's own code.
    fn call(&self, event: &Event) -> Option<Call> {
        let find = || {
            let symbols = &self.source.symbolized.symbols;
            let is_library = |it: &Location| symbols.owner(it) == Owner::Library;
            let mut frames = frames_of(self.source, event).peekable();
            let mut called = None;
            let mut synchronises = false;
            while let Some(frame) = frames.next_if(is_library) {
                synchronises |= symbols.is_synchronisation(&frame);
                called = Some(frame.function);
            }
            let place = frames.next().map(|it| (it.file, it.line, it.column));
            called.map(|function| Call { synchronises, function, place })
        };
        self.calls.borrow_mut().entry((event.site, event.stack)).or_insert_with(find).clone()
    }

    /// Whether two accesses race on purpose: they are made by dependencies, and one of them is volatile.
    fn is_race_on_purpose(&self, steps: &[Step]) -> bool {
        let symbols = &self.source.symbolized.symbols;
        let is_foreign = |it: &Step| self.is_internal(it, &|it| symbols.is_of_language(it));
        let is_volatile = |it: &Step| {
            let stack = stack_of(self.source, it);
            let mut own = stack.iter().take_while(|it| symbols.is_of_language(it));
            own.any(|it| symbols.is_volatile_operation(it))
        };
        steps.iter().any(is_volatile) && steps.iter().all(is_foreign)
    }

    /// Whether the library called an operation: between the program and the operation there is a function of the
    /// library that is not itself such an operation.
    fn is_internal(&self, step: &Step, is_operation: IsOperation<'_>) -> bool {
        let (symbols, stack) = (&self.source.symbolized.symbols, stack_of(self.source, step));
        let mut callees = stack.iter().take_while(|it| symbols.owner(it) == Owner::Library);
        callees.any(|it| !is_operation(it))
    }
}
