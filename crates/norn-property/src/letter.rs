//! Which events of a trace are events of a property, and to what they bind its parameters.

use norn_model::{AtomicOp, Event, Glob, NameId, Op, ThreadId, Trace};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    Property,
    lint::parameters_of,
    tree::{self, Argument, Comparison, Condition, Deed, Edge, Number, Operand, Touch},
};

/// Who knows what variables are called.
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

/// Reads the events of one trace as those of one property.
pub(crate) struct Reader<'a> {
    property: &'a Property,
    variables: &'a dyn Variables,
    /// By event and deed: the functions or marks that are meant.
    names: Vec<Vec<Vec<bool>>>,
    /// By event: the parameters that it binds.
    pub(crate) bound: Vec<Vec<usize>>,
    /// Functions that a thread is in, with their arguments.
    calls: FxHashMap<ThreadId, Vec<(NameId, [u64; 6])>>,
    /// What variables are called, as far as somebody asked.
    known: FxHashMap<(u64, u64), Option<String>>,
}

/// What is seen of an event.
struct Sight {
    /// What a parameter stands for, where it is bound.
    parameters: SmallVec<[Option<u64>; 4]>,
    value: Option<u128>,
    /// Bytes of the value.
    size: u64,
    result: Option<u64>,
    atomic: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(property: &'a Property, trace: &Trace, variables: &'a dyn Variables) -> Self {
        let events = &property.definition.events;
        let meant = |deed: &Deed| match deed {
            Deed::Call { function, .. } | Deed::Return { function, .. } => {
                trace.names.iter().map(|(_, name)| function.matches(name)).collect()
            }
            Deed::Mark { word, .. } => trace.names.iter().map(|(_, it)| word.matches(it)).collect(),
            Deed::Touch(..) | Deed::Region(_) => Vec::new(),
        };
        let names = events.iter().map(|it| it.deeds.iter().map(meant).collect()).collect();
        let bound = |event: &tree::Event| {
            let mut bound: Vec<_> = event.deeds.iter().flat_map(parameters_of).collect();
            bound.sort_unstable();
            bound.dedup();
            bound
        };
        let bound = events.iter().map(bound).collect();
        Reader {
            property,
            variables,
            names,
            bound,
            calls: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// What the next event is for the property. The events of a thread must come in their order.
    pub(crate) fn read(&mut self, event: &Event) -> SmallVec<[(usize, Binding); 2]> {
        let call = self.follow(event);
        let mut found = SmallVec::new();
        for at in 0..self.property.definition.events.len() {
            let deeds = self.property.definition.events[at].deeds.len();
            let sight = (0..deeds).find_map(|deed| self.sees((at, deed), event, call));
            let Some(sight) = sight else { continue };
            let holds = |it: &Condition| sight.holds(it);
            if self.property.definition.events[at].conditions.iter().all(holds) {
                let binding = self.bound[at].iter().filter_map(|it| sight.parameters[*it]);
                found.push((at, binding.collect()));
            }
        }
        found
    }

    /// Keeps count of the functions that a thread is in. Returns the arguments of the one that it leaves.
    fn follow(&mut self, event: &Event) -> Option<[u64; 6]> {
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

    fn sees(
        &mut self,
        (at, deed): (usize, usize),
        event: &Event,
        call: Option<[u64; 6]>,
    ) -> Option<Sight> {
        let property = self.property;
        let means = |it: NameId| self.names[at][deed].get(it.0 as usize) == Some(&true);
        let mut sight = Sight::new(property.definition.parameters.len());
        match (&property.definition.events[at].deeds[deed], event.op) {
            (Deed::Call { arguments, .. }, Op::Call { function, arguments: given })
                if means(function) =>
            {
                sight.bind_all(arguments, &given)?;
            }
            (Deed::Return { arguments, result, .. }, Op::Return { function, value })
                if means(function) =>
            {
                if arguments.iter().any(|it| *it != Argument::Any) {
                    sight.bind_all(arguments, &call?)?;
                }
                sight.result = value;
                if *result != Argument::Any {
                    sight.bind(*result, value?)?;
                }
            }
            (Deed::Mark { object, .. }, Op::Mark { name, object: given }) if means(name) => {
                sight.bind(*object, given)?;
            }
            (Deed::Region(Edge::Begin), Op::RegionBegin)
            | (Deed::Region(Edge::End), Op::RegionEnd) => {}
            (Deed::Touch(touch, object), op) => {
                let (addr, size) = touched(*touch, op, &mut sight)?;
                if let Some(name) = &object.name
                    && !self.is_called(addr, size, name)
                {
                    return None;
                }
                if let Some(parameter) = object.parameter {
                    sight.bind(Argument::Parameter(parameter), addr)?;
                }
            }
            _ => return None,
        }
        Some(sight)
    }

    fn is_called(&mut self, addr: u64, size: u64, glob: &Glob) -> bool {
        let name = self.known.entry((addr, size));
        let name = name.or_insert_with(|| self.variables.variable(addr, size));
        name.as_deref().is_some_and(|it| glob.matches(it))
    }
}

/// What is touched by an operation, if it is one of this kind.
fn touched(touch: Touch, op: Op, sight: &mut Sight) -> Option<(u64, u64)> {
    match (touch, op) {
        (Touch::Read, Op::Read { addr, size, value, .. })
        | (Touch::Write, Op::Write { addr, size, value, .. }) => {
            (sight.value, sight.size) = (value, size);
            Some((addr, size))
        }
        (Touch::Read | Touch::Write, Op::Atomic { addr, size, op, .. }) => {
            let value = match (touch, op) {
                (Touch::Read, AtomicOp::Load(value)) | (Touch::Write, AtomicOp::Store(value)) => {
                    value
                }
                (Touch::Read, AtomicOp::Rmw { old, .. } | AtomicOp::Cas { old, .. }) => old,
                (Touch::Read, AtomicOp::CasFailed { seen, .. }) => seen,
                (Touch::Write, AtomicOp::Rmw { new, .. } | AtomicOp::Cas { new, .. }) => new,
                _ => return None,
            };
            *sight = Sight { value: Some(value), size: size.into(), atomic: true, ..sight.clone() };
            Some((addr, size.into()))
        }
        (Touch::Lock, Op::Acquire { lock, .. } | Op::WaitAcquire { lock, .. })
        | (Touch::Unlock, Op::Release { lock, .. } | Op::WaitRelease { lock }) => {
            Some((lock, LOCK))
        }
        (Touch::Alloc, Op::Alloc { addr, .. }) | (Touch::Free, Op::Free { addr }) => {
            Some((addr, 1))
        }
        _ => None,
    }
}

/// Bytes of a lock: by its size it is told from its first member.
const LOCK: u64 = 40;

impl Clone for Sight {
    fn clone(&self) -> Sight {
        Sight { parameters: self.parameters.clone(), ..*self }
    }
}

impl Sight {
    fn new(parameters: usize) -> Sight {
        let parameters = SmallVec::from_elem(None, parameters);
        Sight { parameters, value: None, size: 8, result: None, atomic: false }
    }

    fn bind_all(&mut self, arguments: &[Argument], given: &[u64]) -> Option<()> {
        arguments.iter().zip(given).try_for_each(|(it, value)| self.bind(*it, *value))
    }

    /// Takes a value for an argument; nothing if it is another one.
    fn bind(&mut self, argument: Argument, value: u64) -> Option<()> {
        let fits = match argument {
            Argument::Any => true,
            Argument::Number(number) => is_number(number, value.into(), 8),
            Argument::Parameter(at) => *self.parameters[at].get_or_insert(value) == value,
        };
        fits.then_some(())
    }

    /// Whether a condition holds. One about a value that is not known does not.
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

/// Whether a value of so many bytes is this number. A negative one may have been an `int` in a
/// register of eight bytes.
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
