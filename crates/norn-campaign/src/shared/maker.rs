//! Makes executions that are leased, and puts them into the store.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use norn_frontend::{FrontEnd, Launch, Recording};
use norn_store::Store;

use super::result;
use crate::{CampaignError, mutex::lock};

/// A process that makes executions.
#[derive(Debug)]
pub(super) struct Maker {
    pub(super) front_end: Arc<dyn FrontEnd>,
    pub(super) store: Mutex<Store>,
    /// The name of this process.
    pub(super) worker: String,
    pub(super) lease: Duration,
    /// Number of executions that it makes at a time, if others count on it.
    pub(super) attends: Option<usize>,
}

/// An execution that was made.
#[derive(Debug)]
pub(super) enum Made {
    /// It is in the store.
    First(Recording),
    /// Another process was faster, because the lease had expired. Its result counts.
    Second,
    /// It is not what its plan leads to, because it was ended or disturbed, or it is too large for the
    /// store.
    Disturbed(Recording),
}

impl Maker {
    /// Leases an execution, if it is neither made nor leased.
    pub(super) fn lease(&self, id: &str) -> Result<bool, CampaignError> {
        Ok(lock(&self.store).lease_this(id, &self.worker, self.lease)?)
    }

    /// Makes an execution whose lease this process has.
    pub(super) fn make(&self, launch: &Launch, id: &str) -> Result<Made, CampaignError> {
        let recording = self.run(launch, id);
        let packed = match &recording {
            Ok(recording) => result::pack(launch, recording),
            Err(_) => Ok(None),
        };
        let Ok(Some(execution)) = packed else {
            lock(&self.store).give_back(id, &self.worker)?;
            packed?;
            return Ok(Made::Disturbed(recording?));
        };
        let is_first = lock(&self.store).put_execution(id, &self.worker, &execution)?;
        Ok(if is_first { Made::First(recording?) } else { Made::Second })
    }

    /// Runs the program, and meanwhile renews the lease.
    fn run(&self, launch: &Launch, id: &str) -> Result<Recording, CampaignError> {
        let (ended, changed) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut guard = lock(&ended);
                loop {
                    let waited = changed.wait_timeout_while(guard, self.lease / 3, |it| !*it);
                    let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    if !timeout.timed_out() {
                        return;
                    }
                    // If this fails, whoever puts in the result will notice.
                    let _ = lock(&self.store).renew_execution(id, &self.worker, self.lease);
                    let _ = self.attend();
                    guard = state;
                }
            });
            let _end = End(&ended, &changed);
            Ok(self.front_end.run(launch)?)
        })
    }

    /// Tells others that this process is there.
    pub(super) fn attend(&self) -> Result<(), CampaignError> {
        if let Some(jobs) = self.attends {
            lock(&self.store).attend(&self.worker, jobs, self.lease)?;
        }
        Ok(())
    }
}

/// Ends the renewal of a lease, even if the run panics.
struct End<'a>(&'a Mutex<bool>, &'a Condvar);

impl Drop for End<'_> {
    fn drop(&mut self) {
        *lock(self.0) = true;
        self.1.notify_all();
    }
}
