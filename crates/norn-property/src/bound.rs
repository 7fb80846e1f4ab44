//! What a search left out.

/// How much to look for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Events with the same thread and place that are tried for an event of a word.
    pub alike: usize,
    /// Ways to meet a pattern at the same places that are kept, the cheapest ones.
    pub ways: usize,
    /// Of these, those for the same objects.
    pub same: usize,
    /// Steps of the search in one property.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { alike: 4, ways: 32, same: 4, steps: 2_000_000 }
    }
}

/// What a search left out since a limit was met. Nothing if all was looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Choices of an event like others that were tried: same thread, same place.
    pub alike: u64,
    /// Ways to meet the pattern, at places where there were cheaper ones.
    pub ways: u64,
    /// Whether there were no steps left.
    pub steps: bool,
    /// Whether there were more instances than are looked at.
    pub instances: bool,
}

impl Bounds {
    /// Whether any limit was met.
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
