//! Minimal sets: of some elements, the sets of two or more that have a property which no smaller set of the same
//! elements has.
//!
//! Sets are enumerated by their size. The property need not be monotone: a set that contains one that was found is left out.

use smallvec::SmallVec;

/// A set of elements, by their indices in ascending order.
pub(crate) type ElementSet = SmallVec<[usize; 4]>;

/// A search for minimal sets.
pub(crate) struct MinimalSets<'a> {
    /// Number of elements.
    pub(crate) count: usize,
    /// Maximum size of a set.
    pub(crate) most: usize,
    /// Maximum number of sets whose property is evaluated. What is left out is the largest.
    pub(crate) budget: usize,
    /// Whether two elements, in ascending order, can be in one set.
    pub(crate) agree: &'a dyn Fn(usize, usize) -> bool,
    /// Whether a set has the property.
    pub(crate) has: &'a dyn Fn(&[usize]) -> bool,
}

impl MinimalSets<'_> {
    pub(crate) fn find(mut self) -> Vec<ElementSet> {
        let mut found = Vec::new();
        for size in 2..=self.most.min(self.count) {
            self.extend(&mut ElementSet::new(), size, &mut found);
        }
        found
    }

    /// Finds the sets of a size that begin with these elements.
    fn extend(&mut self, set: &mut ElementSet, size: usize, found: &mut Vec<ElementSet>) {
        if set.len() == size {
            let contains = |it: &ElementSet| it.iter().all(|it| set.contains(it));
            if self.budget > 0 && !found.iter().any(contains) {
                self.budget -= 1;
                if (self.has)(set) {
                    found.push(set.clone());
                }
            }
            return;
        }
        for next in set.last().map_or(0, |it| it + 1)..self.count {
            if self.budget > 0 && set.iter().all(|it| (self.agree)(*it, next)) {
                set.push(next);
                self.extend(set, size, found);
                set.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COUNT: usize = 6;

    fn search<'a>(
        budget: usize,
        agree: &'a dyn Fn(usize, usize) -> bool,
        has: &'a dyn Fn(&[usize]) -> bool,
    ) -> Vec<Vec<usize>> {
        let found = MinimalSets { count: COUNT, most: 4, budget, agree, has }.find();
        found.into_iter().map(|it| it.to_vec()).collect()
    }

    #[test]
    fn the_smallest_sets_come_first_and_hide_larger_ones() {
        let has = |it: &[usize]| {
            let all = |wanted: &[usize]| wanted.iter().all(|one| it.contains(one));
            all(&[1, 2, 3]) || all(&[0, 5])
        };
        assert_eq!(search(1000, &|_, _| true, &has), [vec![0, 5], vec![1, 2, 3]]);
        assert_eq!(search(1000, &|one, other| (one, other) != (0, 5), &has), [vec![1, 2, 3]]);
        // There are 15 pairs.
        assert_eq!(search(15, &|_, _| true, &has), [vec![0, 5]]);
    }

    fn bits(set: &[usize]) -> usize {
        set.iter().map(|it| 1 << it).sum()
    }

    proptest! {
        /// Compares the search with all sets, for any property and any elements that exclude each other.
        #[test]
        fn all_minimal_sets_are_found(
            property in prop::collection::vec(prop::bool::weighted(0.2), 1 << COUNT),
            apart in prop::collection::vec(prop::bool::weighted(0.2), COUNT * COUNT),
        ) {
            let agree = |one: usize, other: usize| !apart[one * COUNT + other];
            let has = |set: &[usize]| property[bits(set)];
            let found = search(usize::MAX, &agree, &has);
            let fits = |set: usize| {
                let all: Vec<_> = (0..COUNT).filter(|it| set >> it & 1 == 1).collect();
                let is_pair = |(at, one): (usize, &usize)| all[at + 1..].iter().all(|it| agree(*one, *it));
                (2..=4).contains(&all.len()) && all.iter().enumerate().all(is_pair) && property[set]
            };
            let is_minimal = |set: &usize| {
                fits(*set) && !(1..*set).any(|it| it & set == it && fits(it))
            };
            let mut expected: Vec<usize> = (0..1 << COUNT).filter(is_minimal).collect();
            let mut found: Vec<usize> = found.iter().map(|it| bits(it)).collect();
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
