//! Event counts of a trace.

use norn_abi::{CODES, Kind};

/// Number of events of a trace, by kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// All events.
    pub events: u64,
    /// Plain reads and writes, including those of blocks.
    pub accesses: u64,
    /// Recorded function calls. They are not events, but form the call stacks.
    pub calls: u64,
    /// Size of the chunks in bytes.
    pub bytes: u64,
    kinds: Vec<u64>,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { events: 0, accesses: 0, calls: 0, bytes: 0, kinds: vec![0; CODES] }
    }
}

impl Counts {
    /// Number of records of a kind.
    pub fn of(&self, kind: Kind) -> u64 {
        self.kinds.get(usize::from(kind.code())).copied().unwrap_or(0)
    }

    /// The kinds that occur, with their numbers.
    pub fn kinds(&self) -> impl Iterator<Item = (Kind, u64)> {
        let kinds = (0..).map(Kind::from_code).zip(self.kinds.iter().copied());
        kinds.filter_map(|(kind, count)| Some((kind?, count)).filter(|it| it.1 > 0))
    }

    /// Counts a record.
    #[inline]
    pub(crate) fn record(&mut self, kind: Kind) {
        if let Some(count) = self.kinds.get_mut(usize::from(kind.code())) {
            *count += 1;
        }
    }

    /// Computes the sums once all records are counted.
    pub(crate) fn sum(&mut self) {
        let all =
            |wanted: fn(Kind) -> bool| self.kinds().filter(|it| wanted(it.0)).map(|it| it.1).sum();
        let (events, accesses) = (all(is_event), all(is_access));
        (self.events, self.accesses, self.calls) = (events, accesses, self.of(Kind::Enter));
    }

    /// Adds the counts of another part.
    pub(crate) fn add(&mut self, other: &Counts) {
        self.events += other.events;
        self.accesses += other.accesses;
        self.calls += other.calls;
        self.bytes += other.bytes;
        self.kinds.iter_mut().zip(&other.kinds).for_each(|(sum, more)| *sum += more);
    }
}

/// Whether a record is an event of its own. Records that complete an event, describe calls or
/// modules, or only state what a thread blocks in, are not.
pub(crate) fn is_event(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Enter
            | Kind::Unwind
            | Kind::Module
            | Kind::HighHalves
            | Kind::Turn
            | Kind::Expired
            | Kind::Futex
            | Kind::CallRest
            | Kind::Name
    )
}

fn is_access(kind: Kind) -> bool {
    kind.as_access().is_some() || matches!(kind, Kind::RangeRead | Kind::RangeWrite)
}
