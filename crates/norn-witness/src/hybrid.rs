//! Schedules in linear time, by moving few events of the recorded run.
//!
//! After Huang and Zhang (*Persuasive prediction of concurrency access anomalies*, ISSTA 2011): the
//! run goes as it was recorded, but each thread of the candidate is held back before the outermost
//! lock that protects its first event, and with it all that depends on it. Then these threads
//! come to their events one after another. Holding back at the lock and not at the event is what
//! keeps locks whole.
//!
//! Where we differ: patterns may have any length and any number of threads. Whatever a thread
//! needs to go on (a lock that another one holds, a signal, the end of a thread) is brought about
//! on demand, as long as that does not touch an event of the candidate before its time. The order
//! in which threads come to their events matters if they take each other's locks on the way, so
//! several orders are proposed. Beside the schedule that holds back at locks, there is one that
//! holds back at the events themselves, which keeps more of what others read; one that has
//! nothing but what is needed; and some that hold back one or two critical sections earlier.

use norn_model::{Candidate, EventId, Step, Trace};

use crate::{
    Engine, Infeasible, Turn,
    engine::Proposals,
    impasse::Impasse,
    script::{At, Script},
    stage::Stage,
};

/// Moves few events of the recorded run.
#[derive(Debug)]
pub struct Hybrid<'a> {
    trace: &'a Trace,
    pub(crate) script: Script,
}

impl<'a> Hybrid<'a> {
    /// Learns what threads do to each other.
    pub fn new(trace: &'a Trace) -> Self {
        Hybrid { trace, script: Script::new(trace) }
    }

    fn place(&self, id: EventId) -> Result<At, Infeasible> {
        let thread = self.trace.threads.binary_search_by_key(&id.thread, |it| it.id).ok();
        let thread = thread.and_then(|it| u32::try_from(it).ok());
        let place = thread.zip(u32::try_from(id.index).ok());
        let exists = |it: &At| it.1 < self.script.parts[it.0 as usize].len;
        place.filter(exists).ok_or(Infeasible::NoEvent(id))
    }

    fn id(&self, at: At) -> EventId {
        EventId { thread: self.trace.threads[at.0 as usize].id, index: at.1.into() }
    }

    /// One schedule: threads come to their first events in a given order.
    fn propose(&self, steps: &[At], plan: &Plan) -> Result<Vec<Turn>, Trouble> {
        let mut stage = Stage::new(&self.script, steps);
        self.go_along(&mut stage, plan.along, steps);
        for thread in &plan.threads {
            let first = steps.iter().find(|it| it.0 == *thread).map_or(0, |it| it.1);
            stage.approach(*thread, first)?;
        }
        for (at, step) in steps.iter().enumerate() {
            stage.pass(*step)?;
            let next = steps[at + 1..].iter().find(|it| it.0 == step.0);
            if let Some(next) = next.filter(|_| plan.eager) {
                stage.advance(next.0, next.1)?;
            }
            if plan.leaves && next.is_none() && at + 1 < steps.len() {
                stage.advance(step.0, self.script.left(*step))?;
            }
        }
        Ok(self.turns(&stage.turns))
    }

    /// Lets the run go as it was recorded, until the candidate's threads are held back.
    pub(crate) fn go_along(&self, stage: &mut Stage<'_>, along: Along, steps: &[At]) {
        match along {
            Along::ToCommon => stage.run(|at| self.script.common(at, steps)),
            Along::ToLock => stage.run(|at| self.script.outermost(at)),
            Along::ToEarlier(sections) => stage.run(|at| self.script.earlier(at, sections)),
            Along::ToEvent => stage.run(|at| at.1),
            Along::Nothing => {}
        }
    }

    pub(crate) fn turns(&self, turns: &[At]) -> Vec<Turn> {
        let turn =
            |it: &At| Turn { thread: self.trace.threads[it.0 as usize].id, until: it.1.into() };
        turns.iter().map(turn).collect()
    }

    pub(crate) fn explain(&self, trouble: Trouble) -> Infeasible {
        match trouble {
            Trouble::TooLate(event, needed) => {
                Infeasible::TooLate { event: self.id(event), needed: self.id(needed) }
            }
            Trouble::Never(event) => Infeasible::Never(self.id(event)),
            Trouble::Cycle(event) => Infeasible::Cycle(self.id(event)),
        }
    }
}

/// Why a schedule does not work, in numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    TooLate(At, At),
    Never(At),
    Cycle(At),
}

/// How far to go along with the recorded run.
#[derive(Clone, Copy)]
pub(crate) enum Along {
    /// Until a thread comes to the first lock around its first event that the others want, too. So
    /// it has decided as much as it can when it is held back.
    ToCommon,
    /// Until a thread comes to the outermost lock around its first event.
    ToLock,
    /// Until a thread comes to its first event, with the locks that it then holds. What it has
    /// written on its way there others may need to see.
    ToEvent,
    /// Until a thread comes to a critical section before that one, counted backwards: what it does
    /// there may be what others must not see.
    ToEarlier(usize),
    /// Nothing but what is needed happens.
    Nothing,
}

/// One way to try.
struct Plan {
    along: Along,
    /// Whether a thread goes on to its next event at once, and not only when it is due.
    eager: bool,
    /// Whether a thread gives back all of its locks after its last event, as in the paper of Chang
    /// et al. (*Biped*, IEICE Transactions 2015), who move all that a thread does up to there.
    leaves: bool,
    /// Who comes to its first event before the first of all happens, in this order.
    threads: Vec<u32>,
}

/// The ways to try. If the events must be adjacent, all threads come to theirs first: those of late
/// events early, as in the paper, or the other way round. If not, each may also come when it is
/// due. All of this along with the recorded run, and with nothing but what is needed.
fn plans(steps: &[At], adjacent: bool) -> impl Iterator<Item = Plan> + use<> {
    let mut threads: Vec<u32> = Vec::new();
    for step in steps.iter().rev() {
        if !threads.contains(&step.0) {
            threads.push(step.0);
        }
    }
    let reversed: Vec<_> = threads.iter().rev().copied().collect();
    let first = steps.first().map(|it| it.0);
    let others = threads.iter().copied().filter(|it| Some(*it) != first).collect();
    let orders = if adjacent {
        vec![(false, false, threads), (false, false, reversed)]
    } else {
        let orders = [Vec::new(), others, threads];
        let each = |it: Vec<u32>| [(false, false, it.clone()), (true, false, it)];
        orders.into_iter().flat_map(each).chain([(false, true, Vec::new())]).collect()
    };
    let each = move |along: Along| {
        let one = matches!(along, Along::ToCommon | Along::ToEarlier(_));
        let due = [(false, false, Vec::new()), (false, true, Vec::new())];
        let orders = match (one, adjacent) {
            (true, true) => Vec::new(),
            (true, false) => due.to_vec(),
            (false, _) => orders.clone(),
        };
        let plan = move |(eager, leaves, threads)| Plan { along, eager, leaves, threads };
        orders.into_iter().map(plan)
    };
    let ways = [Along::ToCommon, Along::ToLock, Along::ToEvent, Along::Nothing];
    ways.into_iter().chain([1, 2].map(Along::ToEarlier)).flat_map(each)
}

impl Engine for Hybrid<'_> {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn schedules(&self, candidate: &Candidate) -> Proposals<'_> {
        let places = |steps: &[Step]| -> Result<Vec<_>, _> {
            steps.iter().map(|it| self.place(it.event)).collect()
        };
        let (steps, stuck) = match (places(&candidate.steps), places(&candidate.stuck)) {
            (Ok(steps), Ok(stuck)) => (steps, stuck),
            (Err(missing), _) | (_, Err(missing)) => {
                return Box::new(std::iter::once(Err(missing)));
            }
        };
        if !stuck.is_empty() {
            return self.impasses(Impasse::new(candidate, &steps, &stuck));
        }
        let plans = plans(&steps, candidate.adjacent);
        Box::new(
            plans.map(move |plan| {
                self.propose(&steps, &plan).map_err(|trouble| self.explain(trouble))
            }),
        )
    }
}
