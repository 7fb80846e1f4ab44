//! The condition under which a failure site fails: comparisons of values that are computed from reads.
//!
//! Evaluation is three-valued: what is not known stays unknown unless the rest decides.

use serde::{Deserialize, Serialize};

/// A condition on the values of reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Nothing is known of it.
    Unknown,
    /// It always or never holds.
    Known(bool),
    /// A comparison of the lowest bits of two values.
    Compare(Comparison, u8, Expression, Expression),
    /// The opposite of a condition.
    Not(Box<Condition>),
    /// All of these conditions hold.
    All(Vec<Condition>),
    /// One of these conditions holds.
    Any(Vec<Condition>),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// They are equal.
    Equal,
    /// The first one is less, as signed numbers.
    Less,
    /// The first one is less, as unsigned numbers.
    Below,
}

/// A value that is computed from reads, modulo 2⁶⁴.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expression {
    /// Nothing is known of it.
    Unknown,
    /// A constant.
    Constant(u64),
    /// What the read at a site saw.
    Read(u64),
    /// What it saw minus what it saw in the recorded run.
    Change(u64),
    /// What the same thread saw there before, of the same memory; what it saw now if it did not read before.
    Previous(u64),
    /// What the same thread saw there next, of the same memory; what it saw now if it did not read again.
    Next(u64),
    /// The result of the function at an address.
    Result(u64),
    /// Two values combined.
    Binary(Operator, Box<(Expression, Expression)>),
    /// The lowest bits of a value as an unsigned number.
    Unsigned(u8, Box<Expression>),
    /// The lowest bits of a value as a signed number.
    Signed(u8, Box<Expression>),
    /// 1 if a condition holds, 0 otherwise.
    Truth(Box<Condition>),
}

/// An operation on two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operator {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift to the left.
    ShiftLeft,
    /// Shift to the right, filled with zeros.
    ShiftRight,
}

/// What the reads at sites saw; `None` if that is not known. A function knows only the values themselves.
pub trait ReadValues {
    /// What a read saw.
    fn value(&self, site: u64) -> Option<u64>;

    /// The value of [`Expression::Change`].
    fn change(&self, _site: u64) -> Option<u64> {
        None
    }

    /// The value of [`Expression::Previous`].
    fn previous(&self, _site: u64) -> Option<u64> {
        None
    }

    /// The value of [`Expression::Next`].
    fn next(&self, _site: u64) -> Option<u64> {
        None
    }
}

impl<F: Fn(u64) -> Option<u64>> ReadValues for F {
    fn value(&self, site: u64) -> Option<u64> {
        self(site)
    }
}

impl Condition {
    /// Whether the condition holds, given what the reads at sites saw; `None` if that is not known.
    pub fn evaluate(&self, read: &dyn ReadValues) -> Option<bool> {
        match self {
            Condition::Unknown => None,
            Condition::Known(holds) => Some(*holds),
            Condition::Compare(comparison, bits, left, right) => {
                let (left, right) = (left.evaluate(read)?, right.evaluate(read)?);
                Some(match comparison {
                    Comparison::Equal => low(left, *bits) == low(right, *bits),
                    Comparison::Below => low(left, *bits) < low(right, *bits),
                    Comparison::Less => {
                        signed(left, *bits).cast_signed() < signed(right, *bits).cast_signed()
                    }
                })
            }
            Condition::Not(condition) => condition.evaluate(read).map(|it| !it),
            Condition::All(all) => decide(all, read, false),
            Condition::Any(any) => decide(any, read, true),
        }
    }

    /// The opposite condition.
    #[must_use]
    pub fn negated(self) -> Condition {
        match self {
            Condition::Unknown => Condition::Unknown,
            Condition::Known(holds) => Condition::Known(!holds),
            Condition::Not(condition) => *condition,
            other @ (Condition::Compare(..) | Condition::All(_) | Condition::Any(_)) => {
                Condition::Not(Box::new(other))
            }
        }
    }

    /// Whether it depends on what a read saw.
    pub fn mentions_reads(&self) -> bool {
        let mut mentions = false;
        self.for_each_read(&mut |_| mentions = true);
        mentions
    }

    /// Calls a function with the site of each read that it depends on.
    pub fn for_each_read(&self, found: &mut dyn FnMut(u64)) {
        match self {
            Condition::Unknown | Condition::Known(_) => {}
            Condition::Compare(_, _, left, right) => {
                left.for_each_read(found);
                right.for_each_read(found);
            }
            Condition::Not(it) => it.for_each_read(found),
            Condition::All(it) | Condition::Any(it) => {
                for condition in it {
                    condition.for_each_read(found);
                }
            }
        }
    }

    /// Replaces the sites of reads, as for a module that is loaded elsewhere.
    #[must_use]
    pub fn moved(self, site: &dyn Fn(u64) -> u64) -> Condition {
        let all = |it: Vec<Condition>| it.into_iter().map(|it| it.moved(site)).collect();
        match self {
            Condition::Unknown | Condition::Known(_) => self,
            Condition::Compare(comparison, bits, left, right) => {
                Condition::Compare(comparison, bits, left.moved(site), right.moved(site))
            }
            Condition::Not(it) => Condition::Not(Box::new(it.moved(site))),
            Condition::All(it) => Condition::All(all(it)),
            Condition::Any(it) => Condition::Any(all(it)),
        }
    }
}

/// Whether one of the conditions has the value that decides, or all have the other one.
fn decide(conditions: &[Condition], read: &dyn ReadValues, decides: bool) -> Option<bool> {
    let mut known = Some(!decides);
    for condition in conditions {
        match condition.evaluate(read) {
            Some(it) if it == decides => return Some(decides),
            Some(_) => {}
            None => known = None,
        }
    }
    known
}

impl Expression {
    /// The value, given what the reads at sites saw.
    pub fn evaluate(&self, read: &dyn ReadValues) -> Option<u64> {
        Some(match self {
            Expression::Unknown | Expression::Result(_) => return None,
            Expression::Constant(value) => *value,
            Expression::Read(site) => read.value(*site)?,
            Expression::Change(site) => read.change(*site)?,
            Expression::Previous(site) => read.previous(*site)?,
            Expression::Next(site) => read.next(*site)?,
            Expression::Binary(operator, operands) => {
                let (left, right) = (operands.0.evaluate(read)?, operands.1.evaluate(read)?);
                operator.apply(left, right)
            }
            Expression::Unsigned(bits, it) => low(it.evaluate(read)?, *bits),
            Expression::Signed(bits, it) => signed(it.evaluate(read)?, *bits),
            Expression::Truth(condition) => u64::from(condition.evaluate(read)?),
        })
    }

    fn for_each_read(&self, found: &mut dyn FnMut(u64)) {
        match self {
            Expression::Unknown | Expression::Constant(_) | Expression::Result(_) => {}
            Expression::Read(site)
            | Expression::Change(site)
            | Expression::Previous(site)
            | Expression::Next(site) => found(*site),
            Expression::Binary(_, it) => {
                it.0.for_each_read(found);
                it.1.for_each_read(found);
            }
            Expression::Unsigned(_, it) | Expression::Signed(_, it) => it.for_each_read(found),
            Expression::Truth(it) => it.for_each_read(found),
        }
    }

    /// Replaces the sites of reads.
    #[must_use]
    fn moved(self, site: &dyn Fn(u64) -> u64) -> Expression {
        match self {
            Expression::Read(read) => Expression::Read(site(read)),
            Expression::Change(read) => Expression::Change(site(read)),
            Expression::Previous(read) => Expression::Previous(site(read)),
            Expression::Next(read) => Expression::Next(site(read)),
            Expression::Binary(operator, operands) => {
                let (left, right) = *operands;
                Expression::Binary(operator, Box::new((left.moved(site), right.moved(site))))
            }
            Expression::Unsigned(bits, it) => Expression::Unsigned(bits, Box::new(it.moved(site))),
            Expression::Signed(bits, it) => Expression::Signed(bits, Box::new(it.moved(site))),
            Expression::Truth(it) => Expression::Truth(Box::new(it.moved(site))),
            Expression::Unknown | Expression::Constant(_) | Expression::Result(_) => self,
        }
    }
}

impl Operator {
    fn apply(self, left: u64, right: u64) -> u64 {
        let distance = u32::try_from(right & 63).unwrap_or(0);
        match self {
            Operator::Add => left.wrapping_add(right),
            Operator::Subtract => left.wrapping_sub(right),
            Operator::Multiply => left.wrapping_mul(right),
            Operator::And => left & right,
            Operator::Or => left | right,
            Operator::Xor => left ^ right,
            Operator::ShiftLeft => left << distance,
            Operator::ShiftRight => left >> distance,
        }
    }
}

/// The lowest bits of a value.
fn low(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// The lowest bits of a value, extended by the highest of them.
fn signed(value: u64, bits: u8) -> u64 {
    let unused = 64_u32.saturating_sub(u32::from(bits)).min(63);
    ((value << unused).cast_signed() >> unused).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(comparison: Comparison, bits: u8, value: u64, constant: u64) -> Option<bool> {
        let right = Expression::Constant(constant);
        let condition = Condition::Compare(comparison, bits, Expression::Read(7), right);
        condition.evaluate(&|site: u64| (site == 7).then_some(value))
    }

    #[test]
    fn only_the_lowest_bits_are_compared() {
        assert_eq!(compare(Comparison::Equal, 8, 0x1ff, 0xff), Some(true));
        assert_eq!(compare(Comparison::Less, 8, 0xff, 0), Some(true));
        assert_eq!(compare(Comparison::Below, 8, 0xff, 0), Some(false));
        assert_eq!(compare(Comparison::Less, 64, u64::MAX, 0), Some(true));
    }

    #[test]
    fn unknown_parts_matter_only_where_the_rest_does_not_decide() {
        let (yes, no) = (Condition::Known(true), Condition::Known(false));
        let any = |it: &[&Condition]| Condition::Any(it.iter().map(|it| (*it).clone()).collect());
        let all = |it: &[&Condition]| Condition::All(it.iter().map(|it| (*it).clone()).collect());
        let value = |it: Condition| it.evaluate(&|_: u64| None);
        let unknown = &Condition::Unknown;
        assert_eq!(value(any(&[unknown, &yes])), Some(true));
        assert_eq!(value(any(&[unknown, &no])), None);
        assert_eq!(value(all(&[unknown, &no])), Some(false));
        assert_eq!(value(all(&[unknown, &yes])), None);
        assert_eq!(value(Condition::Not(Box::new(all(&[&yes])))), Some(false));
    }

    #[test]
    fn reads_move_with_their_module() {
        let sum = Box::new((Expression::Read(1), Expression::Constant(1)));
        let expression = Expression::Unsigned(32, Box::new(Expression::Binary(Operator::Add, sum)));
        let moved = expression.moved(&|site| site + 0x1000);
        assert_eq!(moved.evaluate(&|site: u64| Some(site)), Some(0x1002));
    }
}
