//! Matches events of a trace against the event declarations of a property, and binds its parameters.

use norn_model::{AtomicOp, Event, Glob, NameId, Op, ThreadId, Trace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    Property,
    lint::parameters_of,
    syntax::{self, Action, Argument, Comparison, Condition, Edge, MemoryAction, Number, Operand},
};

/// A source of names for variables.
pub trait Variables {
    /// The variable at an address, as an access of `size` bytes sees it.
    fn variable(&self, addr: u64, size: u64) -> Option<String>;
}

impl Variables for norn_model::Symbols {
    fn variable(&self, addr: u64, _: u64) -> Option<String> {
        let (name, offset) = self.name(addr)?;
        Some(if offset == 0 { name.to_owned() } else { format!("{name}+{offset}") })
    }
}

/// The values of those parameters that an event binds, in the order of the parameters.
pub(crate) type Binding = SmallVec<[u64; 2]>;

/// Matches the events of one trace against one property.
pub(crate) struct EventMatcher<'a> {
    property: &'a Property,
    variables: &'a dyn Variables,
    /// By event, action and name in the trace: whether the pattern of the action matches the name.
    /// Names repeat, so each is matched once.
    names: Vec<Vec<Vec<bool>>>,
    /// By event: the parameters that it binds.
    pub(crate) bound: Vec<Vec<usize>>,
    /// The call stack of each thread with the arguments of the calls, which returns refer to.
    calls: FxHashMap<ThreadId, Vec<(NameId, [u64; 6])>>,
    /// Names of variables by address and size, cached.
    variable_names: FxHashMap<(u64, u64), Option<String>>,
}

/// An event that an action matches, with the values that conditions refer to.
struct MatchedEvent {
    /// The value of each parameter that is bound.
    parameters: SmallVec<[Option<u64>; 4]>,
    value: Option<u128>,
    /// Bytes of the value.
    size: u64,
    result: Option<u64>,
    atomic: bool,
}

impl<'a> EventMatcher<'a> {
    pub(crate) fn new(property: &'a Property, trace: &Trace, variables: &'a dyn Variables) -> Self {
        let events = &property.definition.events;
        let matching_names = |action: &Action| match action {
            Action::Call { function, .. } | Action::Return { function, .. } => {
                trace.names.iter().map(|(_, name)| function.matches(name)).collect()
            }
            Action::Mark { name, .. } => {
                trace.names.iter().map(|(_, it)| name.matches(it)).collect()
            }
            Action::Memory(..) | Action::Region(_) => Vec::new(),
        };
        let names =
            events.iter().map(|it| it.actions.iter().map(matching_names).collect()).collect();
        let bound = |event: &syntax::Event| {
            let mut bound: Vec<_> = event.actions.iter().flat_map(parameters_of).collect();
            bound.sort_unstable();
            bound.dedup();
            bound
        };
        let bound = events.iter().map(bound).collect();
        EventMatcher {
            property,
            variables,
            names,
            bound,
            calls: FxHashMap::default(),
            variable_names: FxHashMap::default(),
        }
    }

    /// The declarations that the next event matches, with their bindings. The events of each thread must
    /// be given in their order, since calls are tracked.
    pub(crate) fn match_event(&mut self, event: &Event) -> SmallVec<[(usize, Binding); 2]> {
        let call = self.track_calls(event);
        let mut found = SmallVec::new();
        for at in 0..self.property.definition.events.len() {
            let actions = self.property.definition.events[at].actions.len();
            let matched =
                (0..actions).find_map(|action| self.match_action((at, action), event, call));
            let Some(matched) = matched else { continue };
            let holds = |it: &Condition| matched.holds(it);
            if self.property.definition.events[at].conditions.iter().all(holds) {
                let binding = self.bound[at].iter().filter_map(|it| matched.parameters[*it]);
                found.push((at, binding.collect()));
            }
        }
        found
    }

    /// Tracks the call stacks. For a return, the result is the arguments of the call.
    fn track_calls(&mut self, event: &Event) -> Option<[u64; 6]> {
        match event.op {
            Op::Call { function, arguments } => {
                self.calls.entry(event.id.thread).or_default().push((function, arguments));
                None
            }
            Op::Return { function, .. } => {
                let calls = self.calls.get_mut(&event.id.thread)?;
                let at = calls.iter().rposition(|it| it.0 == function)?;
                calls.drain(at..).next().map(|it| it.1)
            }
            _ => None,
        }
    }

    fn match_action(
        &mut self,
        (at, action): (usize, usize),
        event: &Event,
        call: Option<[u64; 6]>,
    ) -> Option<MatchedEvent> {
        let property = self.property;
        let is_named = |it: NameId| self.names[at][action].get(it.0 as usize) == Some(&true);
        let mut matched = MatchedEvent::new(property.definition.parameters.len());
        match (&property.definition.events[at].actions[action], event.op) {
            (Action::Call { arguments, .. }, Op::Call { function, arguments: given })
                if is_named(function) =>
            {
                matched.bind_all(arguments, &given)?;
            }
            (Action::Return { arguments, result, .. }, Op::Return { function, value })
                if is_named(function) =>
            {
                if arguments.iter().any(|it| *it != Argument::Any) {
                    matched.bind_all(arguments, &call?)?;
                }
                matched.result = value;
                if *result != Argument::Any {
                    matched.bind(*result, value?)?;
                }
            }
            (Action::Mark { object, .. }, Op::Mark { name, object: given }) if is_named(name) => {
                matched.bind(*object, given)?;
            }
            (Action::Region(Edge::Begin), Op::RegionBegin)
            | (Action::Region(Edge::End), Op::RegionEnd) => {}
            (Action::Memory(action, object), op) => {
                let (addr, size) = accessed(*action, op, &mut matched)?;
                if let Some(name) = &object.name
                    && !self.is_variable(addr, size, name)
                {
                    return None;
                }
                if let Some(parameter) = object.parameter {
                    matched.bind(Argument::Parameter(parameter), addr)?;
                }
            }
            _ => return None,
        }
        Some(matched)
    }

    fn is_variable(&mut self, addr: u64, size: u64, glob: &Glob) -> bool {
        let name = self.variable_names.entry((addr, size));
        let name = name.or_insert_with(|| self.variables.variable(addr, size));
        name.as_deref().is_some_and(|it| glob.matches(it))
    }
}

/// The address and size that an operation accesses, if it is this action.
fn accessed(action: MemoryAction, op: Op, matched: &mut MatchedEvent) -> Option<(u64, u64)> {
    match (action, op) {
        (MemoryAction::Read, Op::Read { addr, size, value, .. })
        | (MemoryAction::Write, Op::Write { addr, size, value, .. }) => {
            (matched.value, matched.size) = (value, size);
            Some((addr, size))
        }
        (MemoryAction::Read | MemoryAction::Write, Op::Atomic { addr, size, op, .. }) => {
            let value = match (action, op) {
                (MemoryAction::Read, AtomicOp::Load(value))
                | (MemoryAction::Write, AtomicOp::Store(value)) => value,
                (MemoryAction::Read, AtomicOp::Rmw { old, .. } | AtomicOp::Cas { old, .. }) => old,
                (MemoryAction::Read, AtomicOp::CasFailed { seen, .. }) => seen,
                (MemoryAction::Write, AtomicOp::Rmw { new, .. } | AtomicOp::Cas { new, .. }) => new,
                _ => return None,
            };
            *matched = MatchedEvent {
                value: Some(value),
                size: size.into(),
                atomic: true,
                ..matched.clone()
            };
            Some((addr, size.into()))
        }
        (MemoryAction::Lock, Op::Acquire { lock, .. } | Op::WaitAcquire { lock, .. })
        | (MemoryAction::Unlock, Op::Release { lock, .. } | Op::WaitRelease { lock }) => {
            Some((lock, LOCK))
        }
        (MemoryAction::Alloc, Op::Alloc { addr, .. }) | (MemoryAction::Free, Op::Free { addr }) => {
            Some((addr, 1))
        }
        _ => None,
    }
}

/// The size of a `pthread_mutex_t`, which distinguishes the lock from its first member.
const LOCK: u64 = 40;

impl Clone for MatchedEvent {
    fn clone(&self) -> MatchedEvent {
        MatchedEvent { parameters: self.parameters.clone(), ..*self }
    }
}

impl MatchedEvent {
    fn new(parameters: usize) -> MatchedEvent {
        let parameters = SmallVec::from_elem(None, parameters);
        MatchedEvent { parameters, value: None, size: 8, result: None, atomic: false }
    }

    fn bind_all(&mut self, arguments: &[Argument], given: &[u64]) -> Option<()> {
        arguments.iter().zip(given).try_for_each(|(it, value)| self.bind(*it, *value))
    }

    /// Binds a value to an argument; `None` if the argument requires another value.
    fn bind(&mut self, argument: Argument, value: u64) -> Option<()> {
        let fits = match argument {
            Argument::Any => true,
            Argument::Number(number) => is_number(number, value.into(), 8),
            Argument::Parameter(at) => *self.parameters[at].get_or_insert(value) == value,
        };
        fits.then_some(())
    }

    /// Whether a condition holds. A condition on an unknown value does not.
    fn holds(&self, condition: &Condition) -> bool {
        let (left, comparison, right) = match *condition {
            Condition::Plain => return !self.atomic,
            Condition::Atomic => return self.atomic,
            Condition::Compare(left, comparison, right) => (left, comparison, right),
        };
        let size = if [left, right].contains(&Operand::Value) { self.size } else { 8 };
        let same = match (left, right) {
            (Operand::Number(number), other) | (other, Operand::Number(number)) => {
                self.value_of(other).map(|it| is_number(number, it, size))
            }
            _ => self.value_of(left).zip(self.value_of(right)).map(|(a, b)| a == b),
        };
        let Some(same) = same else { return false };
        let both = self.value_of(left).zip(self.value_of(right));
        match comparison {
            Comparison::Equal => same,
            Comparison::Unequal => !same,
            Comparison::Less => both.is_some_and(|(a, b)| a < b),
            Comparison::LessOrEqual => both.is_some_and(|(a, b)| a <= b),
            Comparison::Greater => both.is_some_and(|(a, b)| a > b),
            Comparison::GreaterOrEqual => both.is_some_and(|(a, b)| a >= b),
        }
    }

    fn value_of(&self, operand: Operand) -> Option<u128> {
        match operand {
            Operand::Value => self.value,
            Operand::Size => Some(self.size.into()),
            Operand::Result => self.result.map(u128::from),
            Operand::Parameter(at) => self.parameters[at].map(u128::from),
            Operand::Number(number) => Some(number.magnitude),
        }
    }
}

/// Whether a value of `size` bytes is this number. A negative number may be an `int` in an eight-byte
/// register, whose upper half is then zero.
fn is_number(number: Number, value: u128, size: u64) -> bool {
    if !number.negative {
        return value == number.magnitude;
    }
    let low = |bytes: u64| {
        u128::MAX.checked_shr(128 - 8 * u32::try_from(bytes).unwrap_or(16)).unwrap_or(0)
    };
    let is = |bytes: u64| value == number.magnitude.wrapping_neg() & low(bytes.clamp(1, 16));
    is(size) || size == 8 && is(4)
}
