//! A campaign: from a recorded run to bugs that the program itself confirms.
//!
//! The driver is the same whatever is looked for. It predicts from a trace, makes attempts one
//! after another, explores in between, goes on from runs that did something new, and ends when its
//! budget is spent ([`agenda`]). What differs is behind [`Hypotheses`]: where attempts come from, and
//! how a run is judged.
//!
//! Every decision is made as if runs were made one after another: it sees the results of all earlier
//! ones and nothing else. With several workers the driver predicts which attempts come next, on the
//! assumption that none of those under way confirms anything or does anything new, and lets them
//! run ahead ([`pool`]). So the same program and options give the same findings, however many runs go
//! on at once.

mod agenda;
mod ahead;
mod clip_store;
mod coverage;
mod evidence;
mod pool;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use norn_replay::ReplayError;

use self::{
    agenda::Agenda,
    ahead::{Ahead, Round, Step, next_step},
    pool::{Pool, with_pool},
};
pub(crate) use self::{
    clip_store::ClipStore,
    evidence::{Evidence, Pending},
    pool::Executor,
};

/// Traces with new values that wait to be predicted from.
const MOST_WAITING: usize = 32;

/// Where attempts come from, and how runs are judged.
pub(crate) trait Hypotheses {
    /// Which run to make.
    type Plan: Clone + PartialEq + Send;
    /// What came of a run.
    type Run: Send;
    /// A trace to predict from.
    type Source;
    /// A trace that waits to be predicted from.
    type Pending;
    /// What decides about the candidates of one trace.
    type Tools<'a>
    where
        Self: 'a;
    /// What is left to try of one trace. It is copied to look ahead.
    type Queue: Clone;
    /// One candidate with a schedule.
    type Attempt;

    /// What is needed to predict from a trace.
    fn tools<'a>(&self, source: &'a Self::Source) -> Self::Tools<'a>
    where
        Self: 'a;

    /// What a trace allows.
    fn predict(
        &mut self,
        source: &Self::Source,
        tools: &Self::Tools<'_>,
    ) -> Result<Self::Queue, ReplayError>;

    /// Candidates that are left.
    fn left(&self, queue: &Self::Queue) -> usize;

    /// What to try next.
    fn next(&self, queue: &mut Self::Queue, tools: &Self::Tools<'_>) -> Option<Self::Attempt>;

    /// What is left if an attempt confirms nothing.
    fn assume_unconfirmed(&self, queue: &mut Self::Queue, attempt: &Self::Attempt);

    /// The plan of an attempt.
    fn plan(&self, source: &Self::Source, attempt: &Self::Attempt) -> Self::Plan;

    /// The plan of a run that is explored.
    fn exploration(&self, number: usize) -> Self::Plan;

    /// Learns what came of an attempt, with so many executions; returns the run if it did something
    /// new.
    fn judge(
        &mut self,
        queue: &mut Self::Queue,
        trial: Trial<'_, '_, Self>,
    ) -> Result<Option<Lead<Self::Pending>>, ReplayError>
    where
        Self: Sized;

    /// The same for a run that was explored.
    fn explored(
        &mut self,
        run: Self::Run,
        executions: usize,
    ) -> Result<Option<Lead<Self::Pending>>, ReplayError>;

    /// Ends with a trace; returns what is to be tried when nothing else is left.
    fn finish(&mut self, queue: Self::Queue) -> Option<Self::Queue>;

    /// Opens a trace that was waiting.
    fn open(&mut self, pending: Self::Pending) -> Result<Self::Source, ReplayError>;

    /// Opens the trace again whose candidates were deferred: that of the recorded run.
    fn reopen(&mut self) -> Result<Self::Source, ReplayError>;

    /// What was confirmed so far.
    fn confirmed(&self) -> usize;
}

/// An attempt that was made.
pub(crate) struct Trial<'a, 't, H: Hypotheses + 't> {
    pub(crate) source: &'a H::Source,
    pub(crate) tools: &'a H::Tools<'t>,
    pub(crate) attempt: H::Attempt,
    pub(crate) run: H::Run,
    /// Executions, this one included.
    pub(crate) executions: usize,
}

/// A run that did something new, and can be predicted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lead<P> {
    /// It came to a new place, or two of its threads did where only one had been.
    Place(P),
    /// It came nowhere new, but read something new. It has little to offer, so it is predicted from
    /// when nothing else is left.
    Value(P),
}

/// What a campaign may spend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Executions at most, those for the recorded run included.
    pub(crate) budget: usize,
    /// Explored runs at most.
    pub(crate) explore: usize,
    /// Runs at the same time.
    pub(crate) jobs: usize,
}

/// Where a campaign is.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// It runs the program for the first time.
    Recording,
    /// It looks for candidates.
    Predicting,
    /// It runs the program without a prediction.
    Exploring {
        /// Executions so far.
        executions: usize,
    },
    /// It makes attempts.
    Trying {
        /// Executions so far.
        executions: usize,
        /// Candidates that are still to be tried in this round.
        left: usize,
        /// Confirmed findings.
        confirmed: usize,
    },
}

/// Drives a campaign that begins with a recorded run; returns how many executions there were, of
/// which some were for that run.
pub(crate) fn drive<H, E>(
    hypotheses: &mut H,
    recorded: H::Source,
    executions: usize,
    limits: Limits,
    (executor, tell): (&E, &dyn Fn(Stage)),
) -> Result<usize, ReplayError>
where
    H: Hypotheses,
    E: Executor<Plan = H::Plan, Run = H::Run>,
{
    with_pool(executor, limits.jobs, |pool| {
        let mut driver = Driver {
            hypotheses,
            pool,
            tell,
            agenda: Agenda::new(limits.budget, limits.explore, executions),
            frontier: VecDeque::new(),
            waiting: VecDeque::new(),
        };
        driver.drive(recorded)?;
        Ok(driver.agenda.executions())
    })
}

struct Driver<'a, 'p, H: Hypotheses, E: Executor> {
    hypotheses: &'a mut H,
    pool: &'a mut Pool<'p, E>,
    tell: &'a dyn Fn(Stage),
    agenda: Agenda,
    /// Traces with new places, to be predicted from next.
    frontier: VecDeque<H::Pending>,
    /// Traces with new values.
    waiting: VecDeque<H::Pending>,
}

impl<H, E> Driver<'_, '_, H, E>
where
    H: Hypotheses,
    E: Executor<Plan = H::Plan, Run = H::Run>,
{
    fn drive(&mut self, recorded: H::Source) -> Result<(), ReplayError> {
        let mut deferred = self.round(&recorded, None)?;
        drop(recorded);
        while !self.is_over() {
            if let Some(pending) = self.frontier.pop_front() {
                let source = self.hypotheses.open(pending)?;
                self.round(&source, None)?;
            } else if self.agenda.may_explore() {
                self.explore()?;
            } else if let Some(pending) = self.waiting.pop_front() {
                self.frontier.push_back(pending);
            } else if let Some(queue) = deferred.take() {
                let source = self.hypotheses.reopen()?;
                self.round(&source, Some(queue))?;
            } else {
                break;
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.agenda.is_spent() || self.pool.is_interrupted()
    }

    /// Makes attempts on candidates of a trace: on those that were deferred, or else on all that it
    /// allows. Returns what is deferred.
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
            (self.tell)(Stage::Predicting);
            self.hypotheses.predict(source, &tools)?
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
        let (executions, confirmed) = (self.agenda.executions(), self.hypotheses.confirmed());
        (self.tell)(Stage::Trying { executions, left, confirmed });
        let plan = self.hypotheses.plan(source, &attempt);
        let (hypotheses, mut agenda) = (&*self.hypotheses, self.agenda);
        agenda.count_attempt();
        let idle = self.frontier.is_empty();
        let run = self.pool.run(&plan, || {
            let mut queue = queue.clone();
            hypotheses.assume_unconfirmed(&mut queue, &attempt);
            Ahead::new(hypotheses, agenda, Some(Round { source, tools, queue }), idle)
        })?;
        // Who asks to end cuts runs short: what they did then proves nothing.
        if self.pool.is_interrupted() {
            return Ok(());
        }
        self.agenda.count_attempt();
        let executions = self.agenda.executions();
        let trial = Trial { source, tools, attempt, run, executions };
        let lead = self.hypotheses.judge(queue, trial)?;
        self.follow(lead);
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
        if self.pool.is_interrupted() {
            return Ok(());
        }
        self.agenda.count_exploration();
        let executions = self.agenda.executions();
        let lead = self.hypotheses.explored(run, executions)?;
        self.follow(lead);
        (self.tell)(Stage::Exploring { executions });
        Ok(())
    }

    /// Keeps a run that did something new.
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
