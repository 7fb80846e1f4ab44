//! Tests of the driver with an executor that runs nothing: the result of a run is a function of its
//! plan, and its duration is arbitrary.

mod executor;

use std::{collections::VecDeque, ops::ControlFlow, thread, time::Duration};

use norn_frontend::Cancel;
use norn_replay::ReplayError;
use norn_report::Ended;
use proptest::prelude::*;

use super::{Driven, Executor, Hypotheses, Lead, Limits, Next, Trial, drive};
use crate::Stage;

/// What happens in a campaign: everything is derived from a seed.
#[derive(Clone, Copy, Debug)]
struct Script {
    seed: u64,
    /// Number of candidates in each trace.
    candidates: usize,
    /// One in this many attempts confirms something.
    confirms: u64,
    /// One in this many runs covers something new.
    leads: u64,
    /// The candidate before which the search for schedules takes long.
    slow: Option<usize>,
}

/// A pseudo-random number that depends only on its arguments.
fn draw(seed: u64, plan: Plan, salt: u64) -> u64 {
    let (kind, a, b) = match plan {
        Plan::Try { source, candidate, instance } => (1, source * 1000 + candidate, instance),
        Plan::Explore(number) => (2, number, 0),
    };
    let mut state = seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for part in [kind, a as u64, b as u64] {
        state = (state ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= state >> 29;
    }
    state >> 8
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Try { source: usize, candidate: usize, instance: usize },
    Explore(usize),
}

/// Hypotheses that follow a script and log what they observe.
struct Scripted {
    script: Script,
    /// Number of traces that were opened, without the recorded one.
    opened: usize,
    transcript: Vec<String>,
    confirmed: usize,
    /// The listener ends the campaign when this many are confirmed.
    stop_at: Option<usize>,
}

#[derive(Clone, Default)]
struct Queue {
    source: usize,
    left: VecDeque<(usize, usize)>,
    /// Whether the search has paused before the slow candidate.
    paused: bool,
}

/// Number of instances of each candidate.
const INSTANCES: usize = 3;
/// Number of candidates of each trace that promise something.
const PROMISING: usize = 3;

impl Scripted {
    fn new(script: Script) -> Scripted {
        let (transcript, stop_at) = (Vec::new(), None);
        Scripted { script, opened: 0, transcript, confirmed: 0, stop_at }
    }

    fn lead(&self, plan: Plan) -> Option<Lead<usize>> {
        let drawn = draw(self.script.seed, plan, 2);
        (drawn.is_multiple_of(self.script.leads) && self.opened < 5).then(|| {
            match drawn / self.script.leads % 3 {
                0 => Lead::Promising(0),
                1 => Lead::Place(0),
                _ => Lead::Value(0),
            }
        })
    }
}

impl Hypotheses for Scripted {
    type Plan = Plan;
    type Run = Plan;
    type Source = usize;
    type Pending = usize;
    type Tools<'t> = ();
    type Queue = Queue;
    type Attempt = Plan;

    fn tools<'t>(&self, _: &'t usize)
    where
        Self: 't,
    {
    }

    fn predict(&mut self, source: &usize, (): &()) -> Result<Queue, ReplayError> {
        self.transcript.push(format!("predict {source}"));
        let left = (0..self.script.candidates).map(|it| (it, 0)).collect();
        Ok(Queue { source: *source, left, paused: false })
    }

    fn left(&self, queue: &Queue) -> usize {
        queue.left.len()
    }

    fn next(&self, queue: &mut Queue, (): &()) -> Next<Plan> {
        let is_slow = |it: &(usize, usize)| Some(it.0) == self.script.slow;
        if queue.left.front().is_some_and(is_slow) && !queue.paused {
            queue.paused = true;
            return Next::Paused;
        }
        let source = queue.source;
        let next = queue.left.pop_front();
        next.map(|(candidate, instance)| Plan::Try { source, candidate, instance }).into()
    }

    fn is_promising(&self, queue: &Queue) -> bool {
        queue.left.front().is_some_and(|it| it.0 < PROMISING && it.1 == 0)
    }

    fn assume_unconfirmed(&self, queue: &mut Queue, attempt: &Plan) {
        if let Plan::Try { candidate, instance, .. } = *attempt
            && instance + 1 < INSTANCES
        {
            queue.left.push_back((candidate, instance + 1));
        }
    }

    fn plan(&self, _: &usize, attempt: &Plan) -> Plan {
        *attempt
    }

    fn exploration(&self, number: usize) -> Plan {
        Plan::Explore(number)
    }

    fn judge(
        &mut self,
        queue: &mut Queue,
        trial: Trial<'_, '_, Self>,
    ) -> Result<Option<Lead<usize>>, ReplayError> {
        assert_eq!(trial.attempt, trial.run, "the result is that of the plan");
        let confirmed = draw(self.script.seed, trial.run, 1).is_multiple_of(self.script.confirms);
        if confirmed {
            self.confirmed += 1;
            // A confirmed candidate changes what is tried next.
            queue.left.pop_back();
        } else {
            self.assume_unconfirmed(queue, &trial.attempt);
        }
        let (run, executions) = (trial.run, trial.executions);
        self.transcript.push(format!("{executions}: {run:?} {confirmed}"));
        Ok(self.lead(run))
    }

    fn explored(
        &mut self,
        run: Plan,
        executions: usize,
    ) -> Result<Option<Lead<usize>>, ReplayError> {
        self.transcript.push(format!("{executions}: {run:?}"));
        Ok(self.lead(run))
    }

    fn finish(&mut self, queue: Queue) -> Option<Queue> {
        self.transcript.push(format!("finish with {} left", queue.left.len()));
        Some(queue).filter(|it| !it.left.is_empty())
    }

    fn open(&mut self, pending: &mut usize) -> Result<usize, ReplayError> {
        if *pending == 0 {
            self.opened += 1;
            *pending = self.opened;
        }
        Ok(*pending)
    }

    fn reopen(&mut self) -> Result<usize, ReplayError> {
        self.transcript.push("reopen".to_owned());
        Ok(0)
    }

    fn confirmed(&self) -> usize {
        self.confirmed
    }

    fn tell(&self, _: Stage) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn publish(&self, _: usize) -> ControlFlow<()> {
        match self.stop_at {
            Some(most) if self.confirmed >= most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Runs nothing, but takes some time.
struct Sleeper {
    /// Maximum duration of a run, in microseconds.
    longest: u64,
    seed: u64,
}

impl Executor for Sleeper {
    type Plan = Plan;
    type Run = Plan;

    fn run(&self, plan: &Plan, _: &Cancel) -> Result<Plan, ReplayError> {
        if self.longest > 0 {
            thread::sleep(Duration::from_micros(draw(self.seed, *plan, 3) % self.longest));
        }
        Ok(*plan)
    }

    fn stopped(&self) -> Option<Ended> {
        None
    }
}

/// The log of a campaign.
fn transcript<E: Executor<Plan = Plan, Run = Plan>>(
    script: Script,
    limits: Limits,
    executor: &E,
) -> (usize, Vec<String>) {
    let mut scripted = Scripted::new(script);
    let driven = drive(&mut scripted, 0, 1, limits, executor).unwrap();
    (driven.executions, scripted.transcript)
}

const QUICK: Sleeper = Sleeper { longest: 0, seed: 0 };
/// Nothing is confirmed and nothing is new.
const DULL: Script =
    Script { seed: 7, candidates: 20, confirms: u64::MAX, leads: u64::MAX, slow: None };

fn attempts(transcript: &[String]) -> Vec<&str> {
    transcript.iter().filter(|it| it.contains("Try")).map(String::as_str).collect()
}

#[test]
fn the_budget_binds() {
    for jobs in [1, 2, 8] {
        for budget in [1, 2, 9, 30] {
            let limits = Limits { budget, explore: 0, jobs };
            let (executions, transcript) = transcript(DULL, limits, &QUICK);
            assert_eq!(executions, budget);
            assert_eq!(attempts(&transcript).len(), budget - 1);
        }
    }
}

#[test]
fn some_executions_are_reserved_for_exploration() {
    let limits = Limits { budget: 20, explore: 10, jobs: 2 };
    let (executions, transcript) = transcript(DULL, limits, &QUICK);
    let explored = transcript.iter().filter(|it| it.contains("Explore")).count();
    assert_eq!((executions, explored), (20, 10));
}

#[test]
fn exploration_gets_fewer_turns_while_it_brings_nothing() {
    let limits = Limits { budget: 60, explore: 60, jobs: 8 };
    let (_, transcript) = transcript(DULL, limits, &QUICK);
    let kinds = transcript.iter().filter(|it| it.contains(':'));
    let kinds: String = kinds.map(|it| if it.contains("Try") { 't' } else { 'e' }).collect();
    assert!(kinds.starts_with("ttttettttttttetttttttte"), "{kinds}");
}

#[test]
fn exploration_comes_first_while_the_search_for_schedules_takes_long() {
    let kinds = |explore, jobs| {
        let limits = Limits { budget: 10, explore, jobs };
        let (_, transcript) = transcript(Script { slow: Some(2), ..DULL }, limits, &QUICK);
        let kinds = transcript.iter().filter(|it| it.contains(':'));
        kinds.map(|it| if it.contains("Try") { 't' } else { 'e' }).collect::<String>()
    };
    for jobs in [1, 8] {
        assert_eq!(kinds(1, jobs), "ttetttttt");
        // With nothing to explore, the search goes on.
        assert_eq!(kinds(0, jobs), "ttttttttt");
    }
}

#[test]
fn promising_candidates_take_turns_with_the_round() {
    let seeds = (0..1000).map(|seed| Script { seed, leads: 12, ..DULL });
    let is_first = |it: &Script| {
        let attempt = |candidate| Plan::Try { source: 0, candidate, instance: 0 };
        let lead = |plan| Scripted::new(*it).lead(plan);
        lead(attempt(0)) == Some(Lead::Promising(0))
            && (1..4).all(|it| lead(attempt(it)).is_none())
            && (0..PROMISING)
                .all(|candidate| lead(Plan::Try { source: 1, candidate, instance: 0 }).is_none())
    };
    let script = seeds.into_iter().find(is_first).unwrap();
    let (_, transcript) = transcript(script, Limits { budget: 9, explore: 0, jobs: 2 }, &QUICK);
    let sources = attempts(&transcript);
    let sources: Vec<_> = sources.iter().map(|it| it.contains("source: 1")).collect();
    assert_eq!(sources, [false, true, false, true, false, true, false, false], "{transcript:?}");
}

#[test]
fn deferred_candidates_come_last() {
    let limits = Limits { budget: 100, explore: 4, jobs: 2 };
    let (executions, transcript) = transcript(DULL, limits, &QUICK);
    // 24 executions for the trace, the rest of its 60 attempts at the end.
    assert_eq!(executions, 1 + 60 + 4);
    let reopened = transcript.iter().position(|it| it == "reopen").unwrap();
    assert_eq!(attempts(&transcript[..reopened]).len(), 21);
    assert_eq!(attempts(&transcript[reopened..]).len(), 39);
}

#[test]
fn the_campaign_says_why_it_ended() {
    let ended = |script, limits, stop_at| {
        let mut scripted = Scripted { stop_at, ..Scripted::new(script) };
        let driven = drive(&mut scripted, 0, 1, limits, &QUICK).unwrap();
        (driven, scripted.confirmed)
    };
    let all = Limits { budget: 1000, explore: 4, jobs: 2 };
    assert_eq!(ended(DULL, all, None).0.ended, Ended::Complete);
    let few = Limits { budget: 9, ..all };
    let spent = Driven { executions: 9, ended: Ended::Budget };
    assert_eq!(ended(DULL, few, None), (spent, 0));
    let script = Script { confirms: 3, ..DULL };
    let (first, confirmed) = ended(script, all, Some(1));
    assert_eq!((first.ended, confirmed), (Ended::First, 1));
    for jobs in [1, 8] {
        assert_eq!(ended(script, Limits { jobs, ..all }, Some(1)).0, first);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_number_of_jobs_has_no_influence(
        seed in any::<u64>(),
        times in any::<u64>(),
        candidates in 0_usize..12,
        confirms in 1_u64..8,
        leads in 1_u64..12,
        slow in prop::option::of(0_usize..12),
        budget in 1_usize..80,
        explore in 0_usize..30,
    ) {
        let script = Script { seed, candidates, confirms, leads, slow };
        let of = |jobs, longest| {
            let executor = Sleeper { longest, seed: times };
            transcript(script, Limits { budget, explore, jobs }, &executor)
        };
        let one = of(1, 0);
        prop_assert!(one.0 <= budget.max(1));
        for jobs in [2, 8] {
            prop_assert_eq!(&one, &of(jobs, 400));
        }
    }
}
