//! Makes the runs of a campaign: leases their seeds from the store, and puts in their results.
//!
//! Other processes may do the same. Results are used in the order of their seeds, so that neither the
//! ranking nor the moment at which it has settled depends on the number of workers.

use std::{
    collections::BTreeSet,
    num::NonZeroUsize,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use norn_frontend::{Cut, FrontEnd, Interrupt, Launch, Plan, Recording};
use norn_localize::Formula;
use norn_replay::{ReplayError, RunFolder, RunFolders};
use norn_store::{Lease, Outcome, RunResult, Store};
use norn_trace::Lifetime;

use crate::{
    CampaignError, Criteria, Localizer, Reproduce, RunOutcome, RunPatterns, Settings,
    StoredEvidence, Variation,
    finished_run::{FinishedRun, Known},
    mutex::lock,
};

/// A campaign.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// Runs the program.
    pub front_end: &'a Arc<dyn FrontEnd>,
    /// What all runs have in common. Each has its own plan, trace, output and process group.
    pub launch: &'a Launch,
    /// What the store says about the runs.
    pub settings: &'a Settings,
    /// What counts as a failure.
    pub criteria: Criteria,
    /// Whether to stop when the ranking has settled.
    pub stop_early: bool,
    /// Number of runs in parallel.
    pub jobs: NonZeroUsize,
    /// The formula of the scores.
    pub formula: Formula,
    /// The name of this process.
    pub worker: &'a str,
    /// How long other workers leave a run to this one if they hear nothing of it.
    pub lease: Duration,
    /// Folders for the files of the runs.
    pub folders: RunFolders,
}

/// The end of a campaign, for this process.
#[derive(Debug, Default)]
pub struct Conducted {
    /// Number of runs that this process made.
    pub made: u64,
    /// A run that left no events. It ends the campaign.
    pub unrecorded: Option<Recording>,
}

/// The progress of a campaign.
#[derive(Debug)]
pub struct CampaignProgress<'a> {
    /// Number of runs that have been used.
    pub runs: u64,
    /// Their evidence.
    pub localizer: &'a Localizer,
}

/// How often a worker looks whether the runs of others have been made.
const POLL: Duration = Duration::from_millis(50);

impl Campaign<'_> {
    /// Makes runs until there are none left. `reproduce` gives the command that repeats a run. After
    /// each run, `progress` gets the results so far. An interrupt ends all runs; see
    /// [`Interrupt::caught`].
    pub fn conduct(
        &self,
        store: &mut Store,
        reproduce: Reproduce<'_>,
        progress: &(dyn Fn(&CampaignProgress<'_>) + Sync),
    ) -> Result<Conducted, CampaignError> {
        let _watch = Interrupt::watch();
        let pool = Pool {
            campaign: self,
            reproduce,
            progress,
            store: Mutex::new(store),
            known: Mutex::default(),
            evidence: Mutex::new(StoredEvidence::new(self.settings, self.formula)),
            state: Mutex::new(State { working: self.jobs.get(), ..State::default() }),
            ended: Condvar::new(),
        };
        thread::scope(|scope| {
            for _ in 0..self.jobs.get() {
                scope.spawn(|| pool.work());
            }
            pool.keep_leases();
        });
        let state = pool.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Runs that were interrupted are left to others.
        lock(&pool.store).release(self.worker)?;
        state.error.map_or(Ok(state.conducted), Err)
    }

    /// Makes a run of the campaign. Its files exist as long as the folder.
    pub(crate) fn run(
        &self,
        variation: Variation,
    ) -> Result<(FinishedRun, RunFolder), ReplayError> {
        self.run_plan(variation, variation.plan(self.settings.max_steps))
    }

    /// Makes a run by a plan, or one in which the runtime collects patterns.
    pub(crate) fn run_plan(
        &self,
        variation: Variation,
        plan: Option<Plan>,
    ) -> Result<(FinishedRun, RunFolder), ReplayError> {
        let folder = self.folders.take()?;
        let launch = Launch {
            output: folder.trace(),
            lifetime: Lifetime::Temporary,
            collect: plan.is_none().then(|| variation.collect(self.settings)),
            values: self.launch.values && plan.is_some(),
            plan,
            streams: folder.streams(),
            apart: true,
            ..self.launch.clone()
        };
        let mut completed = norn_replay::run(self.front_end, &launch)?;
        let outcome = if completed.recording.recorded {
            self.criteria.judge(&mut completed, &folder)?
        } else {
            RunOutcome::Unfinished
        };
        let window = self.settings.window;
        let patterns = completed.symbolized()?.map(|it| RunPatterns::of(it, window));
        Ok((FinishedRun { variation, outcome, patterns, completed }, folder))
    }
}

/// The threads that make runs.
struct Pool<'a> {
    campaign: &'a Campaign<'a>,
    reproduce: Reproduce<'a>,
    progress: &'a (dyn Fn(&CampaignProgress<'_>) + Sync),
    /// Locked after `evidence`, if both are needed.
    store: Mutex<&'a mut Store>,
    known: Mutex<Known>,
    evidence: Mutex<StoredEvidence>,
    state: Mutex<State>,
    /// Notified when a thread ends.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Number of threads that have not ended.
    working: usize,
    /// The seeds of the runs that are being made.
    seeds: BTreeSet<u64>,
    over: bool,
    conducted: Conducted,
    error: Option<CampaignError>,
}

impl Pool<'_> {
    fn work(&self) {
        let _guard = EndGuard(self);
        if let Err(error) = self.make_runs() {
            let mut state = lock(&self.state);
            state.over = true;
            state.error.get_or_insert(error);
        }
    }

    fn make_runs(&self) -> Result<(), CampaignError> {
        while let Some(seed) = self.next()? {
            let Settings { vary, measured, .. } = self.campaign.settings;
            let variation = Variation::new(*vary, seed, measured.events);
            match self.campaign.run(variation) {
                Ok((run, _folder)) => self.finish(run)?,
                Err(error) => self.lose(variation, error)?,
            }
            lock(&self.state).seeds.remove(&seed);
            self.advance()?;
        }
        Ok(())
    }

    /// The seed of the next run to make.
    fn next(&self) -> Result<Option<u64>, CampaignError> {
        let Campaign { worker, lease, .. } = self.campaign;
        loop {
            if lock(&self.state).over || Interrupt::caught().is_some() {
                return Ok(None);
            }
            let next = lock(&self.store).lease(worker, *lease)?;
            match next {
                Lease::Run(seed) => {
                    lock(&self.state).seeds.insert(seed);
                    return Ok(Some(seed));
                }
                Lease::Wait => thread::sleep(POLL),
                Lease::Done => return Ok(None),
            }
        }
    }

    /// Puts the result of a run into the store.
    fn finish(&self, run: FinishedRun) -> Result<(), CampaignError> {
        if let Some(Cut::Interrupt(_)) = run.completed.recording.cut {
            lock(&self.state).over = true;
            return Ok(());
        }
        let result = run.result(&self.known)?;
        if let Some(result) = &result {
            lock(&self.store).finish(run.variation.seed, result)?;
            lock(&self.known).note(result);
        }
        let mut state = lock(&self.state);
        if result.is_some() {
            state.conducted.made += 1;
        } else {
            state.over = true;
            state.conducted.unrecorded.get_or_insert(run.completed.recording);
        }
        Ok(())
    }

    /// Notes that a run could not be made. If none could, the program cannot be run here at all: that
    /// ends this process, and must not spoil the runs of others.
    fn lose(&self, variation: Variation, error: ReplayError) -> Result<(), CampaignError> {
        if lock(&self.state).conducted.made == 0 {
            return Err(error.into());
        }
        let result = RunResult {
            outcome: Outcome::Lost,
            strategy: variation.name(),
            expected: variation.expected,
            failure: None,
            patterns: Vec::new(),
            described: Vec::new(),
            ordered: false,
            sampled: false,
            error: Some(error.to_string()),
        };
        lock(&self.store).finish(variation.seed, &result)?;
        Ok(())
    }

    /// Uses the results that are there, in the order of their seeds, and ends the campaign if the
    /// ranking has settled.
    fn advance(&self) -> Result<(), CampaignError> {
        let mut evidence = lock(&self.evidence);
        let mut store = lock(&self.store);
        while let Some(seed) = evidence.advance(&mut store, self.reproduce)? {
            let (runs, localizer) = (evidence.runs, &evidence.localizer);
            (self.progress)(&CampaignProgress { runs, localizer });
            if self.campaign.stop_early && localizer.is_settled() {
                store.settle(seed)?;
                lock(&self.state).over = true;
                break;
            }
        }
        Ok(())
    }

    /// Renews the leases of this process until its threads have ended.
    fn keep_leases(&self) {
        let Campaign { worker, lease, .. } = self.campaign;
        let mut state = lock(&self.state);
        loop {
            let waited = self.ended.wait_timeout_while(state, *lease / 3, |it| it.working > 0);
            let (guard, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            if !timeout.timed_out() {
                return;
            }
            let seeds: Vec<u64> = guard.seeds.iter().copied().collect();
            drop(guard);
            // If this fails, the threads will notice: they use the same store.
            let _ = lock(&self.store).renew(worker, &seeds, *lease);
            state = lock(&self.state);
        }
    }
}

/// Counts a thread that ends. If it panics, the others only finish their current runs.
struct EndGuard<'a, 'b>(&'a Pool<'b>);

impl Drop for EndGuard<'_, '_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.over |= thread::panicking();
        state.working -= 1;
        self.0.ended.notify_all();
    }
}
