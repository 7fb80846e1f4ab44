//! For tests: a world that is plain data, and small programs whose threads are scripts. The
//! simulation treats them as the runtime treats real threads, and checks the invariants after each
//! decision.

use norn_abi::{
    Kind,
    control::{Name, Plan, Point, Segment, StrategyKind, strategy},
};

use crate::{
    Arrival, Asked, Decision, Event, NEVER, NewThread, Scheduler, Sleep, TASKS, TaskId, Verdict,
    Wait, World,
};

/// The outside of the scheduler, as the test defines it.
#[expect(clippy::struct_excessive_bools, reason = "the answers to independent queries")]
pub(crate) struct SimulatedWorld {
    pub(crate) plan: Plan,
    pub(crate) names: Vec<Name>,
    pub(crate) segments: Vec<Segment>,
    pub(crate) steps: [u64; TASKS],
    pub(crate) effects: [u64; TASKS],
    pub(crate) real_time: u64,
    pub(crate) cpu_time: Option<u64>,
    pub(crate) sleep: Sleep,
    pub(crate) looping: bool,
    pub(crate) excused: bool,
    pub(crate) unseen_help: bool,
    /// The timers whose signals begin no handler.
    pub(crate) without_handler: Vec<usize>,
    pub(crate) over: bool,
}

impl Default for SimulatedWorld {
    fn default() -> Self {
        Self {
            plan: Plan { strategy: strategy::ROUND_ROBIN, ..Plan::default() },
            names: Vec::new(),
            segments: Vec::new(),
            steps: [0; TASKS],
            effects: [0; TASKS],
            real_time: 1,
            cpu_time: None,
            sleep: Sleep::No,
            looping: false,
            excused: false,
            unseen_help: false,
            without_handler: Vec::new(),
            over: false,
        }
    }
}

impl World for SimulatedWorld {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn names(&self) -> &[Name] {
        &self.names
    }

    fn segments(&self) -> &[Segment] {
        &self.segments
    }

    fn points(&self) -> &[Point] {
        &[]
    }

    fn module_start(&self, _module: u32) -> u64 {
        0
    }

    fn steps(&self, task: TaskId) -> u64 {
        self.steps[task.index()]
    }

    fn last_effect(&self, task: TaskId) -> u64 {
        self.effects[task.index()]
    }

    fn real_time(&self) -> u64 {
        self.real_time
    }

    fn cpu_time(&self, _task: TaskId) -> Option<u64> {
        self.cpu_time
    }

    fn sleep(&self, _task: TaskId) -> Sleep {
        self.sleep
    }

    fn is_looping(&self, _task: TaskId, _events: u64) -> bool {
        self.looping
    }

    fn is_excused(&self, _task: TaskId) -> bool {
        self.excused
    }

    fn has_unseen_help(&self, _tasks: usize) -> bool {
        self.unseen_help
    }

    fn begins_handler(&self, timer: usize) -> bool {
        !self.without_handler.contains(&timer)
    }

    fn is_over(&self) -> bool {
        self.over
    }
}

/// A scheduler with `N` threads, of which the first has the turn.
pub(crate) fn begun<const N: usize>(world: &SimulatedWorld) -> (Box<Scheduler>, [TaskId; N]) {
    let mut scheduler = Box::new(Scheduler::new());
    let tasks = core::array::from_fn(|index| {
        let thread = u32::try_from(index).unwrap();
        let new = NewThread { thread, child: thread, foreign: false };
        let task = match index {
            0 => scheduler.begin(new, true, world),
            _ => scheduler.adopt(new, Some(TaskId::FIRST), world),
        };
        task.unwrap()
    });
    (scheduler, tasks)
}

/// One step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Read(usize),
    Write(usize),
    Lock(usize),
    Unlock(usize),
    Yield,
    /// Sleeps for this many nanoseconds of virtual time.
    Sleep(u64),
    /// Reads a variable until it is not 0.
    Await(usize),
    /// Reads a variable, and goes back by this many steps if it is 0.
    Repeat(usize, usize),
    /// Acquires a lock, or tries again at once.
    TryLock(usize),
    /// Reads a variable until it is not 0, but not more often than this.
    AwaitUpTo(usize, u64),
}

/// A program that runs under a scheduler.
pub(crate) struct Simulation {
    pub(crate) scheduler: Box<Scheduler>,
    pub(crate) world: SimulatedWorld,
    threads: Vec<Vec<Op>>,
    /// For each thread: number of completed steps, and whether it has asked for the next one.
    done: Vec<usize>,
    asked: Vec<bool>,
    ended: Vec<bool>,
    stop_at: Vec<u64>,
    has_turn: Vec<bool>,
    /// For each thread: a register that no other thread can see.
    rounds: Vec<u64>,
    memory: [u64; 8],
    locked_by: [Option<usize>; 8],
    last_time: u64,
    /// The thread of each event, in order.
    pub(crate) events: Vec<usize>,
    pub(crate) verdict: Option<Verdict>,
}

/// Maximum number of decisions of a run, so that a test ends even if the scheduler does not.
const MAX_DECISIONS: usize = 12_000_000;

impl Simulation {
    /// A program of these threads, under this plan. The first thread has created the others.
    pub(crate) fn new(threads: &[Vec<Op>], world: SimulatedWorld) -> Self {
        let mut scheduler = Box::new(Scheduler::new());
        for index in 0..threads.len() {
            let thread = u32::try_from(index).unwrap();
            let new = NewThread { thread, child: thread, foreign: false };
            let task = match index {
                0 => scheduler.begin(new, true, &world),
                _ => scheduler.adopt(new, Some(TaskId::FIRST), &world),
            };
            assert_eq!(task.map(TaskId::index), Some(index));
        }
        let count = threads.len();
        let mut has_turn = vec![false; count];
        has_turn[0] = true;
        Self {
            scheduler,
            world,
            threads: threads.to_vec(),
            done: vec![0; count],
            asked: vec![false; count],
            ended: vec![false; count],
            stop_at: vec![0; count],
            has_turn,
            rounds: vec![0; count],
            memory: [0; 8],
            locked_by: [None; 8],
            last_time: 0,
            events: Vec::new(),
            verdict: None,
        }
    }

    /// Runs the program to its end, or to a verdict.
    pub(crate) fn run(&mut self) {
        for _ in 0..MAX_DECISIONS {
            let Some(holder) = self.scheduler.holder() else {
                if self.verdict.is_some() || !self.ended.contains(&false) {
                    return;
                }
                self.look_around();
                continue;
            };
            if self.verdict.is_some() {
                return;
            }
            self.advance(holder);
        }
        panic!("the run does not end: {} events", self.events.len());
    }

    /// Whether all threads have ended.
    pub(crate) fn is_finished(&self) -> bool {
        !self.ended.contains(&false)
    }

    /// Whether no thread can ever continue: each live thread waits for a lock that another one
    /// holds.
    pub(crate) fn is_deadlocked(&self) -> bool {
        let stuck = |thread: usize| match self.threads[thread].get(self.done[thread]) {
            Some(Op::Lock(lock)) => self.locked_by[*lock].is_some(),
            _ => false,
        };
        let living: Vec<_> = (0..self.ended.len()).filter(|it| !self.ended[*it]).collect();
        !living.is_empty() && living.into_iter().all(stuck)
    }

    /// Simulates the end of the sleep of a thread without the turn.
    fn look_around(&mut self) {
        let sleeper = self.scheduler.living().next().unwrap();
        self.world.real_time += self.scheduler.patience(sleeper);
        let decision = self.scheduler.look_around(sleeper, &self.world);
        self.carry_out(decision);
    }

    fn carry_out(&mut self, decision: Decision) {
        if let Some(task) = decision.taken_back {
            self.has_turn[task.index()] = false;
        }
        if decision.stop.is_some() {
            self.verdict = self.verdict.or(decision.stop);
            self.world.over = true;
        }
        if let Some(grant) = decision.grant {
            let index = grant.task.index();
            assert!(self.scheduler.run.tasks[grant.task].is_ready(), "only a ready task is chosen");
            assert!(!self.ended[index]);
            self.has_turn[index] = true;
            self.stop_at[index] = grant.stop_at;
        }
        let holders = self.has_turn.iter().filter(|it| **it).count();
        assert!(holders <= 1, "at most one task has the turn");
        let holder = self.scheduler.holder().map(TaskId::index);
        assert_eq!(holder, self.has_turn.iter().position(|it| *it));
        let now = self.scheduler.now(&self.world);
        assert!(now >= self.last_time, "time does not go back");
        self.last_time = now;
    }

    /// The thread that has the turn arrives at its next step, asks if it must, and executes it.
    fn advance(&mut self, task: TaskId) {
        let thread = task.index();
        let Some(op) = self.threads[thread].get(self.done[thread]).copied() else {
            self.ended[thread] = true;
            self.scheduler.end(task);
            let decision = self.scheduler.leave(task, &self.world);
            return self.carry_out(decision);
        };
        let waited = core::mem::take(&mut self.asked[thread]);
        if !waited && self.world.steps[thread] >= self.stop_at[thread] && self.ask(task, op) {
            self.asked[thread] = true;
            return;
        }
        self.perform(task, op);
    }

    fn quiet(&self, thread: usize) -> u64 {
        self.world.steps[thread] - self.world.effects[thread]
    }

    /// Asks the scheduler. Returns whether the turn was passed on, possibly to the same thread.
    fn ask(&mut self, task: TaskId, op: Op) -> bool {
        let quiet = self.quiet(task.index());
        let event = self.event(task.index(), op);
        match self.scheduler.arrive(task, event, quiet, &self.world) {
            Arrival::WithoutTurn => panic!("the thread that runs has the turn"),
            Arrival::GoesOn => return false,
            Arrival::Observes(variable) => {
                self.scheduler.observe(task, self.memory[variable]);
            }
            Arrival::Asks => {}
        }
        if self.scheduler.wants_state(task) {
            self.scheduler.compare_state(task, Some(self.rounds[task.index()]));
        }
        match self.scheduler.ask(task, &self.world) {
            Asked::GoesOn(stop_at) => {
                self.stop_at[task.index()] = stop_at;
                false
            }
            Asked::Passed(decision) => {
                self.carry_out(decision);
                true
            }
        }
    }

    fn event(&self, thread: usize, op: Op) -> Event {
        let read = Kind::Read8;
        let write = Kind::Write8;
        let (kind, object) = match op {
            Op::Read(variable)
            | Op::Await(variable)
            | Op::Repeat(variable, _)
            | Op::AwaitUpTo(variable, _) => (read, variable),
            Op::Write(variable) => (write, variable),
            Op::Lock(lock) | Op::TryLock(lock) => (Kind::Acquire, lock),
            Op::Unlock(lock) => (Kind::Release, lock),
            Op::Yield => (Kind::Yield, 0),
            Op::Sleep(_) => (Kind::Sleep, 0),
        };
        Event { kind, object, pc: self.done[thread] }
    }

    fn perform(&mut self, task: TaskId, op: Op) {
        let thread = task.index();
        match op {
            Op::Read(_) => self.count(thread, false, true),
            Op::Await(variable) => self.count(thread, false, self.memory[variable] != 0),
            Op::Write(variable) => {
                self.memory[variable] += 1;
                self.count(thread, true, true);
            }
            Op::AwaitUpTo(variable, most) => {
                self.rounds[thread] += 1;
                let ends = self.memory[variable] != 0 || self.rounds[thread] == most;
                self.count(thread, false, ends);
            }
            Op::Repeat(variable, back) => {
                let again = self.memory[variable] == 0;
                self.count(thread, false, !again);
                self.done[thread] -= if again { back } else { 0 };
            }
            Op::TryLock(lock) if self.locked_by[lock].is_some() => {
                self.count(thread, false, false);
            }
            Op::Lock(lock) | Op::TryLock(lock) if self.locked_by[lock].is_none() => {
                self.locked_by[lock] = Some(thread);
                self.count(thread, true, true);
            }
            Op::Lock(_) | Op::TryLock(_) => self.wait(task, op, NEVER),
            Op::Unlock(lock) => {
                self.locked_by[lock] = None;
                self.scheduler.release_all(Kind::Acquire, lock);
                self.count(thread, true, true);
            }
            Op::Yield => {
                let (pc, quiet) = (self.done[thread], self.quiet(thread));
                self.count(thread, false, true);
                let decision = self.scheduler.yields(task, pc, quiet, &self.world);
                self.carry_out(decision);
            }
            Op::Sleep(length) => {
                let deadline = self.scheduler.now(&self.world) + length;
                self.count(thread, false, true);
                self.wait(task, op, deadline);
            }
        }
    }

    fn wait(&mut self, task: TaskId, op: Op, deadline: u64) {
        let event = self.event(task.index(), op);
        self.scheduler.wait(task, Wait { event, deadline, outside: false });
        let decision = self.scheduler.yield_turn(&self.world);
        self.carry_out(decision);
    }

    /// Counts an event; `ends` states whether it completes the step.
    fn count(&mut self, thread: usize, effect: bool, ends: bool) {
        self.events.push(thread);
        self.world.steps[thread] += 1;
        if effect {
            self.world.effects[thread] = self.world.steps[thread];
        }
        self.done[thread] += usize::from(ends);
    }
}

/// A world whose plan has this strategy and seed.
pub(crate) fn planned(kind: StrategyKind, seed: u64) -> SimulatedWorld {
    let plan = Plan { strategy: kind.code(), seed, depth: 3, expected: 30, ..Plan::default() };
    SimulatedWorld { plan, ..SimulatedWorld::default() }
}
