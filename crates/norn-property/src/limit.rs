//! Limits of the search for violations, and what it left out because of them.

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Events with the same thread and site that are tried for one event of a linear pattern.
    pub alike: usize,
    /// Candidates at the same sites that are kept, the cheapest ones.
    pub ways: usize,
    /// Of these, candidates for the same objects.
    pub same: usize,
    /// Steps of the search for one property.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { alike: 4, ways: 32, same: 4, steps: 2_000_000 }
    }
}

/// What a search left out because it reached a limit. All zero if the search was complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Events that were not tried, since others with the same thread and site were.
    pub alike: u64,
    /// Candidates that were dropped for cheaper ones at the same sites.
    pub ways: u64,
    /// Whether the search ran out of steps.
    pub steps: bool,
    /// Whether there were more instances than the limit.
    pub instances: bool,
}

impl Bounds {
    /// Whether the search was incomplete.
    pub fn is_met(&self) -> bool {
        *self != Bounds::default()
    }

    /// Adds what another search left out.
    pub fn add(&mut self, other: Bounds) {
        self.alike += other.alike;
        self.ways += other.ways;
        self.steps |= other.steps;
        self.instances |= other.instances;
    }
}
