//! Conditions across functions: results of called functions, and callers of functions that only fail.

use norn_model::{Condition, Expression};

use crate::{condition::PlaceCondition, program::Program};

/// How many calls a condition goes through.
const MAX_DEPTH: u32 = 3;
/// Maximum number of callers of which one must have made the call.
const MAX_CALLERS: usize = 8;

/// The condition of a failure site, by the index of its function and its index there.
pub(crate) fn condition_of(program: &Program, function: u32, seed: usize) -> Condition {
    match program.functions[function as usize].conditions.get(seed) {
        Some(condition) => place(program, function, condition, 0),
        None => Condition::Unknown,
    }
}

fn place(program: &Program, function: u32, condition: &PlaceCondition, depth: u32) -> Condition {
    match condition {
        PlaceCondition::When(condition) => resolve(program, condition, depth),
        PlaceCondition::Entry => {
            let callers = &program.callers[function as usize];
            if callers.is_empty() || callers.len() > MAX_CALLERS || depth >= MAX_DEPTH {
                return Condition::Unknown;
            }
            let call = |(caller, at): &(u32, u32)| {
                let calls = &program.functions[*caller as usize].last_calls;
                calls
                    .get(at)
                    .map_or(Condition::Unknown, |it| place(program, *caller, it, depth + 1))
            };
            Condition::Any(callers.iter().map(call).collect())
        }
    }
}

/// Replaces the results of functions by what they return.
fn resolve(program: &Program, condition: &Condition, depth: u32) -> Condition {
    let all = |it: &[Condition]| it.iter().map(|it| resolve(program, it, depth)).collect();
    match condition {
        Condition::Unknown | Condition::Known(_) => condition.clone(),
        Condition::Compare(comparison, bits, left, right) => {
            let (left, right) = (value(program, left, depth), value(program, right, depth));
            Condition::Compare(*comparison, *bits, left, right)
        }
        Condition::Not(it) => Condition::Not(Box::new(resolve(program, it, depth))),
        Condition::All(it) => Condition::All(all(it)),
        Condition::Any(it) => Condition::Any(all(it)),
    }
}

fn value(program: &Program, expression: &Expression, depth: u32) -> Expression {
    let inner = |it: &Expression| value(program, it, depth);
    match expression {
        Expression::Unknown
        | Expression::Constant(_)
        | Expression::Read(_)
        | Expression::Change(_)
        | Expression::Previous(_)
        | Expression::Next(_) => expression.clone(),
        Expression::Result(function) => {
            let callee = program.at(*function).filter(|_| depth < MAX_DEPTH);
            let result = callee.and_then(|it| program.functions[it as usize].result.as_ref());
            result.map_or(Expression::Unknown, |it| value(program, it, depth + 1))
        }
        Expression::Binary(operator, operands) => {
            Expression::Binary(*operator, Box::new((inner(&operands.0), inner(&operands.1))))
        }
        Expression::Unsigned(bits, it) => Expression::Unsigned(*bits, Box::new(inner(it))),
        Expression::Signed(bits, it) => Expression::Signed(*bits, Box::new(inner(it))),
        Expression::Truth(it) => Expression::Truth(Box::new(resolve(program, it, depth))),
    }
}
