//! Runs that are slow, interrupted, endless or fail.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use norn_frontend::Cancel;
use norn_replay::ReplayError;
use norn_report::Ended;

use super::{
    super::{Executor, Limits, drive, with_pool},
    DULL, Plan, QUICK, Scripted, attempts, transcript,
};

/// The first attempt ends only after others have ended.
struct Slow {
    others: Mutex<mpsc::Receiver<()>>,
    ended: mpsc::Sender<()>,
}

impl Executor for Slow {
    type Plan = Plan;
    type Run = Plan;

    fn run(&self, plan: &Plan, _: &Cancel) -> Result<Plan, ReplayError> {
        if *plan == (Plan::Try { source: 0, candidate: 0, instance: 0 }) {
            let others = self.others.lock().unwrap();
            for _ in 0..5 {
                others.recv_timeout(Duration::from_mins(1)).expect("others are held up");
            }
        } else {
            let _ = self.ended.send(());
        }
        Ok(*plan)
    }

    fn stopped(&self) -> Option<Ended> {
        None
    }
}

#[test]
fn a_slow_run_does_not_hold_up_others() {
    let (ended, others) = mpsc::channel();
    let slow = Slow { others: Mutex::new(others), ended };
    let limits = |jobs| Limits { budget: 12, explore: 0, jobs };
    let with_two = transcript(DULL, limits(2), &slow);
    assert_eq!(with_two, transcript(DULL, limits(1), &QUICK));
}

/// The user interrupts the campaign during the fifth run.
#[derive(Default)]
struct Interrupted {
    caught: AtomicBool,
}

impl Executor for Interrupted {
    type Plan = Plan;
    type Run = Plan;

    fn run(&self, plan: &Plan, _: &Cancel) -> Result<Plan, ReplayError> {
        if *plan == (Plan::Try { source: 0, candidate: 4, instance: 0 }) {
            self.caught.store(true, Ordering::Relaxed);
        }
        Ok(*plan)
    }

    fn stopped(&self) -> Option<Ended> {
        self.caught.load(Ordering::Relaxed).then_some(Ended::Interrupted)
    }
}

#[test]
fn an_interrupt_ends_the_campaign() {
    let limits = Limits { budget: 100, explore: 10, jobs: 1 };
    let (executions, transcript) = transcript(DULL, limits, &Interrupted::default());
    // The interrupted run is neither judged nor counted. One run was explored before it.
    assert_eq!((executions, attempts(&transcript).len()), (6, 4));
    assert!(transcript.last().unwrap().starts_with("finish"));
}

/// Runs that explore end only when they are cancelled.
struct Endless;

impl Executor for Endless {
    type Plan = Plan;
    type Run = Plan;

    fn run(&self, plan: &Plan, cancel: &Cancel) -> Result<Plan, ReplayError> {
        if matches!(plan, Plan::Explore(_)) {
            let start = Instant::now();
            while !cancel.is_cancelled() {
                assert!(start.elapsed() < Duration::from_mins(1), "the run is not cancelled");
                thread::sleep(Duration::from_millis(1));
            }
        }
        Ok(*plan)
    }

    fn stopped(&self) -> Option<Ended> {
        None
    }
}

#[test]
fn runs_that_are_no_longer_needed_are_cancelled() {
    let plan = Plan::Try { source: 0, candidate: 0, instance: 0 };
    let ahead = || (0..3).map(Plan::Explore);
    let run = with_pool(&Endless, 4, |pool| pool.run(&plan, ahead));
    assert_eq!(run.unwrap(), plan);
}

/// Every plan fails.
struct Broken;

impl Executor for Broken {
    type Plan = Plan;
    type Run = Plan;

    fn run(&self, _: &Plan, _: &Cancel) -> Result<Plan, ReplayError> {
        let source = std::io::Error::other("no space left");
        Err(ReplayError::Scratch { path: "scratch".into(), source })
    }

    fn stopped(&self) -> Option<Ended> {
        None
    }
}

#[test]
fn an_error_ends_the_campaign() {
    for jobs in [1, 4] {
        let mut scripted = Scripted::new(DULL);
        let limits = Limits { budget: 10, explore: 0, jobs };
        let end = drive(&mut scripted, 0, 1, limits, &Broken);
        assert!(end.is_err());
        assert_eq!(attempts(&scripted.transcript).len(), 0);
    }
}
