//! Schedules for the candidates of one trace, each computed once: a campaign that looks ahead
//! requests them before it knows whether it needs them, and again when it does.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
};

use norn_model::{Apart, Candidate, Trace};
use norn_witness::{Failure, Witness, WitnessOptions, Witnesses};

use crate::overwrite;

/// A candidate, and the events that must stay apart from it.
type Question = (Candidate, Vec<Apart>);

/// An answer, and the effort that it took.
type Answer<T> = (T, u64);

/// Computes schedules and caches them.
#[derive(Debug)]
pub(crate) struct CachedWitnesses<'a> {
    pub(crate) trace: &'a Trace,
    witnesses: Witnesses<'a>,
    usual: RefCell<BTreeMap<Question, Answer<Result<Witness, Failure>>>>,
    lively: RefCell<BTreeMap<Candidate, Answer<Option<Witness>>>>,
    effort: Cell<u64>,
}

impl<'a> CachedWitnesses<'a> {
    pub(crate) fn new(trace: &'a Trace, options: impl Into<WitnessOptions>) -> Self {
        CachedWitnesses {
            trace,
            witnesses: Witnesses::with(trace, options),
            usual: RefCell::default(),
            lively: RefCell::default(),
            effort: Cell::new(0),
        }
    }

    /// The effort of all answers so far, in events. An answer from the cache counts as if it had been
    /// computed again, so that the sum does not depend on what was requested ahead.
    pub(crate) fn effort(&self) -> u64 {
        self.effort.get()
    }

    /// Looks an answer up, or computes and stores it.
    fn answer<Q: Clone + Ord, T: Clone>(
        &self,
        cache: &RefCell<BTreeMap<Q, Answer<T>>>,
        question: &Q,
        compute: impl FnOnce() -> T,
    ) -> T {
        let known = cache.borrow().get(question).cloned();
        let (answer, effort) = known.unwrap_or_else(|| {
            let before = self.witnesses.effort();
            let made = (compute(), self.witnesses.effort() - before);
            cache.borrow_mut().insert(question.clone(), made.clone());
            made
        });
        self.effort.set(self.effort.get() + effort);
        answer
    }

    /// See [`Witnesses::expect`].
    pub(crate) fn expect<'c, Group: IntoIterator<Item = &'c Candidate>>(
        &self,
        groups: impl ExactSizeIterator<Item = Group>,
        trace: usize,
    ) {
        self.witnesses.expect(groups, trace);
    }

    /// See [`Witnesses::witness`]. The reads of a combination see the writes that they are to see, and
    /// nothing replaces what was stolen.
    pub(crate) fn witness(&self, candidate: &Candidate) -> Result<Witness, Failure> {
        self.witness_apart(candidate, overwrite::aparts(self.trace, candidate))
    }

    /// See [`Witnesses::witness_apart`].
    pub(crate) fn witness_apart(
        &self,
        candidate: &Candidate,
        aparts: Vec<Apart>,
    ) -> Result<Witness, Failure> {
        let question = (candidate.clone(), aparts);
        let compute = || self.witnesses.witness_apart(&question.0, &question.1);
        self.answer(&self.usual, &question, compute)
    }

    /// See [`Witnesses::lively`].
    pub(crate) fn lively(&self, candidate: &Candidate) -> Option<Witness> {
        self.answer(&self.lively, candidate, || self.witnesses.lively(candidate))
    }
}
