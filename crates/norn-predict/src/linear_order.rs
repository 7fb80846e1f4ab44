//! Linear orders: all orders of a few events that respect a partial order.

use smallvec::SmallVec;

/// An order of events, by their numbers.
pub(crate) type LinearOrder = SmallVec<[usize; 8]>;

/// All orders of the numbers below `count` in which `one` comes before `other` if `precedes(one, other)`.
pub(crate) fn linear_orders(
    count: usize,
    precedes: &dyn Fn(usize, usize) -> bool,
) -> Vec<LinearOrder> {
    let mut found = Vec::new();
    extend(&mut LinearOrder::new(), count, precedes, &mut found);
    found
}

/// Adds the orders that begin with these events.
fn extend(
    order: &mut LinearOrder,
    count: usize,
    precedes: &dyn Fn(usize, usize) -> bool,
    found: &mut Vec<LinearOrder>,
) {
    if order.len() == count {
        found.push(order.clone());
        return;
    }
    let left: LinearOrder = (0..count).filter(|it| !order.contains(it)).collect();
    for &next in &left {
        if left.iter().all(|it| !precedes(*it, next)) {
            order.push(next);
            extend(order, count, precedes, found);
            order.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_event_that_precedes_itself_has_no_order() {
        assert_eq!(linear_orders(3, &|one, other| one < other).len(), 1);
        assert_eq!(linear_orders(3, &|_, _| false).len(), 6);
        assert!(linear_orders(2, &|_, _| true).is_empty());
    }

    proptest! {
        /// Compares them with all sequences of four numbers.
        #[test]
        fn they_are_the_permutations_that_respect_the_relation(
            relation in prop::collection::vec(prop::bool::weighted(0.15), 16),
        ) {
            let precedes = |one: usize, other: usize| one != other && relation[one * 4 + other];
            let sequences = (0..256_usize).map(|number| [0, 2, 4, 6].map(|it| number >> it & 3));
            let is_order = |order: &[usize; 4]| {
                let mut pairs = (0..4).flat_map(|one| (one + 1..4).map(move |other| (one, other)));
                pairs.all(|(one, other)| {
                    order[one] != order[other] && !precedes(order[other], order[one])
                })
            };
            let mut expected: Vec<_> = sequences.filter(is_order).map(|it| it.to_vec()).collect();
            let mut found: Vec<_> =
                linear_orders(4, &precedes).iter().map(|it| it.to_vec()).collect();
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
