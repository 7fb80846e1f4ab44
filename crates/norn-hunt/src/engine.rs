//! Schedules for the candidates of one trace, each computed once: a campaign that looks ahead
//! requests them before it knows whether it needs them, and again when it does.

use std::{cell::RefCell, collections::BTreeMap};

use norn_model::{Apart, Candidate, Trace};
use norn_witness::{Failure, Witness, WitnessOptions, Witnesses};

/// A candidate, and the events that must stay apart from it.
type Question = (Candidate, Vec<Apart>);

/// Computes schedules and caches them.
#[derive(Debug)]
pub(crate) struct CachedWitnesses<'a> {
    pub(crate) trace: &'a Trace,
    witnesses: Witnesses<'a>,
    usual: RefCell<BTreeMap<Question, Result<Witness, Failure>>>,
    lively: RefCell<BTreeMap<Candidate, Option<Witness>>>,
}

impl<'a> CachedWitnesses<'a> {
    pub(crate) fn new(trace: &'a Trace, options: impl Into<WitnessOptions>) -> Self {
        CachedWitnesses {
            trace,
            witnesses: Witnesses::with(trace, options),
            usual: RefCell::default(),
            lively: RefCell::default(),
        }
    }

    /// See [`Witnesses::expect`].
    pub(crate) fn expect<'c, Group: IntoIterator<Item = &'c Candidate>>(
        &self,
        groups: impl ExactSizeIterator<Item = Group>,
        trace: usize,
    ) {
        self.witnesses.expect(groups, trace);
    }

    /// See [`Witnesses::witness`].
    pub(crate) fn witness(&self, candidate: &Candidate) -> Result<Witness, Failure> {
        self.witness_apart(candidate, Vec::new())
    }

    /// See [`Witnesses::witness_apart`].
    pub(crate) fn witness_apart(
        &self,
        candidate: &Candidate,
        aparts: Vec<Apart>,
    ) -> Result<Witness, Failure> {
        let key = (candidate.clone(), aparts);
        if let Some(known) = self.usual.borrow().get(&key) {
            return known.clone();
        }
        let made = self.witnesses.witness_apart(&key.0, &key.1);
        self.usual.borrow_mut().insert(key, made.clone());
        made
    }

    /// See [`Witnesses::lively`].
    pub(crate) fn lively(&self, candidate: &Candidate) -> Option<Witness> {
        if let Some(known) = self.lively.borrow().get(candidate) {
            return known.clone();
        }
        let made = self.witnesses.lively(candidate);
        self.lively.borrow_mut().insert(candidate.clone(), made.clone());
        made
    }
}
