//! The brute-force oracle: enumerates all orders of a tiny trace and interprets patterns directly.
//!
//! It shares only the syntax tree with the crate: repetition is not simplified, and each order is
//! examined as a whole.

use std::collections::{BTreeMap, BTreeSet};

use norn_model::{EventId, Op, ThreadId, Trace};
use norn_property::{
    Instance, Property,
    syntax::{Edge, Expression, ExpressionKind, Item, Repetition},
};
use norn_testkit::{Machine, MachineState as State};

/// An event of an order: its events in the property, its thread, and whether it directly follows
/// the previous one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct OrderedEvent {
    event_set: u64,
    thread: ThreadId,
    follows: bool,
}

/// A prefix of an order during the enumeration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PartialOrdering {
    state: State,
    memory: BTreeMap<u64, u128>,
    /// Threads that have read another value than in the recorded run: their further events are
    /// unknown.
    lost: BTreeSet<usize>,
    order: Vec<OrderedEvent>,
    last: Option<EventId>,
}

/// Whether some order of the trace violates the property for an instance. A thread stops after it
/// has read another value than in the recorded run.
pub(crate) fn can_violate(property: &Property, instance: &Instance, trace: &Trace) -> bool {
    let machine = Machine::new(trace);
    let event_set: BTreeMap<EventId, u64> =
        instance.occurrences.iter().map(|it| (it.id, it.event_set)).collect();
    let mut seen = BTreeSet::new();
    let mut open = vec![PartialOrdering {
        state: machine.start(),
        memory: BTreeMap::new(),
        lost: BTreeSet::new(),
        order: Vec::new(),
        last: None,
    }];
    while let Some(partial) = open.pop() {
        if !seen.insert(partial.clone()) {
            continue;
        }
        let before = open.len();
        for thread in (0..trace.threads.len()).filter(|it| !partial.lost.contains(it)) {
            let next = machine.step(&partial.state, thread).into_iter();
            open.extend(next.map(|state| partial.then(trace, thread, state, &event_set)));
        }
        // A violation of an order is also one of its extensions, so only complete orders are
        // examined.
        if open.len() == before && violates(property, &partial.order) {
            return true;
        }
    }
    false
}

impl PartialOrdering {
    fn then(
        &self,
        trace: &Trace,
        thread: usize,
        state: State,
        event_set: &BTreeMap<EventId, u64>,
    ) -> PartialOrdering {
        let event = trace.threads[thread].events[self.state.cuts[thread]];
        let mut next = PartialOrdering { state, last: None, ..self.clone() };
        match event.op {
            Op::Read { addr, value, .. }
                if value != Some(self.memory.get(&addr).copied().unwrap_or(0)) =>
            {
                next.lost.insert(thread);
            }
            Op::Write { addr, value, .. } => {
                next.memory.insert(addr, value.unwrap());
            }
            _ => {}
        }
        if let Some(&event_set) = event_set.get(&event.id) {
            let follows = self.last.is_some();
            next.order.push(OrderedEvent { event_set, thread: event.id.thread, follows });
            next.last = Some(event.id);
        }
        next
    }
}

/// Whether an order matches the pattern of a property.
fn violates(property: &Property, order: &[OrderedEvent]) -> bool {
    let parts = &property.definition.pattern.parts;
    let reading = Reading { order };
    match &parts[..] {
        [one] => reading.read(one, &At::default(), &mut |_| true),
        _ => reading.parts(parts, &At::default(), &mut Vec::new()),
    }
}

/// Whether parts, given by the indices of their events, are parallel: single events are adjacent,
/// longer parts each begin before any other ends; all belong to different threads.
fn are_parallel(order: &[OrderedEvent], parts: &[Vec<usize>]) -> bool {
    let pairs =
        || parts.iter().enumerate().flat_map(|(at, a)| parts[..at].iter().map(move |b| (a, b)));
    let by = |number: &usize| order[*number].thread;
    if pairs().any(|(a, b)| a.iter().any(|a| b.iter().any(|b| by(a) == by(b)))) {
        return false;
    }
    if parts.iter().any(|it| it.len() > 1) {
        let begins_in_time = |a: &[usize], b: &[usize]| a[0] < b[b.len() - 1];
        return pairs().all(|(a, b)| begins_in_time(a, b) && begins_in_time(b, a));
    }
    let mut all = parts.concat();
    all.sort_unstable();
    all.windows(2).all(|it| it[0] + 1 == it[1] && order[it[1]].follows)
}

/// The state of a match.
#[derive(Clone, Default)]
struct At {
    last: Option<usize>,
    /// The events that are matched so far.
    used: Vec<usize>,
    excluded: Vec<Item>,
    threads: BTreeMap<usize, ThreadId>,
    /// By region: the position of its beginning, and the event of the pattern.
    begun: BTreeMap<usize, (usize, Item)>,
}

struct Reading<'a> {
    order: &'a [OrderedEvent],
}

type Then<'a> = &'a mut dyn FnMut(&At) -> bool;

impl Reading<'_> {
    /// Matches an expression in all ways, until the continuation accepts one.
    fn read(&self, part: &Expression, at: &At, then: Then<'_>) -> bool {
        match &part.kind {
            ExpressionKind::Event(item) => self.event(item, at, then),
            ExpressionKind::Sequence(parts) => self.sequence(parts, at, then),
            ExpressionKind::Choice(parts) => parts.iter().any(|it| self.read(it, at, then)),
            ExpressionKind::Repeat(inner, times) => {
                let least = usize::from(*times == Repetition::AtLeastOnce);
                let most = if *times == Repetition::AtMostOnce { 1 } else { self.order.len() + 1 };
                (least..=most).any(|count| {
                    let copies = vec![(**inner).clone(); count];
                    self.sequence(&copies, at, then)
                })
            }
            ExpressionKind::Not(inner) => {
                if let ExpressionKind::Sequence(parts) = &inner.kind {
                    return parts
                        .windows(2)
                        .any(|it| self.sequence(&[it[1].clone(), it[0].clone()], at, then));
                }
                let mut next = at.clone();
                add_exclusions(inner, &mut next.excluded);
                then(&next)
            }
            ExpressionKind::All(parts) => self.all(parts, at.last, at, then),
        }
    }

    /// Matches parts that are parallel, each from the beginning of the order.
    fn parts(&self, parts: &[Expression], at: &At, read: &mut Vec<Vec<usize>>) -> bool {
        let [first, rest @ ..] = parts else { return are_parallel(self.order, read) };
        let begin = At { last: None, excluded: Vec::new(), ..at.clone() };
        self.read(first, &begin, &mut |next| {
            read.push(next.used[at.used.len()..].to_vec());
            let met = self.parts(rest, next, read);
            read.pop();
            met
        })
    }

    /// Matches all parts from the same position on; no event belongs to two of them.
    fn all(&self, parts: &[Expression], from: Option<usize>, at: &At, then: Then<'_>) -> bool {
        let [first, rest @ ..] = parts else { return then(at) };
        let begin = At { last: from, ..at.clone() };
        self.read(first, &begin, &mut |next| {
            let next = At { last: next.last.max(at.last), ..next.clone() };
            self.all(rest, from, &next, then)
        })
    }

    fn sequence(&self, parts: &[Expression], at: &At, then: Then<'_>) -> bool {
        match parts {
            [] => then(at),
            [first, rest @ ..] => self.read(first, at, &mut |at| self.sequence(rest, at, then)),
        }
    }

    fn event(&self, item: &Item, at: &At, then: Then<'_>) -> bool {
        let from = at.last.map_or(0, |it| it + 1);
        for (number, event) in self.order.iter().enumerate().skip(from) {
            if has(event, item)
                && !at.used.contains(&number)
                && let Some(next) = self.taken(item, number, at)
                && then(&next)
            {
                return true;
            }
            let excluded = |it: &Item| {
                let by = it.thread.and_then(|it| at.threads.get(&it));
                has(event, it) && by.is_none_or(|it| *it == event.thread)
            };
            if at.excluded.iter().any(excluded) {
                return false;
            }
        }
        false
    }

    /// The state after an event, if its thread and region fit.
    fn taken(&self, item: &Item, number: usize, at: &At) -> Option<At> {
        let by = self.order[number].thread;
        let mut next = At { last: Some(number), excluded: Vec::new(), ..at.clone() };
        next.used.push(number);
        if let Some(name) = item.thread {
            let others = at.threads.iter().filter(|(it, _)| **it != name);
            if others.into_iter().any(|(_, it)| *it == by) {
                return None;
            }
            if *next.threads.entry(name).or_insert(by) != by {
                return None;
            }
        }
        match item.region {
            Some((Edge::Begin, region)) => {
                next.begun.insert(region, (number, *item));
            }
            Some((Edge::End, region)) => {
                let (begun, begin) = at.begun[&region];
                // Regions of a thread nest: as many regions must end in between as begin there.
                let mut open = 0;
                for it in self.order[begun + 1..number].iter().filter(|it| it.thread == by) {
                    open += i32::from(has(it, &begin)) - i32::from(has(it, item));
                    if open < 0 {
                        return None;
                    }
                }
                if self.order[begun].thread != by || open > 0 {
                    return None;
                }
            }
            None => {}
        }
        Some(next)
    }
}

/// Collects the events that an expression excludes.
fn add_exclusions(part: &Expression, excluded: &mut Vec<Item>) {
    match &part.kind {
        ExpressionKind::Event(item) => excluded.push(*item),
        ExpressionKind::Choice(parts) => parts.iter().for_each(|it| add_exclusions(it, excluded)),
        ExpressionKind::Repeat(inner, _) => add_exclusions(inner, excluded),
        _ => unreachable!("the language forbids single events only"),
    }
}

fn has(event: &OrderedEvent, item: &Item) -> bool {
    event.event_set & (1 << item.event) != 0
}
