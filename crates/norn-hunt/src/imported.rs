//! Predicts from a trace of another tool, which has names instead of addresses and no program.

use norn_model::{
    Candidate, Event, HeldIndex, Location, LockMode, Op, SiteId, Step, ThreadId, ThreadName, Trace,
};
use norn_predict::{Options, predict};
use norn_report::{Access, HeldLock, Number, Object};
use norn_witness::Witness;

use crate::{
    Omissions, Outlook, Prospect, Schedules, atomic_set,
    describe::{action, described},
    outlook::first_instances,
};

/// Predicts what a trace of another tool allows. Atomic sets are given as lists of variable names.
pub fn imported_outlook(
    trace: &Trace,
    options: &Options,
    atomic_sets: &[Vec<String>],
    schedules: Schedules,
) -> Outlook {
    let name = |addr, _| trace.symbols.name(addr).map(|it| it.0.to_owned());
    let (sets, unknown) = atomic_set::find_in(trace, atomic_sets, name);
    let prediction = predict(trace, &Options { sets, ..options.clone() });
    let thread = |it| thread_name(trace, it);
    let omitted = Omissions {
        events: 0,
        limits: prediction.limits.clone(),
        threads: prediction.skipped.iter().map(|it| thread(*it)).collect(),
        names: unknown,
    };
    let incomplete = prediction.incomplete;
    let all = first_instances(prediction);
    let made = schedules.make(trace, &all);
    let names = Names { trace, held: HeldIndex::new(trace) };
    let prospect =
        |((candidate, remark), witness): ((Candidate, _), Option<Result<Witness, _>>)| {
            let turns = witness.iter().flatten().flat_map(|it| &it.turns);
            let turns = turns.map(|it| (thread(it.thread), it.until)).collect();
            let description = described(&candidate, |step, stuck| names.access(step, stuck));
            Prospect { candidate, remark, description, witness, turns }
        };
    let prospects = all.into_iter().zip(made).map(prospect).collect();
    Outlook { prospects, incomplete, omitted }
}

fn thread_name(trace: &Trace, id: ThreadId) -> ThreadName {
    trace.thread(id).map_or_else(|| ThreadName(id.to_string()), |it| it.name.clone())
}

/// The names of a trace of another tool.
struct Names<'a> {
    trace: &'a Trace,
    held: HeldIndex,
}

impl Names<'_> {
    fn access(&self, step: &Step, stuck: bool) -> Access {
        let event = self.trace.event(step.event);
        let value = event.and_then(|it| match it.op {
            Op::Read { value, .. } | Op::Write { value, .. } => value,
            _ => None,
        });
        let stack: Vec<_> = self.location(step.site).into_iter().collect();
        Access {
            thread: thread_name(self.trace, step.event.thread),
            action: action(event.map(|it| &it.op), step),
            event: None,
            stuck,
            variable: self.operand(event, step.addr),
            value: value.map(Number),
            shown: None,
            frames: stack.clone(),
            stack,
            locks: self.locks(step),
        }
    }

    /// The variable, lock or thread of an event.
    fn operand(&self, event: Option<&Event>, addr: u64) -> Object {
        if let Some(Op::Join(thread)) = event.map(|it| it.op) {
            return Object::named(thread_name(self.trace, thread).0);
        }
        self.object(addr)
    }

    fn object(&self, addr: u64) -> Object {
        let name = self.trace.symbols.name(addr).map(|it| it.0.to_owned());
        Object::named(name.unwrap_or_else(|| format!("{addr:#x}")))
    }

    /// The location of a site, which other tools write as they like: `File.java:12`, or only a number.
    fn location(&self, site: SiteId) -> Option<Location> {
        let site = self.trace.sites.get(usize::try_from(site.0).ok()?)?;
        let place = site.place.as_deref()?;
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) if !file.is_empty() => match line.parse() {
                Ok(line) => (file, Some(line)),
                Err(_) => (place, None),
            },
            _ => (place, None),
        };
        Some(Location { file: Some(file.to_owned()), line, ..Location::default() })
    }

    fn locks(&self, step: &Step) -> Vec<HeldLock> {
        let lock =
            |(lock, mode)| HeldLock { lock: self.object(lock), shared: mode == LockMode::Read };
        self.held.before(step.event).iter().map(lock).collect()
    }
}
