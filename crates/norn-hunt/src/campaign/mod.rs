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
mod frontier;
mod hypotheses;
mod pool;
#[cfg(test)]
mod tests;

use std::{collections::VecDeque, ops::ControlFlow};

use norn_replay::ReplayError;
use norn_report::Ended;

use self::{
    agenda::Agenda,
    ahead::{Ahead, Round, Step, next_step},
    frontier::{Frontier, Waiting},
    pool::{Pool, with_pool},
};
pub(crate) use self::{
    ahead::Next,
    clip_store::ClipStore,
    evidence::{Evidence, Pending, Promise},
    hypotheses::{Hypotheses, Lead, Trial, Urgency},
    pool::Executor,
};
use crate::{Phase, Stage};

/// Maximum number of traces with deferred candidates.
const MOST_DEFERRED: usize = 32;
/// Maximum number of turns of the promising candidates of a trace, before other traces have theirs.
const MOST_TURNS: usize = 8;

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
            frontier: Frontier::default(),
            broken_off: false,
        };
        driver.drive(recorded)?;
        Ok(Driven { executions: driver.agenda.executions(), ended: driver.ended() })
    })
}

/// The candidates of a trace that are tried at the end; without a trace, those of the recorded run.
type Deferred<H> = (Option<<H as Hypotheses>::Pending>, <H as Hypotheses>::Queue);

/// A trace to analyse.
type NextTrace<H> = Waiting<<H as Hypotheses>::Pending, <H as Hypotheses>::Queue>;

struct Driver<'a, 'p, H: Hypotheses, E: Executor> {
    hypotheses: &'a mut H,
    pool: &'a mut Pool<'p, E>,
    agenda: Agenda,
    /// The traces that wait to be analysed.
    frontier: Frontier<H::Pending, H::Queue>,
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
        self.agenda.set_urgent(self.hypotheses.urgent());
        self.agenda.begin_round(false);
        let rest = self.round(&recorded, None)?;
        deferred.extend(rest.map(|queue| (None, queue)));
        drop(recorded);
        while !self.is_over() {
            if let Some((mut pending, begun)) = self.next_trace()? {
                let source = self.hypotheses.open(&mut pending)?;
                self.agenda.begin_round(false);
                let rest = self.round(&source, begun)?;
                let rest = rest.filter(|_| deferred.len() < MOST_DEFERRED);
                deferred.extend(rest.map(|queue| (Some(pending), queue)));
            } else if self.agenda.may_explore() {
                self.explore()?;
            } else if let Some((pending, queue)) = deferred.pop_front() {
                let source = match pending {
                    None => self.hypotheses.reopen()?,
                    Some(mut pending) => self.hypotheses.open(&mut pending)?,
                };
                self.agenda.begin_round(true);
                self.round(&source, Some(queue))?;
            } else {
                break;
            }
        }
        Ok(())
    }

    /// The next trace to analyse, with what is left of it if it was analysed before. Traces with new values
    /// only take turns with exploration: neither is known to bring more than the other.
    fn next_trace(&mut self) -> Result<Option<NextTrace<H>>, ReplayError> {
        if let Some(trace) = self.frontier.next_place() {
            return Ok(Some(trace));
        }
        let value = self.frontier.next_value();
        if value.is_some() && self.agenda.may_explore() {
            self.explore()?;
        }
        Ok(value.filter(|_| !self.is_over()).map(|it| (it, None)))
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

    /// Makes attempts on the candidates of a trace: on the given ones, or else on all that the trace
    /// allows. Returns the candidates that are deferred.
    fn round(
        &mut self,
        source: &H::Source,
        given: Option<H::Queue>,
    ) -> Result<Option<H::Queue>, ReplayError> {
        let tools = self.hypotheses.tools(source);
        let mut queue = match given {
            Some(queue) => queue,
            None => self.predict(source, &tools)?,
        };
        let trace = (source, &tools);
        while !self.is_over() {
            if let Some(pending) = self.frontier.next_promising() {
                self.take_turns(trace, &mut queue, pending)?;
            } else if self.step(trace, &mut queue)?.is_break() {
                break;
            }
        }
        Ok(self.hypotheses.finish(queue))
    }

    /// Lets promising candidates of another trace take turns with those of this round: neither of the two
    /// should delay the other one for long.
    fn take_turns(
        &mut self,
        trace: (&H::Source, &H::Tools<'_>),
        queue: &mut H::Queue,
        mut pending: H::Pending,
    ) -> Result<(), ReplayError> {
        let source = self.hypotheses.open(&mut pending)?;
        let tools = self.hypotheses.tools(&source);
        let mut promising = self.predict(&source, &tools)?;
        for _ in 0..MOST_TURNS {
            if self.is_over()
                || !self.hypotheses.is_promising(&promising)
                || self.step((&source, &tools), &mut promising)?.is_break()
                || self.is_over()
                || self.step(trace, queue)?.is_break()
            {
                break;
            }
        }
        self.frontier.put_back(pending, promising);
        Ok(())
    }

    fn predict(
        &mut self,
        source: &H::Source,
        tools: &H::Tools<'_>,
    ) -> Result<H::Queue, ReplayError> {
        self.tell(Phase::Predicting, 0);
        let queue = self.hypotheses.predict(source, tools)?;
        self.publish();
        Ok(queue)
    }

    /// Makes the next execution of a round. Breaks if the round is over.
    fn step(
        &mut self,
        (source, tools): (&H::Source, &H::Tools<'_>),
        queue: &mut H::Queue,
    ) -> Result<ControlFlow<()>, ReplayError> {
        match next_step(self.hypotheses, &mut self.agenda, queue, tools) {
            Some(Step::Explore(number)) => {
                self.explore_one(number, Some(Round { source, tools, queue: &*queue }))?;
            }
            Some(Step::Attempt(attempt)) => {
                self.attempt(Round { source, tools, queue }, attempt)?;
            }
            None => return Ok(ControlFlow::Break(())),
        }
        Ok(ControlFlow::Continue(()))
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
        let idle = self.frontier.is_idle();
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
        self.frontier.add(lead);
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
        let idle = self.frontier.is_idle();
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
        self.frontier.add(lead);
        self.publish();
        Ok(())
    }
}
