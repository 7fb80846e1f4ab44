//! The schedule that is followed: the addresses of its modules, and the report on how it was
//! followed.

use core::sync::atomic::{AtomicUsize, Ordering};

use norn_abi::arena::MODULES;
use norn_sched::FollowReport;

use crate::arena;

/// Load addresses of the schedule's modules.
static STARTS: [AtomicUsize; MODULES] = [const { AtomicUsize::new(0) }; MODULES];

/// Notes the load address of a module.
pub fn module(start: usize, path: &[u8]) {
    for (known, at) in arena::schedule_modules().iter().zip(&STARTS) {
        let len = known.path.iter().position(|&it| it == 0).unwrap_or(known.path.len());
        if known.path[..len].iter().eq(path) {
            at.store(start, Ordering::Relaxed);
        }
    }
}

/// The load address of a module of the schedule; 0 if it is not loaded.
pub fn module_start(module: u32) -> u64 {
    STARTS[module as usize % MODULES].load(Ordering::Relaxed) as u64
}

/// Publishes how the schedule was followed. The status is stored last, because the tool reads the
/// other fields once it is set.
pub fn publish(report: &FollowReport) {
    let outcome = arena::outcome();
    outcome.segment.store(report.segment, Ordering::Relaxed);
    let left = &report.left;
    if left.why != 0 {
        outcome.why.store(left.why, Ordering::Relaxed);
        outcome.left_by.store(left.thread, Ordering::Relaxed);
        if left.thread != u32::MAX {
            outcome.kind.store(u32::from(left.event.kind.code()), Ordering::Relaxed);
            outcome.pc.store(left.event.pc as u64, Ordering::Relaxed);
            outcome.object.store(left.event.object as u64, Ordering::Relaxed);
            outcome.index.store(left.index, Ordering::Relaxed);
        }
    }
    outcome.follow.store(report.status, Ordering::Release);
}
