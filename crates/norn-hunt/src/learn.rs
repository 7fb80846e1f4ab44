//! Learns likely invariants from passing runs, and finds the reads of a trace that they are about.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use norn_frontend::{Cancel, Interrupt};
use norn_learn::{Invariant, Learner, Names, Operand, ReadPoint, read_point};
use norn_model::{Condition, CriticalRead, PotentialFailure, PotentialFailureKind, SiteId};
use norn_replay::ReplayError;

use crate::{
    Options,
    campaign::Executor as _,
    executor::{LocalExecutor, Plan},
    source::{Loading, Source},
};

/// Timeout of a run if the user gives none.
const LONGEST: Duration = Duration::from_mins(2);

/// What was learnt.
#[derive(Debug, Default)]
pub struct Learnt {
    /// The invariants, the best supported first.
    pub invariants: Vec<Invariant>,
    /// Number of runs that passed: only these count.
    pub passed: usize,
    /// Number of runs that failed.
    pub failed: usize,
    /// Whether the program recorded any events.
    pub recorded: bool,
}

/// Learns from a number of runs under varied schedules.
pub fn learn(
    options: &Options,
    scratch: &Path,
    runs: usize,
    progress: &dyn Fn(usize),
) -> Result<Learnt, ReplayError> {
    let _watch = Interrupt::watch();
    let timeout = options.launch.timeout.unwrap_or(LONGEST);
    let executor = LocalExecutor::new(options.limited(timeout), scratch);
    let mut learner = Learner::default();
    let mut learnt = Learnt::default();
    let mut events = 0;
    for number in 0..runs {
        if Interrupt::is_stopped() {
            break;
        }
        let run = executor.run(&Plan::Explore(number, events), &Cancel::default())?;
        learnt.recorded |= run.process().is_some();
        match run.passed_trace()? {
            Some(symbolized) => {
                events = symbolized.trace.counts().events;
                let source = Source::new(symbolized, Loading::Relevant);
                learner.add(&source.trace, &SourceNames(&source));
                learnt.passed += 1;
            }
            None => learnt.failed += usize::from(run.consequence().is_failure()),
        }
        progress(number + 1);
    }
    learnt.invariants = learner.invariants();
    Ok(learnt)
}

/// The names of a trace.
struct SourceNames<'a>(&'a Source);

impl Names for SourceNames<'_> {
    /// The function with its file and line, in the program itself if it was inlined there.
    fn place(&self, site: SiteId) -> Option<String> {
        let trace = &self.0.symbolized;
        let location = crate::danger::location(self.0, trace.trace.site(site)?.pc)?;
        let (function, file) = (location.function.as_deref()?, location.file.as_deref()?);
        let name = file.rsplit('/').next().unwrap_or(file);
        Some(format!("{function} {name}:{}", location.line?))
    }

    fn variable(&self, addr: u64, size: u64) -> Option<String> {
        self.0.symbolized.symbols.variable(addr, size).map(|it| it.name)
    }
}

/// Invariants as failure sites of a trace: each read that an invariant is about, with the condition under
/// which it is broken.
pub(crate) fn failures(
    source: &Source,
    invariants: &[Invariant],
) -> Vec<(PotentialFailure, Condition)> {
    if invariants.is_empty() {
        return Vec::new();
    }
    let operands = operands(source, invariants);
    let of = |it: &ReadPoint| operands.get(it).into_iter().flatten().copied();
    let mut all = Vec::new();
    for it in invariants {
        let other = it.property.other().and_then(|it| of(it).next());
        for operand in of(&it.point) {
            let read = |it: Operand| CriticalRead { pc: it.pc, distance: 1, chain: Vec::new() };
            let failure = PotentialFailure {
                kind: PotentialFailureKind::Invariant,
                pc: operand.pc,
                reads: [operand].into_iter().chain(other).map(read).collect(),
            };
            all.push((failure, it.property.broken(operand, other)));
        }
    }
    all
}

/// The instructions of a trace that read at the points of invariants.
fn operands(source: &Source, invariants: &[Invariant]) -> BTreeMap<ReadPoint, Vec<Operand>> {
    let points = invariants.iter().flat_map(|it| [Some(&it.point), it.property.other()]);
    let points: BTreeSet<&ReadPoint> = points.flatten().collect();
    let names = SourceNames(source);
    let mut sites: BTreeSet<SiteId> = BTreeSet::new();
    let mut found: BTreeMap<ReadPoint, Vec<Operand>> = BTreeMap::new();
    for event in source.trace.threads.iter().flat_map(|it| &it.events) {
        let Some(access) = event.op.access().filter(|it| it.read.is_some()) else { continue };
        // An instruction reads one variable, or elements of one array.
        if !sites.insert(event.site) {
            continue;
        }
        let point = read_point(event.site, &access, &names).filter(|it| points.contains(it));
        let pc = source.symbolized.trace.site(event.site).map(|it| it.pc);
        let bits = u8::try_from(access.size.saturating_mul(8)).ok();
        if let (Some(point), Some(pc), Some(bits)) = (point, pc, bits) {
            found.entry(point).or_default().push(Operand { pc, bits });
        }
    }
    found
}
