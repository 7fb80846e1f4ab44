//! Matches patterns of any length and any number of threads, regions and variables.
//!
//! The accesses of a pattern are chosen one after another, each among the representatives of its
//! variable, and a choice is dropped as soon as order or locks exclude the rest. The number of
//! steps is limited; the result states whether the limit was reached.

use norn_model::{BugClass, Scope};

use crate::{access::Touch, facts::SyncFacts, pattern::Pattern};

/// Maximum number of steps of one search.
const STEPS: u32 = 2_000_000;
/// Maximum number of matches of one search.
const WAYS: usize = 1_000;

/// All matches of a pattern, and whether there may be more.
pub(crate) fn search(
    sync: SyncFacts<'_>,
    pattern: &Pattern,
    variables: &[Vec<Touch>],
) -> (Vec<(Scope, Vec<Touch>)>, bool) {
    let mut search = Search {
        sync,
        pattern,
        variables,
        chosen: Vec::new(),
        bound: vec![None; pattern.variables()],
        steps: 0,
        found: Vec::new(),
    };
    search.extend();
    let more = search.is_over();
    (search.found, more)
}

struct Search<'a> {
    sync: SyncFacts<'a>,
    pattern: &'a Pattern,
    /// Representative accesses, by variable.
    variables: &'a [Vec<Touch>],
    chosen: Vec<Touch>,
    /// By variable of the pattern: the variable bound to it.
    bound: Vec<Option<usize>>,
    steps: u32,
    found: Vec<(Scope, Vec<Touch>)>,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.steps >= STEPS || self.found.len() >= WAYS
    }

    fn extend(&mut self) {
        let Some(slot) = self.pattern.slots.get(self.chosen.len()).copied() else {
            self.found.push((self.scope(), self.chosen.clone()));
            return;
        };
        if let Some(at) = self.bound[slot.variable] {
            return self.extend_with(at);
        }
        for at in 0..self.variables.len() {
            if !self.bound.contains(&Some(at)) {
                self.bound[slot.variable] = Some(at);
                self.extend_with(at);
                self.bound[slot.variable] = None;
            }
        }
    }

    fn extend_with(&mut self, variable: usize) {
        for touch in &self.variables[variable] {
            self.steps += 1;
            if self.is_over() {
                return;
            }
            if self.may_follow(touch) {
                self.chosen.push(*touch);
                self.extend();
                self.chosen.pop();
            }
        }
    }

    fn may_follow(&self, touch: &Touch) -> bool {
        let slot = self.pattern.slots[self.chosen.len()];
        touch.kind.is(slot.action)
            && self.pattern.slots.iter().zip(&self.chosen).all(|(before, it)| {
                let same_thread = before.thread == slot.thread;
                (it.thread == touch.thread) == same_thread
                    && (before.variable != slot.variable || it.overlaps(touch))
                    && (!same_thread || it.index < touch.index)
                    && (before.region != slot.region
                        || self.sync.regions.scope(it, touch).is_some())
                    && (same_thread || self.is_free(it, touch))
            })
            && self.lets_in(touch)
    }

    /// Whether the later access is not ordered before the earlier one. Two atomic accesses are not
    /// a race.
    fn is_free(&self, earlier: &Touch, later: &Touch) -> bool {
        let atomic = earlier.kind.is_atomic() && later.kind.is_atomic();
        let any = earlier.kind.is_atomic() || later.kind.is_atomic();
        let order = self.sync.orders[usize::from(any)];
        let forced = later.index >= order.after(earlier.thread, earlier.index, later.thread);
        later.index >= order.before(earlier.thread, earlier.index, later.thread)
            && !(self.pattern.adjacent && forced)
            && !(atomic && self.pattern.class() == BugClass::Race)
            && !(self.pattern.adjacent && self.sync.sets.exclude(earlier.set, later.set))
    }

    /// Whether the locks between the thread's last access and this one permit the accesses in
    /// between.
    fn lets_in(&self, touch: &Touch) -> bool {
        let last = self.chosen.iter().rposition(|it| it.thread == touch.thread);
        let Some(last) = last else { return true };
        let first = &self.chosen[last];
        if first.section != touch.section {
            return true;
        }
        let outline = &self.sync.outlines[usize::from(touch.thread)];
        let gap = self.sync.sets.smallest(outline, first.index, touch.index);
        self.chosen[last + 1..].iter().all(|it| !self.sync.sets.exclude(gap, it.set))
    }

    /// The weakest reason why accesses belong together.
    fn scope(&self) -> Scope {
        let slots = &self.pattern.slots;
        let pairs = (0..slots.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let same = pairs.filter(|(i, j)| slots[*i].region == slots[*j].region);
        let scopes =
            same.filter_map(|(i, j)| self.sync.regions.scope(&self.chosen[i], &self.chosen[j]));
        scopes.max().unwrap_or(Scope::Single)
    }
}
