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
//! Libraries of Rust also race on purpose: a thread that steals from a queue of `crossbeam-deque`, or reads a sequence lock, reads what
//! may be overwritten meanwhile, and discards it if it was. Such a read is volatile. A race with one, between two accesses by
//! dependencies, is none of the program's either.

use std::{cell::RefCell, collections::BTreeMap};

use norn_frontend::Owner;
use norn_model::{BugClass, Candidate, Location, Op, SiteId, StackId, Step};
use norn_predict::{Options, Prediction, predict};

use crate::{describe::stack_of, source::Source};

/// The class by which GNU's library implements `std::atomic<std::shared_ptr>`, and its constructors and
/// destructor.
const ATOMIC_POINTER: &str = "std::_Sp_atomic<";
const ENDS: [&str; 2] = ["::_Sp_atomic", "::~_Sp_atomic"];

/// Predicts from a trace, without candidates about the library's synchronisation.
pub(crate) fn predict_program(source: &Source, options: &Options) -> Prediction {
    let mut prediction = predict(&source.trace, options);
    let library = LibrarySync { source, known: RefCell::default() };
    prediction.candidates.retain(|it| !library.concerns(it));
    prediction.violations.retain(|(it, _)| !library.concerns(it));
    prediction
}

/// Which atomic operations of a trace are the library's own.
struct LibrarySync<'a> {
    source: &'a Source,
    /// The answers so far, by place and call stack.
    known: RefCell<BTreeMap<(SiteId, StackId), bool>>,
}

/// Whether a function is an operation of some kind.
type IsOperation<'a> = &'a dyn Fn(&Location) -> bool;

impl LibrarySync<'_> {
    /// Whether a candidate depends on the order of the library's own atomic operations, or is a race on purpose.
    fn concerns(&self, candidate: &Candidate) -> bool {
        match candidate.class() {
            // Whatever the library does meanwhile, the program has to handle that its time limit expires.
            BugClass::Order if candidate.expires().is_some() => false,
            BugClass::Atomicity | BugClass::AtomicSet | BugClass::Order => {
                candidate.steps.iter().any(|it| self.is_library_atomic(it))
            }
            BugClass::Race => {
                self.is_race_on_purpose(&candidate.steps)
                    || candidate.steps.iter().all(|it| self.is_in_atomic_pointer(it))
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
