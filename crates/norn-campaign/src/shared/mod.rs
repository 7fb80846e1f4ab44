//! Executions that several processes share: a hunt asks for them, and workers on any machine make them.
//!
//! A hunt decides on one execution after another, and lets those that it will probably ask for be made ahead
//! of time. All of them are calls of the front end, whose result follows from the plan alone. So a
//! [`SharedFrontEnd`] takes the place of the front end: it puts plans into a store, makes some of them itself,
//! and gets the traces of the others from there. Neither the hunt nor its findings depend on who made them;
//! and what has been made once is not made again, also if the hunt was killed and begins anew. But an
//! execution that the hunt itself repeats, to see whether the same happens again, is another one.

mod maker;
mod plan;
mod result;
mod settings;
mod worker;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use norn_frontend::{FrontEnd, FrontEndError, Interrupt, Launch, Recording, Symbols};
use norn_store::{Requested, Store};
use norn_trace::Trace;

use self::{
    maker::{Made, Maker},
    plan::ExecutionPlan,
};
pub use self::{settings::HuntSettings, worker::HuntWorker};
use crate::{CampaignError, mutex::lock};

/// How often a process looks whether the executions of others have been made, or new ones are wanted.
const POLL: Duration = Duration::from_millis(20);
/// How often it looks how many workers there are.
const COUNT: Duration = Duration::from_millis(500);

/// A front end whose executions are in a store, and are made by this process and by others.
#[derive(Debug)]
pub struct SharedFrontEnd {
    maker: Maker,
    /// Number of executions that this process makes at a time.
    jobs: usize,
    running: Mutex<usize>,
    position: AtomicU64,
    /// How often each execution was asked for, by its number without repetitions.
    asked: Mutex<BTreeMap<String, u64>>,
    /// Number of executions that others make at a time, and when they were counted.
    others: Mutex<(usize, Option<Instant>)>,
    made: AtomicU64,
    taken: AtomicU64,
}

impl SharedFrontEnd {
    /// Shares the executions of a front end in a store. `worker` is the name of this process, and `lease` is
    /// how long others leave an execution to it if they hear nothing of it.
    pub fn new(
        front_end: Arc<dyn FrontEnd>,
        mut store: Store,
        worker: String,
        (jobs, lease): (usize, Duration),
    ) -> Result<SharedFrontEnd, CampaignError> {
        let position = store.next_position()?.into();
        Ok(SharedFrontEnd {
            maker: Maker { front_end, store: Mutex::new(store), worker, lease, attends: None },
            jobs,
            running: Mutex::default(),
            position,
            asked: Mutex::default(),
            others: Mutex::default(),
            made: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        })
    }

    /// Number of executions that this process has made, and that it has taken from the store.
    pub fn counts(&self) -> (u64, u64) {
        (self.made.load(Ordering::Relaxed), self.taken.load(Ordering::Relaxed))
    }

    /// Leaves the hunt. If it has come to its end, the workers end, too; otherwise they wait for the next
    /// process that goes on with it.
    pub fn close(&self, ended: bool) -> Result<(), CampaignError> {
        let mut store = lock(&self.maker.store);
        store.leave(&self.maker.worker)?;
        if ended {
            store.end_hunt()?;
        }
        Ok(())
    }

    /// The number and the text of an execution that is asked for once more.
    fn repeated(&self, mut plan: ExecutionPlan) -> Result<(String, String), CampaignError> {
        let (id, _) = plan.text()?;
        let mut asked = lock(&self.asked);
        let count = asked.entry(id).or_default();
        plan.repetition = *count;
        *count += 1;
        drop(asked);
        plan.text()
    }

    fn execute(&self, launch: &Launch, id: &str, plan: &str) -> Result<Recording, CampaignError> {
        loop {
            let requested = lock(&self.maker.store).execution(id)?;
            match requested {
                Requested::Made(execution) => {
                    self.taken.fetch_add(1, Ordering::Relaxed);
                    return result::unpack(launch, &execution);
                }
                Requested::Open => {}
                Requested::No => {
                    let position = self.position.fetch_add(1, Ordering::Relaxed);
                    lock(&self.maker.store).want(id, position, plan)?;
                }
            }
            if launch.cancel.is_cancelled() || Interrupt::is_stopped() {
                return Err(CampaignError::Ended);
            }
            match self.make(launch, id)? {
                Some(Made::First(recording) | Made::Disturbed(recording)) => return Ok(recording),
                Some(Made::Second) => {}
                None => thread::sleep(POLL),
            }
        }
    }

    /// Makes an execution, unless others make it, or this process makes enough already.
    fn make(&self, launch: &Launch, id: &str) -> Result<Option<Made>, CampaignError> {
        let Some(_slot) = Slot::take(self) else { return Ok(None) };
        let made = self.maker.lease(id)?.then(|| self.maker.make(launch, id)).transpose()?;
        self.made.fetch_add(u64::from(made.is_some()), Ordering::Relaxed);
        Ok(made)
    }
}

impl FrontEnd for SharedFrontEnd {
    fn run(&self, launch: &Launch) -> Result<Recording, FrontEndError> {
        let Some(plan) = ExecutionPlan::of(launch) else {
            return self.maker.front_end.run(launch);
        };
        let made = self.repeated(plan).and_then(|(id, plan)| self.execute(launch, &id, &plan));
        made.map_err(|error| match error {
            CampaignError::FrontEnd(error) => error,
            error => FrontEndError::Other(error.into()),
        })
    }

    fn capacity(&self) -> Option<usize> {
        let mut others = lock(&self.others);
        if others.1.is_none_or(|it| it.elapsed() >= COUNT) {
            // If the store is away, its next user says so.
            let jobs = lock(&self.maker.store).hunt_jobs().unwrap_or(others.0 as u64);
            *others = (usize::try_from(jobs).unwrap_or(usize::MAX), Some(Instant::now()));
        }
        Some(self.jobs.saturating_add(others.0))
    }

    fn symbols(&self, trace: &Trace) -> Box<dyn Symbols> {
        self.maker.front_end.symbols(trace)
    }
}

/// One of the executions that this process makes at a time.
struct Slot<'a>(&'a Mutex<usize>);

impl<'a> Slot<'a> {
    fn take(shared: &'a SharedFrontEnd) -> Option<Slot<'a>> {
        let mut running = lock(&shared.running);
        (*running < shared.jobs).then(|| {
            *running += 1;
            Slot(&shared.running)
        })
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *lock(self.0) -= 1;
    }
}
