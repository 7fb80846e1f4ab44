//! Parametric slicing: the instances of a property in a trace, and the events of each.
//!
//! An instance binds each parameter of a property to a value. An event that binds some of them
//! belongs to all instances with these values: adding to a list belongs to every iterator of it.
//! Since events bind parameters together (`create` relates an iterator to its list), the instances
//! are formed by the events with the most parameters, completed by those with fewer; only
//! parameters that no event has in common are combined freely. Huang, Luo and Rosu combine all
//! parameters freely. That gives more instances, but none of the additional ones can match a
//! pattern that needs the event which has both parameters.

use norn_model::{Access, AtomicOp, EventId, Op, SiteId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Property, Variables,
    event_matcher::{Binding, EventMatcher},
};

/// The maximum number of instances of a property.
const MAX_INSTANCES: usize = 200_000;

/// An event of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The event.
    pub id: EventId,
    /// Its position among all events of the trace.
    pub time: u64,
    /// The events of the property that it matches, as a bit set.
    pub event_set: u64,
    /// Its code location.
    pub site: SiteId,
    /// The memory that it accesses, or 0.
    pub addr: u64,
    /// The kind of access.
    pub access: Access,
}

/// An instance of a property: all its parameters are bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The values of the parameters.
    pub values: Vec<u64>,
    /// Its events, in the order of the trace.
    pub occurrences: Vec<Occurrence>,
}

/// The instances of a property in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slices {
    /// Sorted by the values of their parameters.
    pub instances: Vec<Instance>,
    /// By event of the property: how many events of the trace match it.
    pub counts: Vec<u64>,
    /// Whether there were more instances than the limit.
    pub cut: bool,
}

/// A matched event: its index among the occurrences, and the event of the property.
struct MatchedAt {
    at: usize,
    event_index: usize,
}

/// A set of parameters that some events bind together, and the values they bind.
struct Domain {
    parameters: Vec<usize>,
    matches: FxHashMap<Binding, Vec<MatchedAt>>,
}

impl Slices {
    /// Slices a trace.
    pub fn new(property: &Property, trace: &Trace, variables: &dyn Variables) -> Slices {
        let mut matcher = EventMatcher::new(property, trace, variables);
        let mut occurrences: Vec<Occurrence> = Vec::new();
        let mut domains: Vec<Domain> = Vec::new();
        let mut counts = vec![0; property.definition.events.len()];
        for (time, event) in (0..).zip(trace.merged()) {
            let found = matcher.match_event(&event);
            if found.is_empty() {
                continue;
            }
            let at = occurrences.len();
            let (addr, access) = memory(&event.op);
            let (id, site) = (event.id, event.site);
            occurrences.push(Occurrence { id, time, event_set: 0, site, addr, access });
            for (event_index, binding) in found {
                counts[event_index] += 1;
                let domain = domain(&mut domains, &matcher.bound[event_index]);
                domain.matches.entry(binding).or_default().push(MatchedAt { at, event_index });
            }
        }
        domains.sort_by_key(|it| (std::cmp::Reverse(it.parameters.len()), it.parameters.clone()));
        let (values, cut) = values(property.definition.parameters.len(), &domains);
        let instance = |values: Vec<u64>| Instance {
            occurrences: about(&values, &domains, &occurrences),
            values,
        };
        let instances = values.into_iter().map(instance).collect();
        Slices { instances, counts, cut }
    }
}

/// The domain of these parameters, which is added if it is new.
fn domain<'a>(domains: &'a mut Vec<Domain>, parameters: &[usize]) -> &'a mut Domain {
    let at = domains.iter().position(|it| it.parameters == parameters).unwrap_or(domains.len());
    if at == domains.len() {
        domains.push(Domain { parameters: parameters.to_vec(), matches: FxHashMap::default() });
    }
    &mut domains[at]
}

/// The memory that an operation refers to, and the kind of access.
fn memory(op: &Op) -> (u64, Access) {
    match *op {
        Op::Read { addr, .. } | Op::Atomic { addr, op: AtomicOp::Load(_), .. } => {
            (addr, Access::Read)
        }
        Op::Write { addr, .. } | Op::Atomic { addr, .. } => (addr, Access::Write),
        Op::Free { addr } => (addr, Access::Free),
        Op::Alloc { addr, .. } => (addr, Access::Event),
        Op::Acquire { lock, .. }
        | Op::WaitAcquire { lock, .. }
        | Op::Release { lock, .. }
        | Op::WaitRelease { lock } => (lock, Access::Event),
        Op::Mark { object, .. } => (object, Access::Event),
        Op::Call { arguments, .. } => (arguments[0], Access::Event),
        _ => (0, Access::Event),
    }
}

/// All bindings of all parameters, in order.
fn values(parameters: usize, domains: &[Domain]) -> (Vec<Vec<u64>>, bool) {
    let mut partial: Vec<Vec<Option<u64>>> = vec![vec![None; parameters]];
    let mut covered = vec![false; parameters];
    let mut cut = false;
    for domain in domains {
        if domain.parameters.iter().all(|it| covered[*it]) {
            continue;
        }
        let mut bindings: Vec<&Binding> = domain.matches.keys().collect();
        bindings.sort_unstable();
        let mut longer = FxHashSet::default();
        'all: for partial in &partial {
            for binding in &bindings {
                longer.extend(extended(partial, &domain.parameters, binding));
                if longer.len() >= MAX_INSTANCES {
                    cut = true;
                    break 'all;
                }
            }
        }
        partial = longer.into_iter().collect();
        partial.sort_unstable();
        domain.parameters.iter().for_each(|it| covered[*it] = true);
    }
    let whole = |it: Vec<Option<u64>>| it.into_iter().collect::<Option<Vec<_>>>();
    (partial.into_iter().filter_map(whole).collect(), cut)
}

/// Extends a binding by another, if the two agree.
fn extended(
    partial: &[Option<u64>],
    parameters: &[usize],
    binding: &Binding,
) -> Option<Vec<Option<u64>>> {
    let mut values = partial.to_vec();
    for (parameter, value) in parameters.iter().zip(binding) {
        if *values[*parameter].get_or_insert(*value) != *value {
            return None;
        }
    }
    Some(values)
}

/// The events of an instance.
fn about(values: &[u64], domains: &[Domain], all: &[Occurrence]) -> Vec<Occurrence> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for domain in domains {
        let key: Binding = domain.parameters.iter().map(|it| values[*it]).collect();
        let matches = domain.matches.get(&key).map_or(&[][..], Vec::as_slice);
        found.extend(matches.iter().map(|it| (it.at, it.event_index)));
    }
    found.sort_unstable();
    let mut occurrences: Vec<Occurrence> = Vec::new();
    for (at, event_index) in found {
        let bit = 1 << event_index;
        match occurrences.last_mut() {
            Some(last) if last.id == all[at].id => last.event_set |= bit,
            _ => occurrences.push(Occurrence { event_set: bit, ..all[at] }),
        }
    }
    occurrences
}
