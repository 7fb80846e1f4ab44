//! Limits of the search for violations, and what it left out because of them.

/// Limits of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchLimits {
    /// Maximum number of events with the same thread and site that are tried for one event of a
    /// linear pattern.
    pub events_per_site: usize,
    /// Maximum number of candidates with the same sites that are kept; the cheapest are kept.
    pub candidates_per_finding: usize,
    /// Of these, the maximum number for one instance.
    pub candidates_per_instance: usize,
    /// Maximum number of search steps per property.
    pub steps: u64,
}

impl Default for SearchLimits {
    fn default() -> SearchLimits {
        SearchLimits {
            events_per_site: 4,
            candidates_per_finding: 32,
            candidates_per_instance: 4,
            steps: 2_000_000,
        }
    }
}

/// What a search left out because it reached a limit. All zero if the search was complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truncation {
    /// Number of events that were not tried, because enough others with the same thread and site
    /// were.
    pub events: u64,
    /// Number of candidates that were dropped for cheaper ones with the same sites.
    pub candidates: u64,
    /// Whether the search ran out of steps.
    pub out_of_steps: bool,
    /// Whether there were more instances than the limit.
    pub too_many_instances: bool,
}

impl Truncation {
    /// Whether the search was incomplete.
    pub fn is_incomplete(&self) -> bool {
        *self != Truncation::default()
    }

    /// Adds what another search left out.
    pub fn add(&mut self, other: Truncation) {
        self.events += other.events;
        self.candidates += other.candidates;
        self.out_of_steps |= other.out_of_steps;
        self.too_many_instances |= other.too_many_instances;
    }
}
