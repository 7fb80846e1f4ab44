//! What a campaign asks of its user: where attempts come from, and how runs are judged.

use std::ops::ControlFlow;

use norn_replay::ReplayError;

use super::Next;
use crate::Stage;

/// Where attempts come from, and how runs are judged.
pub(crate) trait Hypotheses {
    /// Specifies a run.
    type Plan: Clone + PartialEq + Send;
    /// The result of a run.
    type Run: Send;
    /// A trace to predict from.
    type Source;
    /// A trace that waits to be analysed.
    type Pending;
    /// The tools that decide about the candidates of one trace.
    type Tools<'a>
    where
        Self: 'a;
    /// The candidates of one trace that are left to try. It is copied to look ahead.
    type Queue: Clone;
    /// One candidate with its schedule.
    type Attempt;

    /// Prepares the analysis of a trace.
    fn tools<'a>(&self, source: &'a Self::Source) -> Self::Tools<'a>
    where
        Self: 'a;

    /// The candidates that a trace allows.
    fn predict(
        &mut self,
        source: &Self::Source,
        tools: &Self::Tools<'_>,
    ) -> Result<Self::Queue, ReplayError>;

    /// Number of candidates that are left.
    fn left(&self, queue: &Self::Queue) -> usize;

    /// The next attempt.
    fn next(&self, queue: &mut Self::Queue, tools: &Self::Tools<'_>) -> Next<Self::Attempt>;

    /// How the next attempt compares with runs that explore.
    fn urgency(&self, _queue: &Self::Queue) -> Urgency {
        Urgency::Usual
    }

    /// Whether the next attempt is on a candidate that no earlier trace allowed and that should not wait.
    fn is_promising(&self, _queue: &Self::Queue) -> bool {
        false
    }

    /// Whether an attempt comes ahead of its usual turn, because it can lead to a visible failure.
    fn is_ahead(&self, _attempt: &Self::Attempt) -> bool {
        false
    }

    /// Number of explored runs that should not wait for attempts.
    fn urgent(&self) -> usize {
        0
    }

    /// Updates the queue as if the attempt had confirmed nothing.
    fn assume_unconfirmed(&self, queue: &mut Self::Queue, attempt: &Self::Attempt);

    /// The plan of an attempt.
    fn plan(&self, source: &Self::Source, attempt: &Self::Attempt) -> Self::Plan;

    /// The plan of an explored run.
    fn exploration(&self, number: usize) -> Self::Plan;

    /// Judges the result of an attempt, given the number of executions so far. Returns the run if
    /// it covers something new.
    fn judge(
        &mut self,
        queue: &mut Self::Queue,
        trial: Trial<'_, '_, Self>,
    ) -> Result<Option<Lead<Self::Pending>>, ReplayError>
    where
        Self: Sized;

    /// Judges an explored run, given the number of executions so far. Returns the run if it covers
    /// something new.
    fn explored(
        &mut self,
        run: Self::Run,
        executions: usize,
    ) -> Result<Option<Lead<Self::Pending>>, ReplayError>;

    /// Ends the round of a trace. Returns the candidates to try when nothing else is left.
    fn finish(&mut self, queue: Self::Queue) -> Option<Self::Queue>;

    /// Opens a waiting trace, which may be opened again later.
    fn open(&mut self, pending: &mut Self::Pending) -> Result<Self::Source, ReplayError>;

    /// Opens the trace of the recorded run again.
    fn reopen(&mut self) -> Result<Self::Source, ReplayError>;

    /// Number of confirmed findings so far.
    fn confirmed(&self) -> usize;

    /// Reports how far the campaign has come.
    fn tell(&self, stage: Stage) -> ControlFlow<()>;

    /// Reports what is known after some executions.
    fn publish(&self, executions: usize) -> ControlFlow<()>;
}

/// How the next attempt compares with runs that explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// It is unlikely to do harm: it takes turns with exploration.
    Low,
    /// Explored runs that continue from what was just reached come first.
    Usual,
    /// It probably does harm: these runs wait for it, too.
    High,
}

/// An attempt that was made, with its result.
pub(crate) struct Trial<'a, 't, H: Hypotheses + 't> {
    pub(crate) source: &'a H::Source,
    pub(crate) tools: &'a H::Tools<'t>,
    pub(crate) attempt: H::Attempt,
    pub(crate) run: H::Run,
    /// Number of executions, this one included.
    pub(crate) executions: usize,
}

/// A run with new coverage, from which more can be predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead<P> {
    /// It executed code that no run had executed, or took another path to a candidate that can lead to a
    /// failure. What it allows is tried soon.
    Promising(P),
    /// Two of its threads reached a place that only one thread had reached.
    Place(P),
    /// It reached no new place, but read a new value or showed a new reads-from pair. Such a run promises
    /// little, so it takes turns with exploration when nothing else is left.
    Value(P),
}
