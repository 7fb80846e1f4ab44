//! One query: is there an order of the events of a window in which the candidate happens?
//!
//! A witness consists of the events up to the candidate's last one. So that event cuts the order: a
//! rule applies to an event only if it comes before the cut, and each clause of a rule has a
//! literal that says so. The values of an event that can be the last of its thread do not matter.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    EVENTS_PER_STEP,
    apart::Apart,
    arrow::Arrows,
    model::{Model, NEVER, Node},
    order::{ALWAYS, Order},
    smt::Transcript,
    solver::{Answer, Effort, Lit, Solver},
    value::Choice,
    walk::Fork,
};

/// A truth value: true, false, or that of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Yes,
    No,
    If(Lit),
}

/// One query.
pub(crate) struct Query<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) from: Node,
    pub(crate) to: Node,
    /// The candidate's events, in their order.
    steps: &'a [Node],
    adjacent: bool,
    /// Whether happens-before must not order the first event before the last one.
    unordered: bool,
    /// The events that have to stay out of intervals.
    pub(crate) aparts: &'a [Apart],
    pub(crate) arrows: Arrows<'a>,
    pub(crate) solver: Solver,
    pub(crate) choices: FxHashMap<u32, Choice>,
    /// Failed lock requests that have their clauses already, and waits that have.
    pub(crate) denied: FxHashSet<Node>,
    pub(crate) matched: FxHashSet<u32>,
    /// By signal: the literals that it ends a wait.
    pub(crate) ended: FxHashMap<Node, Vec<Lit>>,
    /// Whether some clause is unsatisfiable.
    dead: bool,
    /// All clauses, if a transcript is wanted.
    transcript: Option<Vec<Vec<Lit>>>,
    pub(crate) effort: Effort,
    /// By thread: the number of events that every witness has.
    must: Vec<u32>,
    pub(crate) fork: Option<Fork>,
}

/// The answer to a query.
pub(crate) enum QueryOutcome {
    /// Feasible, in this order from the start of the window.
    Order(Vec<Node>),
    No,
    Spent,
}

impl<'a> Query<'a> {
    /// None if the edges that hold in every order exclude the candidate.
    pub(crate) fn new(
        model: &'a Model<'a>,
        (from, to): (Node, Node),
        steps: &'a [Node],
        adjacent: bool,
        effort: Effort,
    ) -> Option<Self> {
        if !is_possible(model, steps, adjacent) {
            return None;
        }
        let (nodes, must) = start(model, (from, to), steps, adjacent);
        effort.spend(nodes.len() as u64 / u64::from(EVENTS_PER_STEP));
        let bundle = if adjacent { steps } else { &[] };
        let mut order = Order::new(model, (from, to), bundle, nodes);
        if !adjacent {
            for pair in steps.windows(2) {
                order.add(pair[0], pair[1], ALWAYS).ok()?;
            }
        }
        let arrows = Arrows::new(order, effort.clone());
        Some(Query {
            model,
            from,
            to,
            steps,
            adjacent,
            unordered: false,
            aparts: &[],
            arrows,
            solver: Solver::new(effort.clone()),
            choices: FxHashMap::default(),
            denied: FxHashSet::default(),
            matched: FxHashSet::default(),
            ended: FxHashMap::default(),
            dead: false,
            transcript: None,
            effort,
            must,
            fork: None,
        })
    }

    /// The same query, for an order in which happens-before does not order the first event before the
    /// last one.
    pub(crate) fn unordered(self, unordered: bool) -> Self {
        Query { unordered, ..self }
    }

    /// The candidate's events, in their order.
    pub(crate) fn steps(&self) -> &'a [Node] {
        self.steps
    }

    /// Solves, walks through the order, adds clauses for broken rules, and repeats.
    pub(crate) fn answer(mut self) -> QueryOutcome {
        self.run()
    }

    /// The same, with the clauses that the solver had in the end.
    pub(crate) fn transcribe(mut self) -> (QueryOutcome, Transcript) {
        self.transcript = Some(Vec::new());
        let outcome = self.run();
        let mut clauses = self.transcript.take().unwrap_or_default();
        if matches!(outcome, QueryOutcome::Order(_)) {
            clauses.extend(self.escapes().into_iter().map(|it| vec![it]));
        }
        let mut arrows = self.arrows.into_edges();
        let variables = clauses.iter().flatten().map(|it| it.unsigned_abs() as usize);
        arrows.resize(variables.max().unwrap_or(0).max(arrows.len()), None);
        let steps = self.steps.to_vec();
        (outcome, Transcript { clauses, arrows, steps, adjacent: self.adjacent })
    }

    fn run(&mut self) -> QueryOutcome {
        loop {
            let escapes = self.escapes();
            match self.solver.solve(&mut self.arrows, &escapes) {
                Answer::Yes => {}
                Answer::No if self.widen() => continue,
                Answer::No => return QueryOutcome::No,
                Answer::Spent => return QueryOutcome::Spent,
            }
            let counts = self.inside();
            let witness = self.witness(&counts);
            self.effort.spend(witness.len() as u64 / 16);
            if self.effort.is_spent() {
                return QueryOutcome::Spent;
            }
            let broken = self.walk(&witness, &counts) + self.separate(&counts);
            if broken == 0 && !(self.unordered && self.unorder(&witness)) {
                return QueryOutcome::Order(witness);
            }
            if self.dead {
                return QueryOutcome::No;
            }
        }
    }

    pub(crate) fn last(&self) -> Node {
        self.steps.last().copied().unwrap_or(NEVER)
    }

    /// By thread: the number of its events that the last event needs in the solution.
    fn inside(&self) -> Vec<u32> {
        let mut counts = self.must.clone();
        let edges: Vec<_> = self.solver.solution().filter_map(|it| self.arrows.edge(it)).collect();
        let mut grows = true;
        while grows {
            grows = false;
            for (before, after) in &edges {
                if self.is_inside(&counts, *after) && !self.is_inside(&counts, *before) {
                    join(self.model, &mut counts, *before);
                    grows = true;
                }
            }
        }
        counts
    }

    pub(crate) fn is_inside(&self, counts: &[u32], node: Node) -> bool {
        let (thread, index) = self.model.places[node as usize];
        index < counts[thread as usize]
    }

    /// The position of an event in the current order.
    pub(crate) fn place(&self, node: Node) -> (u32, usize) {
        let among = self.steps.iter().position(|it| *it == node).filter(|_| self.adjacent);
        (self.arrows.order.place(node), among.unwrap_or(0))
    }

    /// Whether it does not matter in the current order what an event sees.
    pub(crate) fn is_last(&self, node: Node, counts: &[u32]) -> bool {
        let inside = |it: Node| it < self.to && self.is_inside(counts, it);
        let goes_on = || self.model.updates(node) || self.model.next(node).is_some_and(inside);
        node == self.last() || !goes_on()
    }

    /// The events that the last event needs, in the order of the solution.
    fn witness(&self, counts: &[u32]) -> Vec<Node> {
        let order = &self.arrows.order;
        let end = order.place(self.last()) as usize;
        let inside = order.nodes()[..end].iter().filter(|it| self.is_inside(counts, **it));
        let steps = if self.adjacent { self.steps } else { &self.steps[self.steps.len() - 1..] };
        inside.chain(steps).copied().collect()
    }

    fn is_before(&self, one: Node, other: Node) -> bool {
        let before = |one, other| self.model.before(one, other);
        if before(one, other) {
            return true;
        }
        let from = self.steps.iter().position(|it| before(one, *it));
        let to = self.steps.iter().rposition(|it| before(*it, other));
        from.zip(to).is_some_and(|(from, to)| self.adjacent || from < to)
    }

    /// Whether one event comes before another. Events outside of the window come before or after
    /// all events in it.
    pub(crate) fn precedes(&mut self, one: Node, other: Node) -> Known {
        let yes = |is: bool| if is { Known::Yes } else { Known::No };
        if one < self.from || other < self.from {
            return yes(one < other);
        }
        if one >= self.to || other >= self.to {
            return yes(one < self.to);
        }
        if one == other {
            return Known::No;
        }
        if self.adjacent {
            let place = |it| self.steps.iter().position(|step| *step == it);
            if let (Some(one), Some(other)) = (place(one), place(other)) {
                return yes(one < other);
            }
        }
        if self.is_before(one, other) {
            return Known::Yes;
        }
        if self.is_before(other, one) {
            return Known::No;
        }
        Known::If(self.arrows.lit(one, other, |now| self.solver.variable(now)))
    }

    /// Whether an event is not in the witness.
    pub(crate) fn is_out(&mut self, node: Node) -> Known {
        if self.steps.contains(&node) {
            return Known::No;
        }
        self.precedes(self.last(), node)
    }

    /// Whether it does not matter what an event sees, because its thread does not continue. A
    /// read-modify-write passes the value on, so it matters there if any event comes after.
    pub(crate) fn is_free(&mut self, node: Node) -> Known {
        if node == self.last() {
            return Known::Yes;
        }
        if self.model.updates(node) {
            return self.is_out(node);
        }
        self.model.next(node).map_or(Known::Yes, |it| self.is_out(it))
    }

    /// Adds a clause; returns whether it was not true already.
    pub(crate) fn clause(&mut self, parts: &[Known]) -> bool {
        let mut lits = Vec::with_capacity(parts.len());
        for part in parts {
            match *part {
                Known::Yes => return false,
                Known::No => {}
                Known::If(lit) => lits.push(lit),
            }
        }
        self.dead |= lits.is_empty();
        if let Some(transcript) = &mut self.transcript {
            transcript.push(lits.clone());
        }
        self.effort.spend(1 + lits.len() as u64);
        self.solver.clause(&lits);
        true
    }
}

/// Whether the edges that hold in every order allow the steps.
fn is_possible(model: &Model<'_>, steps: &[Node], adjacent: bool) -> bool {
    let pairs = |at: usize| steps[at + 1..].iter().map(move |it| (steps[at], *it));
    if (0..steps.len()).flat_map(pairs).any(|(one, other)| model.before(other, one)) {
        return false;
    }
    // An event that always comes between two adjacent steps excludes them.
    let between =
        |it: Node| !steps.contains(&it) && steps.iter().any(|step| model.before(*step, it));
    let before = |it: &Node| {
        let others = model.reach.sources(*it).iter().copied();
        others.chain(model.previous(*it)).collect::<Vec<_>>()
    };
    !adjacent || !steps.iter().flat_map(before).any(between)
}

/// Extends the prefixes of all threads by the events that come before an event in every order.
pub(crate) fn join(model: &Model<'_>, counts: &mut [u32], node: Node) {
    for (thread, count) in (0..).zip(counts) {
        *count = (*count).max(model.reach.count(&model.places, node, thread));
    }
}

/// The initial order: the events that each step needs, as recorded, followed by the rest. Also, by
/// thread, the number of events that all steps need.
fn start(
    model: &Model<'_>,
    (from, to): (Node, Node),
    steps: &[Node],
    adjacent: bool,
) -> (Vec<Node>, Vec<u32>) {
    let mut counts = vec![0; model.threads.len()];
    let mut nodes = Vec::with_capacity((to - from) as usize);
    let mut taken = vec![false; (to - from) as usize];
    for step in steps {
        taken[(step - from) as usize] = adjacent;
    }
    let mut take = |nodes: &mut Vec<Node>, counts: &[u32]| {
        for node in from..to {
            let (thread, index) = model.places[node as usize];
            let taken = &mut taken[(node - from) as usize];
            if !*taken && index < counts[thread as usize] {
                *taken = true;
                nodes.push(node);
            }
        }
    };
    for step in steps {
        join(model, &mut counts, *step);
        if !adjacent {
            take(&mut nodes, &counts);
        }
    }
    if adjacent {
        take(&mut nodes, &counts);
        nodes.extend(steps.last());
    }
    let must = counts.clone();
    take(&mut nodes, &vec![u32::MAX; counts.len()]);
    (nodes, must)
}
