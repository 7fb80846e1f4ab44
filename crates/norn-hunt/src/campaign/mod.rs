//! A campaign: from a recorded run to bugs that the program itself confirms.
//!
//! The driver does not depend on what is searched for. It predicts candidates from a trace, makes
//! attempts one after another, explores in between, continues from runs with new coverage, and ends
//! when its budget is spent ([`agenda`]). The rest is behind [`Hypotheses`]: where attempts come
//! from, and how a run is judged.
//!
//! Every decision is made as if runs were made one after another: it depends on the results of all
//! earlier runs and on nothing else. With several workers the driver predicts which attempts come
//! next, on the assumption that no pending run confirms anything or covers anything new, and lets
//! the workers run them ahead of time ([`pool`]). Therefore the same program and options give the
//! same findings, whatever the number of runs in parallel.

mod agenda;
mod ahead;
mod clip_store;
mod coverage;
mod evidence;
mod pool;
#[cfg(test)]
mod tests;

use std::{collections::VecDeque, ops::ControlFlow};

use norn_replay::ReplayError;
use norn_report::Ended;

use self::{
    agenda::Agenda,
    ahead::{Ahead, Round, Step, next_step},
    pool::{Pool, with_pool},
};
pub(crate) use self::{
    ahead::Next,
    clip_store::ClipStore,
    evidence::{Evidence, Pending},
    pool::Executor,
};
use crate::{Phase, Stage};

/// Maximum number of waiting traces that cover nothing new but values, and of traces with deferred
/// candidates.
const MOST_WAITING: usize = 32;

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

    /// Whether the next attempt is unlikely to do harm, so that exploration may come first.
    fn promises_little(&self, _queue: &Self::Queue) -> bool {
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
    /// It reached a new place, or two of its threads reached a place that only one thread had
    /// reached.
    Place(P),
    /// It reached no new place, but read a new value. Such a run promises little, so it is analysed
    /// only when nothing else is left.
    Value(P),
}

/// The budget of a campaign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum number of executions, including those for the recorded run.
    pub(crate) budget: usize,
    /// Maximum number of explored runs.
    pub(crate) explore: usize,
    /// Number of runs in parallel.
    pub(crate) jobs: usize,
}

/// How a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Driven {
    /// Number of executions, including those that were made for the recorded run.
    pub(crate) executions: usize,
    /// Why it ended.
    pub(crate) ended: Ended,
}

/// Drives a campaign that begins with a recorded run.
pub(crate) fn drive<H, E>(
    hypotheses: &mut H,
    recorded: H::Source,
    executions: usize,
    limits: Limits,
    executor: &E,
) -> Result<Driven, ReplayError>
where
    H: Hypotheses,
    E: Executor<Plan = H::Plan, Run = H::Run>,
{
    with_pool(executor, limits.jobs, |pool| {
        let mut driver = Driver {
            hypotheses,
            pool,
            agenda: Agenda::new(limits.budget, limits.explore, executions),
            frontier: VecDeque::new(),
            waiting: VecDeque::new(),
            broken_off: false,
        };
        driver.drive(recorded)?;
        Ok(Driven { executions: driver.agenda.executions(), ended: driver.ended() })
    })
}

/// The candidates of a trace that are tried at the end; without a trace, those of the recorded run.
type Deferred<H> = (Option<<H as Hypotheses>::Pending>, <H as Hypotheses>::Queue);

struct Driver<'a, 'p, H: Hypotheses, E: Executor> {
    hypotheses: &'a mut H,
    pool: &'a mut Pool<'p, E>,
    agenda: Agenda,
    /// Traces with new places; they are analysed first.
    frontier: VecDeque<H::Pending>,
    /// Traces that cover nothing new but values.
    waiting: VecDeque<H::Pending>,
    /// Whether the listener has ended the campaign.
    broken_off: bool,
}

impl<H, E> Driver<'_, '_, H, E>
where
    H: Hypotheses,
    E: Executor<Plan = H::Plan, Run = H::Run>,
{
    fn drive(&mut self, recorded: H::Source) -> Result<(), ReplayError> {
        self.publish();
        if self.pool.stopped().is_some() {
            return Ok(());
        }
        let mut deferred: VecDeque<Deferred<H>> = VecDeque::new();
        deferred.extend(self.round(&recorded, None)?.map(|queue| (None, queue)));
        drop(recorded);
        while !self.is_over() {
            if let Some(mut pending) = self.frontier.pop_front() {
                let source = self.hypotheses.open(&mut pending)?;
                let rest = self.round(&source, None)?.filter(|_| deferred.len() < MOST_WAITING);
                deferred.extend(rest.map(|queue| (Some(pending), queue)));
            } else if self.agenda.may_explore() {
                self.explore()?;
            } else if let Some(pending) = self.waiting.pop_front() {
                self.frontier.push_back(pending);
            } else if let Some((pending, queue)) = deferred.pop_front() {
                let source = match pending {
                    None => self.hypotheses.reopen()?,
                    Some(mut pending) => self.hypotheses.open(&mut pending)?,
                };
                self.round(&source, Some(queue))?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.agenda.is_spent() || self.broken_off || self.pool.stopped().is_some()
    }

    fn ended(&self) -> Ended {
        match self.pool.stopped() {
            Some(why) => why,
            None if self.broken_off => Ended::First,
            None if self.agenda.is_spent() => Ended::Budget,
            None => Ended::Complete,
        }
    }

    fn tell(&mut self, phase: Phase, left: usize) {
        let (executions, confirmed) = (self.agenda.executions(), self.hypotheses.confirmed());
        let stage = Stage { phase, executions, left, confirmed };
        self.broken_off |= self.hypotheses.tell(stage).is_break();
    }

    fn publish(&mut self) {
        self.broken_off |= self.hypotheses.publish(self.agenda.executions()).is_break();
    }

    /// Makes attempts on the candidates of a trace: on the deferred ones if given, otherwise on all
    /// that the trace allows. Returns the candidates that are deferred.
    fn round(
        &mut self,
        source: &H::Source,
        deferred: Option<H::Queue>,
    ) -> Result<Option<H::Queue>, ReplayError> {
        let tools = self.hypotheses.tools(source);
        self.agenda.begin_round(deferred.is_some());
        let mut queue = if let Some(queue) = deferred {
            queue
        } else {
            self.tell(Phase::Predicting, 0);
            let queue = self.hypotheses.predict(source, &tools)?;
            self.publish();
            queue
        };
        while !self.is_over() {
            let step = next_step(self.hypotheses, &mut self.agenda, &mut queue, &tools);
            match step {
                Some(Step::Explore(number)) => {
                    let round = Round { source, tools: &tools, queue: &queue };
                    self.explore_one(number, Some(round))?;
                }
                Some(Step::Attempt(attempt)) => {
                    self.attempt(Round { source, tools: &tools, queue: &mut queue }, attempt)?;
                }
                None => break,
            }
        }
        Ok(self.hypotheses.finish(queue))
    }

    fn attempt(
        &mut self,
        round: Round<'_, '_, H, &mut H::Queue>,
        attempt: H::Attempt,
    ) -> Result<(), ReplayError> {
        let Round { source, tools, queue } = round;
        let left = self.hypotheses.left(queue) + 1;
        self.tell(Phase::Trying, left);
        let plan = self.hypotheses.plan(source, &attempt);
        let (hypotheses, mut agenda) = (&*self.hypotheses, self.agenda);
        let is_ahead = hypotheses.is_ahead(&attempt);
        agenda.count_attempt(is_ahead);
        let idle = self.frontier.is_empty();
        let run = self.pool.run(&plan, || {
            let mut queue = queue.clone();
            hypotheses.assume_unconfirmed(&mut queue, &attempt);
            Ahead::new(hypotheses, agenda, Some(Round { source, tools, queue }), idle)
        })?;
        // An interrupt cuts runs short, so their results prove nothing.
        if self.pool.stopped().is_some() {
            return Ok(());
        }
        self.agenda.count_attempt(is_ahead);
        let executions = self.agenda.executions();
        let trial = Trial { source, tools, attempt, run, executions };
        let lead = self.hypotheses.judge(queue, trial)?;
        self.agenda.set_urgent(self.hypotheses.urgent());
        self.follow(lead);
        self.publish();
        Ok(())
    }

    /// Explores outside of a round.
    fn explore(&mut self) -> Result<(), ReplayError> {
        self.agenda.begin_batch();
        while let Some(number) = self.agenda.exploration().filter(|_| !self.is_over()) {
            self.explore_one(number, None)?;
        }
        Ok(())
    }

    fn explore_one(
        &mut self,
        number: usize,
        round: Option<Round<'_, '_, H, &H::Queue>>,
    ) -> Result<(), ReplayError> {
        let left = round.as_ref().map_or(0, |it| self.hypotheses.left(it.queue));
        self.tell(Phase::Exploring, left);
        let plan = self.hypotheses.exploration(number);
        let (hypotheses, mut agenda) = (&*self.hypotheses, self.agenda);
        agenda.count_exploration();
        let idle = self.frontier.is_empty();
        let run = self.pool.run(&plan, || {
            let round = round.map(|it| Round {
                source: it.source,
                tools: it.tools,
                queue: it.queue.clone(),
            });
            Ahead::new(hypotheses, agenda, round, idle)
        })?;
        if self.pool.stopped().is_some() {
            return Ok(());
        }
        self.agenda.count_exploration();
        let executions = self.agenda.executions();
        let lead = self.hypotheses.explored(run, executions)?;
        self.agenda.set_urgent(self.hypotheses.urgent());
        if lead.is_some() {
            self.agenda.note_new();
        }
        self.follow(lead);
        self.publish();
        Ok(())
    }

    /// Queues a run with new coverage for analysis.
    fn follow(&mut self, lead: Option<Lead<H::Pending>>) {
        match lead {
            Some(Lead::Place(pending)) => self.frontier.push_back(pending),
            Some(Lead::Value(pending)) if self.waiting.len() < MOST_WAITING => {
                self.waiting.push_back(pending);
            }
            Some(Lead::Value(_)) | None => {}
        }
    }
}
