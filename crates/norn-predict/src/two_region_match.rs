//! Patterns of two regions of two threads: decides whether order and locks permit the interleaving
//! of the pattern.
//!
//! The conditions are those of the hybrid model of Huang and Zhang (ISSTA 2011): the pattern does
//! not contradict the happens-before order, and a thread that comes between two accesses of a unit
//! holds no lock that is held all the time between them. Their first algorithm is printed with the
//! test of the lock sets reversed, and their second with a triple in the wrong order.

use crate::{
    lockset::LockSets,
    order::Order,
    pattern::{Action, Pattern},
    unit::{Class, Share},
};

/// A pattern of two units with one or two accesses each.
#[derive(Clone, Debug)]
pub(crate) struct TwoRegionPattern {
    /// The index of the pattern.
    pub(crate) pattern: u16,
    /// By unit: the positions of its accesses in the pattern.
    pub(crate) places: [Vec<usize>; 2],
    actions: [Vec<Action>; 2],
    variables: [Vec<usize>; 2],
    adjacent: bool,
    race: bool,
    /// Whether it frees memory.
    pub(crate) frees: bool,
    /// Number of variables.
    pub(crate) width: usize,
}

impl TwoRegionPattern {
    /// `None` if the pattern has another form.
    pub(crate) fn new(number: usize, pattern: &Pattern) -> Option<TwoRegionPattern> {
        let places = [0, 1].map(|unit| pattern.unit(unit).collect::<Vec<_>>());
        let simple = pattern.regions() == 2 && pattern.threads() == 2;
        let short = places.iter().all(|it| (1..=2).contains(&it.len()));
        let width = pattern.variables();
        let slot = |at: &usize| pattern.slots[*at];
        let variables = places.each_ref().map(|it| it.iter().map(|at| slot(at).variable).collect());
        let crosses = |it: &Vec<usize>| it.len() == 2 && it[0] != it[1];
        let fits = width == 1 || width == 2 && variables.iter().all(crosses);
        (simple && short && fits).then(|| TwoRegionPattern {
            pattern: u16::try_from(number).unwrap_or(u16::MAX),
            actions: places.each_ref().map(|it| it.iter().map(|at| slot(at).action).collect()),
            variables,
            places,
            adjacent: pattern.adjacent,
            race: pattern.class() == norn_model::BugClass::Race,
            frees: pattern.frees(),
            width,
        })
    }

    /// Whether its accesses must follow each other directly.
    pub(crate) fn is_adjacent(&self) -> bool {
        self.adjacent
    }

    /// Whether an access of the other unit comes between two of this one.
    pub(crate) fn splits(&self, unit: usize) -> bool {
        let (outer, inner) = (&self.places[unit], &self.places[1 - unit]);
        let ends = outer.first().zip(outer.last());
        ends.is_some_and(|(first, last)| inner.iter().any(|it| first < it && it < last))
    }

    /// Whether units of this class match a unit of the pattern.
    #[inline]
    pub(crate) fn takes(&self, unit: usize, class: &Class) -> bool {
        let actions = &self.actions[unit];
        let single = class.scope == norn_model::Scope::Single;
        single == (actions.len() == 1)
            && actions.iter().zip(&class.touches).all(|(action, it)| it.kind.is(*action))
    }

    /// Whether the accesses overlap in memory, and the locks permit the interleaving of the
    /// classes.
    pub(crate) fn fits(&self, sets: &LockSets, classes: [&Class; 2]) -> bool {
        let atomic = classes.iter().all(|it| it.touches[0].kind.is_atomic());
        self.overlap(classes)
            && !(self.race && atomic)
            && self.lets_in(sets, classes, 0)
            && self.lets_in(sets, classes, 1)
    }

    /// Accesses to one variable must have bytes in common.
    fn overlap(&self, [one, other]: [&Class; 2]) -> bool {
        self.variables[0].iter().zip(&one.touches).all(|(variable, a)| {
            let theirs = self.variables[1].iter().zip(&other.touches);
            theirs.filter(|(it, _)| *it == variable).all(|(_, b)| a.overlaps(b))
        })
    }

    /// Whether the locks of one unit permit the accesses in between. If all accesses must be
    /// adjacent, all locks are held together.
    fn lets_in(&self, sets: &LockSets, classes: [&Class; 2], outer: usize) -> bool {
        let (outside, inside) = (classes[outer], classes[1 - outer]);
        let (first, last) =
            (self.places[outer][0], self.places[outer][self.places[outer].len() - 1]);
        let places = self.places[1 - outer].iter().zip(&inside.touches);
        places.into_iter().all(|(place, it)| {
            let between = first < *place && *place < last;
            let excluded = sets.exclude(outside.gap, it.set);
            !(excluded && (between || self.adjacent))
        })
    }

    /// The first members of the second share that can be ordered with this member of the first as
    /// the pattern requires, regardless of locks. Accesses that must be adjacent must not be
    /// ordered at all.
    pub(crate) fn instance(
        &self,
        order: &Order,
        shares: [&Share; 2],
        a: [u32; 2],
    ) -> Option<[u32; 2]> {
        let [one, other] = [shares[0].thread, shares[1].thread];
        let members = &shares[1].members;
        let too_early = |b: &[u32; 2]| {
            let mut pairs = self.pairs().filter(|(_, _, first)| *first || self.adjacent);
            pairs.any(|(i, j, _)| b[j] < order.before(one, a[i], other))
        };
        let b = *members.get(members.partition_point(too_early))?;
        let mut pairs = self.pairs().filter(|(_, _, first)| !*first || self.adjacent);
        pairs.all(|(i, j, _)| b[j] < order.after(one, a[i], other)).then_some(b)
    }

    /// Whether an order contradicts the order of the pattern for these members.
    pub(crate) fn contradicts(
        &self,
        order: &Order,
        [one, other]: [u16; 2],
        [a, b]: [[u32; 2]; 2],
    ) -> bool {
        self.pairs().any(|(i, j, first)| {
            (first || self.adjacent) && b[j] < order.before(one, a[i], other)
                || (!first || self.adjacent) && b[j] >= order.after(one, a[i], other)
        })
    }

    /// All pairs of accesses of the two units, and whether the first unit's comes first.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, bool)> {
        let [ones, others] = &self.places;
        ones.iter().enumerate().flat_map(move |(i, one)| {
            others.iter().enumerate().map(move |(j, other)| (i, j, one < other))
        })
    }
}

/// Whether common locks exclude each access of one class from each of the other.
pub(crate) fn are_guarded(sets: &LockSets, [one, other]: [&Class; 2]) -> bool {
    let excludes = |set: u32| other.touches.iter().all(|it| sets.exclude(set, it.set));
    one.touches.iter().all(|it| excludes(it.set))
}
