//! Memory in which the program declares data races benign, by `AnnotateBenignRaceSized`.
//!
//! The runtime records the annotation as a mark whose name has the size: `norn:benign-race:8`. As in
//! ThreadSanitizer, it is about data races alone: other bugs in that memory are still searched for.

use norn_model::{BugClass, Candidate, Op, Trace};

/// The beginning of the name of such a mark.
const MARK: &str = "norn:benign-race:";

/// Memory in which data races are benign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BenignMemory {
    /// Start and end of each range.
    ranges: Vec<(u64, u64)>,
}

impl BenignMemory {
    pub(crate) fn new(trace: &Trace) -> BenignMemory {
        let events = trace.threads.iter().flat_map(|it| &it.events);
        let ranges = events.filter_map(|it| {
            let Op::Mark { name, object } = it.op else { return None };
            let size: u64 = trace.names.name(name).strip_prefix(MARK)?.parse().ok()?;
            Some((object, object.saturating_add(size)))
        });
        BenignMemory { ranges: ranges.collect() }
    }

    /// Whether a candidate is a data race in this memory.
    pub(crate) fn excuses(&self, candidate: &Candidate) -> bool {
        let is_inside = |addr: u64| self.ranges.iter().any(|it| (it.0..it.1).contains(&addr));
        candidate.kind.class() == BugClass::Race
            && candidate.steps.iter().all(|it| is_inside(it.addr))
    }
}

#[cfg(test)]
mod tests {
    use norn_model::text;

    use crate::{Options, predict};

    fn races(trace: &str) -> usize {
        let trace = text::parse(trace).unwrap();
        let candidates = predict(&trace, &Options::default()).candidates;
        candidates.iter().filter(|it| it.kind.class() == norn_model::BugClass::Race).count()
    }

    #[test]
    fn races_in_annotated_memory_are_left_out() {
        let accesses = "T1 w x:4\nT2 w x:4\nT1 w y:4\nT2 w y:4\n";
        assert_eq!(races(accesses), 4);
        assert_eq!(races(&format!("T1 mark norn:benign-race:4 x\n{accesses}")), 2);
        assert_eq!(races(&format!("T1 mark norn:benign-race:0 x\n{accesses}")), 4);
        assert_eq!(races(&format!("T1 mark benign x\n{accesses}")), 4);
    }
}
