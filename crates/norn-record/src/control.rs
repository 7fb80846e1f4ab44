//! The plan that a controlled run gives to the runtime, and the outcome that the runtime reports.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire};

use norn_abi::{
    arena::{MODULES, NAMES, POINTS, SEGMENTS},
    control::{self, Module, Name, Plan, Point, Segment},
    input::{FEED, KEEP, ROOM},
};
use norn_trace::{
    Controlled, Fed, Follow, Found, Left, MemoryError, MemoryModel, Outcome, Signal, Strategy, Why,
};

use crate::{Feed, input};

/// A plan, and the tables of the schedule that it follows.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// The plan itself. Its table sizes are filled in here.
    pub plan: Plan,
    /// The threads of the schedule.
    pub names: Vec<Name>,
    /// The modules in which it has points.
    pub modules: Vec<Module>,
    /// Its points.
    pub points: Vec<Point>,
    /// Its segments.
    pub segments: Vec<Segment>,
    /// The inputs that are fed back, by thread.
    pub inputs: Vec<Feed>,
}

impl Control {
    /// The first table that does not fit into the shared memory: its size, its name, and the limit.
    pub(crate) fn excess(&self) -> Option<(usize, &'static str, usize)> {
        let tables = [
            (self.names.len(), "threads", NAMES),
            (self.modules.len(), "modules", MODULES),
            (self.points.len(), "points", POINTS),
            (self.segments.len(), "segments", SEGMENTS),
            (input::encode(&self.inputs).len(), "bytes of inputs", ROOM),
        ];
        tables.into_iter().find(|&(count, _, most)| count > most)
    }

    /// The plan with the sizes of the tables, which [`Control::excess`] has checked.
    pub(crate) fn plan(&self, keep_inputs: bool) -> Plan {
        let feed = if self.inputs.is_empty() { 0 } else { FEED };
        let count = |count: usize| u32::try_from(count).unwrap_or(0);
        Plan {
            names: count(self.names.len()),
            modules: count(self.modules.len()),
            points: count(self.points.len()),
            segments: count(self.segments.len()),
            inputs: feed | if keep_inputs { KEEP } else { 0 },
            ..self.plan
        }
    }

    /// The part of the description of the run that is about control.
    pub(crate) fn describe(&self, same_layout: bool, outcome: Outcome) -> Controlled {
        let Plan { seed, depth, quantum, expected, process, max_steps, .. } = self.plan;
        let Plan { realtime, monotonic, .. } = self.plan;
        Controlled {
            strategy: Strategy::from_code(self.plan.strategy),
            seed,
            depth,
            quantum,
            expected,
            process,
            max_steps,
            realtime,
            monotonic,
            memory: MemoryModel::from_code(self.plan.memory),
            same_layout,
            outcome,
        }
    }
}

fn get(field: &AtomicU32) -> u32 {
    field.load(Acquire)
}

fn long(field: &AtomicU64) -> u64 {
    field.load(Acquire)
}

/// The outcome that the runtime wrote. Unknown codes are ignored, since the subject may have
/// overwritten them.
pub(crate) fn read(from: &control::Outcome, fed: Option<Fed>) -> Outcome {
    Outcome {
        found: Found::from_code(get(&from.verdict)),
        thread: get(&from.thread),
        process: get(&from.process),
        follow: Follow::from_code(get(&from.follow)),
        segments: get(&from.segment),
        left: left(from),
        memory: memory(from),
        signal: signal(from),
        steps: long(&from.steps),
        switches: long(&from.switches),
        away: long(&from.away),
        inputs: long(&from.inputs),
        older: long(&from.older),
        process_ids: long(&from.process_ids),
        text: text(from),
        fed,
    }
}

fn left(from: &control::Outcome) -> Option<Left> {
    (get(&from.why) != 0).then(|| Left {
        thread: get(&from.left_by),
        why: Why::from_code(get(&from.why)),
        kind: u16::try_from(get(&from.kind)).unwrap_or(0),
        pc: long(&from.pc),
        object: long(&from.object),
        index: long(&from.index),
    })
}

fn memory(from: &control::Outcome) -> Option<MemoryError> {
    use control::verdict::{DEADLOCK, LIVELOCK, NONE, STEPS, STOPPED};
    let others = [NONE, DEADLOCK, LIVELOCK, STEPS, STOPPED];
    (!others.contains(&get(&from.verdict))).then(|| MemoryError {
        pc: long(&from.error_pc),
        addr: long(&from.error_addr),
        block: long(&from.block),
    })
}

fn signal(from: &control::Outcome) -> Option<Signal> {
    let number = i32::try_from(get(&from.signal)).ok().filter(|&it| it != 0)?;
    Some(Signal {
        number,
        thread: get(&from.signal_thread),
        pc: long(&from.signal_pc),
        addr: long(&from.signal_addr),
    })
}

fn text(from: &control::Outcome) -> Option<String> {
    let len = (get(&from.text_len) as usize).min(from.text.len());
    (len > 0).then(|| String::from_utf8_lossy(&from.text[..len]).into_owned())
}
