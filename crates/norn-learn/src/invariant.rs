//! Likely invariants, and the conditions under which they are broken.

use norn_model::{Comparison, Condition, Expression};

/// A place where a shared variable is read, the same in every run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadPoint {
    /// The variable. Elements of an array are `name[]`.
    pub variable: String,
    /// The place in the source: `report progress.c:37`.
    pub place: String,
}

/// What held at a read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// The variable had this value.
    Constant(i64),
    /// It had one of these values.
    OneOf(Vec<i64>),
    /// It was at least the first and at most the second number.
    Range(i64, i64),
    /// It was not zero.
    NonZero,
    /// It was equal to another variable that was read with it.
    Equal(ReadPoint),
    /// It was at most another variable that was read with it.
    AtMost(ReadPoint),
    /// It was the sum of the elements of an array that were read with it.
    Sum(ReadPoint),
    /// For each thread, it changed in one direction only.
    Monotone(Direction),
}

/// The direction in which a variable changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// It never decreases.
    Up,
    /// It never increases.
    Down,
}

/// How often something was seen to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Support {
    /// Number of runs.
    pub runs: u64,
    /// Number of reads in these runs.
    pub reads: u64,
}

/// A likely invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The read.
    pub point: ReadPoint,
    /// What held there.
    pub property: Property,
    /// How often. Nothing is known of an invariant that a user wrote.
    pub support: Support,
}

/// A read in the conditions of a program: the address of its instruction and its size in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The address of the instruction.
    pub pc: u64,
    /// The size of what it reads.
    pub bits: u8,
}

impl Operand {
    fn value(self) -> Expression {
        Expression::Signed(self.bits, Box::new(Expression::Read(self.pc)))
    }
}

impl Property {
    /// The other read that it is about.
    pub fn other(&self) -> Option<&ReadPoint> {
        match self {
            Property::Equal(other) | Property::AtMost(other) | Property::Sum(other) => Some(other),
            Property::Constant(_)
            | Property::OneOf(_)
            | Property::Range(..)
            | Property::NonZero
            | Property::Monotone(_) => None,
        }
    }

    /// When it is broken. Of a sum, which has several reads of one instruction, only changes are known:
    /// if it held before, it holds as long as both sides change alike.
    pub fn broken(&self, point: Operand, other: Option<Operand>) -> Condition {
        let number = |it: i64| Expression::Constant(it.cast_unsigned());
        let compare = |how, left, right| Condition::Compare(how, 64, left, right);
        let is = |it: i64| compare(Comparison::Equal, point.value(), number(it));
        match self {
            Property::Constant(value) => is(*value).negated(),
            Property::OneOf(values) => {
                Condition::Any(values.iter().map(|it| is(*it)).collect()).negated()
            }
            Property::Range(low, high) => Condition::Any(vec![
                compare(Comparison::Less, point.value(), number(*low)),
                compare(Comparison::Less, number(*high), point.value()),
            ]),
            Property::NonZero => is(0),
            Property::Equal(_) => other.map_or(Condition::Unknown, |it| {
                compare(Comparison::Equal, point.value(), it.value()).negated()
            }),
            Property::AtMost(_) => other.map_or(Condition::Unknown, |it| {
                compare(Comparison::Less, it.value(), point.value())
            }),
            Property::Sum(_) => other.map_or(Condition::Unknown, |it| {
                let [total, parts] = [point, it].map(|it| Expression::Change(it.pc));
                Condition::Compare(Comparison::Equal, point.bits, total, parts).negated()
            }),
            Property::Monotone(direction) => {
                let [before, after] = [Expression::Previous(point.pc), Expression::Next(point.pc)];
                let decreases =
                    |from, to| Condition::Compare(Comparison::Less, point.bits, to, from);
                let now = || Expression::Read(point.pc);
                Condition::Any(match direction {
                    Direction::Up => vec![decreases(before, now()), decreases(now(), after)],
                    Direction::Down => vec![decreases(now(), before), decreases(after, now())],
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use norn_model::ReadValues;

    use super::*;

    /// Whether a property of a 32-bit variable is broken by a value, while the other variable is 10.
    fn is_broken(property: &Property, value: i32) -> Option<bool> {
        let (point, other) = (Operand { pc: 1, bits: 32 }, Operand { pc: 2, bits: 32 });
        let read = |pc| Some(if pc == 1 { u64::from(value.cast_unsigned()) } else { 10 });
        property.broken(point, Some(other)).evaluate(&read)
    }

    #[test]
    fn conditions_say_which_values_break_a_property() {
        let other = || ReadPoint { variable: "y".to_owned(), place: "f".to_owned() };
        let broken = |property: Property, values: &[i32]| {
            let mut all = (-20..20).filter(|it| is_broken(&property, *it) == Some(true));
            assert_eq!(all.by_ref().collect::<Vec<_>>(), values, "{property:?}");
        };
        broken(Property::NonZero, &[0]);
        broken(Property::Range(-19, 18), &[-20, 19]);
        broken(Property::AtMost(other()), &[11, 12, 13, 14, 15, 16, 17, 18, 19]);
        let all_but = |it: &[i32]| (-20..20).filter(|at| !it.contains(at)).collect::<Vec<_>>();
        broken(Property::Constant(-3), &all_but(&[-3]));
        broken(Property::OneOf(vec![-1, 4]), &all_but(&[-1, 4]));
        broken(Property::Equal(other()), &all_but(&[10]));
    }

    /// A total of 10 and its parts, and reads of 4 and 6 before and after it.
    struct Reads {
        total: u64,
        parts: u64,
    }

    impl ReadValues for Reads {
        fn value(&self, site: u64) -> Option<u64> {
            Some(if site == 1 { self.total } else { self.parts })
        }

        fn change(&self, site: u64) -> Option<u64> {
            Some(self.value(site)?.wrapping_sub(10))
        }

        fn previous(&self, _site: u64) -> Option<u64> {
            Some(4)
        }

        fn next(&self, _site: u64) -> Option<u64> {
            Some(6)
        }
    }

    #[test]
    fn a_sum_is_broken_unless_both_sides_change_alike() {
        let (point, other) = (Operand { pc: 1, bits: 32 }, Operand { pc: 2, bits: 32 });
        let array = ReadPoint { variable: "a[]".to_owned(), place: "f".to_owned() };
        let condition = Property::Sum(array).broken(point, Some(other));
        let broken = |total, parts| condition.evaluate(&Reads { total, parts });
        assert_eq!(broken(10, 10), Some(false));
        assert_eq!(broken(10, 7), Some(true));
        assert_eq!(broken(9, 10), Some(true));
        assert_eq!(broken(13, 13), Some(false));
    }

    #[test]
    fn a_direction_is_broken_by_what_came_before_or_after() {
        let point = Operand { pc: 1, bits: 32 };
        let broken = |direction, total| {
            let condition = Property::Monotone(direction).broken(point, None);
            condition.evaluate(&Reads { total, parts: 0 })
        };
        let up = [3, 4, 6, 7].map(|it| broken(Direction::Up, it));
        assert_eq!(up, [Some(true), Some(false), Some(false), Some(true)]);
        let negative = u64::from((-1_i32).cast_unsigned());
        assert_eq!(broken(Direction::Up, negative), Some(true));
        assert_eq!(broken(Direction::Down, 5), Some(true));
    }
}
