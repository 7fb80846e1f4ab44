//! A worker of a shared hunt: makes the executions that the hunt asks for, until it ends.

use std::{
    collections::BTreeSet,
    fs,
    num::NonZeroUsize,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use norn_frontend::{FrontEnd, Interrupt, Launch, Streams};
use norn_store::{ExecutionLease, Store};
use norn_trace::Lifetime;

use super::{
    POLL,
    maker::{Made, Maker},
    plan::ExecutionPlan,
};
use crate::{CampaignError, mutex::lock};

/// A worker of a shared hunt.
#[derive(Debug)]
pub struct HuntWorker {
    maker: Maker,
    jobs: NonZeroUsize,
}

/// The state that the threads of a worker share.
struct Work<'a> {
    maker: &'a Maker,
    scratch: &'a Path,
    made: AtomicU64,
    over: AtomicBool,
    /// Executions that this process could not make, and leaves to others.
    others: Mutex<BTreeSet<String>>,
}

impl HuntWorker {
    /// A worker with this name, which makes some executions at a time. `lease` is how long others leave an
    /// execution to it if they hear nothing of it.
    pub fn new(
        front_end: Arc<dyn FrontEnd>,
        store: Store,
        worker: String,
        (jobs, lease): (NonZeroUsize, Duration),
    ) -> HuntWorker {
        let store = Mutex::new(store);
        HuntWorker {
            maker: Maker { front_end, store, worker, lease, attends: Some(jobs.get()) },
            jobs,
        }
    }

    /// Makes executions until the hunt ends, or an interrupt. Returns their number. `scratch` is an empty
    /// folder for their files.
    pub fn work(&self, scratch: &Path) -> Result<u64, CampaignError> {
        let _watch = Interrupt::watch();
        let work = Work {
            maker: &self.maker,
            scratch,
            made: AtomicU64::new(0),
            over: AtomicBool::new(false),
            others: Mutex::default(),
        };
        self.maker.attend()?;
        let results: Vec<_> = thread::scope(|scope| {
            let work = &work;
            let start = |number| scope.spawn(move || work.make_executions(number));
            let threads: Vec<_> = (0..self.jobs.get()).map(start).collect();
            threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
        });
        let left = lock(&self.maker.store).leave(&self.maker.worker);
        for result in results {
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        left?;
        Ok(work.made.into_inner())
    }
}

impl Work<'_> {
    fn make_executions(&self, thread: usize) -> Result<(), CampaignError> {
        let done = self.until_done(thread);
        if done.is_err() {
            self.over.store(true, Ordering::Relaxed);
        }
        done
    }

    fn until_done(&self, thread: usize) -> Result<(), CampaignError> {
        let Maker { worker, lease, .. } = self.maker;
        let mut attended = Instant::now();
        while !self.over.load(Ordering::Relaxed) && !Interrupt::is_stopped() {
            if attended.elapsed() >= *lease / 3 {
                self.maker.attend()?;
                attended = Instant::now();
            }
            let others = lock(&self.others).clone();
            let next = lock(&self.maker.store).lease_execution(worker, &others, *lease)?;
            match next {
                ExecutionLease::Make { id, plan } => self.make(thread, id, &plan)?,
                ExecutionLease::Wait => thread::sleep(POLL),
                ExecutionLease::Done => return Ok(()),
            }
        }
        Ok(())
    }

    fn make(&self, thread: usize, id: String, plan: &str) -> Result<(), CampaignError> {
        let folder = self.scratch.join(thread.to_string());
        fs::create_dir_all(&folder).map_err(CampaignError::Files)?;
        let [output, stdout, stderr] = ["trace", "stdout", "stderr"].map(|it| folder.join(it));
        let streams = Streams::Files { stdout, stderr };
        let launch = Launch { output, lifetime: Lifetime::Temporary, streams, ..Launch::default() };
        let made = self.maker.make(&ExecutionPlan::parse(plan)?.launch(launch), &id);
        let removed = fs::remove_dir_all(&folder).map_err(CampaignError::Files);
        match made {
            Ok(Made::First(_)) => {
                self.made.fetch_add(1, Ordering::Relaxed);
            }
            Ok(Made::Second) => {}
            // If none can be made, the program cannot be run here at all.
            Err(CampaignError::FrontEnd(error)) if self.made.load(Ordering::Relaxed) == 0 => {
                return Err(error.into());
            }
            Ok(Made::Disturbed(_)) | Err(CampaignError::FrontEnd(_)) => {
                lock(&self.others).insert(id);
            }
            Err(error) => return Err(error),
        }
        removed
    }
}
