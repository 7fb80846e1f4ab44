//! Backward slices: from a failure site along dependences to the shared reads that decide it.
//!
//! Steps are counted as in the ConSeq paper, with one difference: an instruction that only moves a value
//! is no step. So the distance of a read hardly depends on the compiler and its level of optimisation.
//! Going through a pointer to what it points to, and from a function to its callers, is a step.

use std::{collections::VecDeque, hash::Hash};

use norn_model::CriticalRead;
use rustc_hash::FxHashMap;

use crate::{
    dependence::Dependences,
    location::{ARGUMENTS, Location},
    program::Program,
    reaching::Definition,
    seed::Seed,
};

/// Maximum number of callers into which a slice continues: those of a utility function say nothing.
const MAX_CALLERS: usize = 8;
/// Maximum number of instructions on a slice.
const MAX_NODES: usize = 4_000;
/// The context of a slice that did not enter the function through a call.
const OUTSIDE: u32 = 0;

/// An instruction on a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Node {
    function: u32,
    instruction: u32,
    /// Whether only its execution matters, not what it computes.
    place: bool,
    /// The call through which the slice entered the function.
    context: u32,
}

/// What is known of a visited node.
struct Visit {
    node: Node,
    distance: u32,
    from: Option<usize>,
}

/// A slice under construction.
pub(crate) struct Slicer<'p> {
    program: &'p Program,
    limit: u32,
    control: bool,
    visits: Vec<Visit>,
    known: FxHashMap<Node, u32>,
    /// The arguments that were followed to callers, by function, context and location: a recursive
    /// function can pass its own argument on for ever.
    passed: FxHashMap<(u32, u32, Location), u32>,
    queue: VecDeque<usize>,
    /// The calls through which the slice entered functions: the call, and its own context.
    contexts: Vec<(u32, u32, u32)>,
}

impl<'p> Slicer<'p> {
    /// The reads that decide what happens at a failure site, nearest first.
    pub(crate) fn reads(
        program: &'p Program,
        function: u32,
        seed: &Seed,
        limit: u32,
    ) -> Vec<CriticalRead> {
        let mut slicer = Slicer {
            program,
            limit,
            control: seed.control,
            visits: Vec::new(),
            known: FxHashMap::default(),
            passed: FxHashMap::default(),
            queue: VecDeque::new(),
            contexts: vec![(u32::MAX, 0, OUTSIDE)],
        };
        slicer.start(function, seed);
        slicer.walk();
        slicer.collect(function, seed)
    }

    fn of(&self, function: u32) -> &'p Dependences {
        &self.program.functions[function as usize]
    }

    fn start(&mut self, function: u32, seed: &Seed) {
        let node = Node { function, instruction: seed.instruction, place: true, context: OUTSIDE };
        self.visits.push(Visit { node, distance: 0, from: None });
        self.known.insert(node, 0);
        if seed.control {
            self.queue.push_back(0);
        }
        // What is used at the failure site itself is one step away, whether it is moved there or not.
        for definition in &seed.data {
            match *definition {
                Definition::Instruction(instruction) => {
                    self.visit(Node { instruction, place: false, ..node }, 0, 1);
                }
                Definition::Entry(location) => self.pass(location, node, (0, 0)),
            }
        }
    }

    fn walk(&mut self) {
        while let Some(at) = self.queue.pop_front() {
            let Visit { node, distance, .. } = self.visits[at];
            // A node may have been reached on a shorter way after it was queued.
            if self.known.get(&node) != Some(&distance) || self.visits.len() > MAX_NODES {
                continue;
            }
            if !node.place {
                self.follow_data(at, node, distance);
            }
            if self.control {
                self.follow_control(at, node, distance);
            }
        }
    }

    fn follow_data(&mut self, at: usize, node: Node, distance: u32) {
        let dependences = self.of(node.function);
        let index = node.instruction as usize;
        self.define(&dependences.values[index], node, (at, distance), 0);
        self.define(&dependences.addresses[index], node, (at, distance), 1);
        let Some(call) = dependences.calls.get(&node.instruction) else { return };
        let Some(callee) = call.target.and_then(|it| self.program.at(it)) else { return };
        let context = self.enter(node);
        let inside = Node { function: callee, context, ..node };
        self.define(&self.of(callee).returned, inside, (at, distance), 0);
    }

    /// Continues at the definitions of values that a node uses.
    fn define(
        &mut self,
        definitions: &[Definition],
        user: Node,
        (at, distance): (usize, u32),
        more: u32,
    ) {
        for definition in definitions {
            match *definition {
                Definition::Instruction(instruction) => {
                    let copies = self.of(user.function).copies[instruction as usize];
                    let node = Node { instruction, place: false, ..user };
                    self.visit(node, at, distance + more + u32::from(!copies));
                }
                Definition::Entry(location) => self.pass(location, user, (at, distance + more)),
            }
        }
    }

    /// Continues at the calls that passed an argument.
    fn pass(&mut self, location: Location, user: Node, (at, distance): (usize, u32)) {
        let Some(argument) = ARGUMENTS.iter().position(|it| *it == location) else { return };
        let key = (user.function, user.context, location);
        if distance >= self.limit || !is_nearer(&mut self.passed, key, distance) {
            return;
        }
        for node in self.calls_of(user) {
            let call = self.of(node.function).calls.get(&node.instruction);
            let Some(arguments) = call.map(|it| &it.arguments[argument]) else { continue };
            self.define(arguments, node, (at, distance), 1);
        }
    }

    fn follow_control(&mut self, at: usize, node: Node, distance: u32) {
        let dependences = self.of(node.function);
        let block = dependences.block_of[node.instruction as usize];
        let branches = &dependences.control[block as usize];
        for (branch, _) in branches {
            let instruction = dependences.last[*branch as usize];
            self.visit(Node { instruction, place: false, ..node }, at, distance + 1);
        }
        // Whether the function is executed at all is up to its callers.
        let entered = branches.is_empty() && dependences.reachable[block as usize];
        if entered && node.context == OUTSIDE {
            for call in self.calls_of(node) {
                self.visit(Node { place: true, ..call }, at, distance + 1);
            }
        }
    }

    /// The calls through which control may have come into the function of a node.
    fn calls_of(&self, node: Node) -> Vec<Node> {
        if node.context != OUTSIDE {
            let (function, instruction, context) = self.contexts[node.context as usize];
            return vec![Node { function, instruction, context, place: false }];
        }
        let callers = &self.program.callers[node.function as usize];
        if callers.len() > MAX_CALLERS {
            return Vec::new();
        }
        let call = |it: &(u32, u32)| Node { function: it.0, instruction: it.1, ..node };
        callers.iter().map(call).collect()
    }

    fn enter(&mut self, call: Node) -> u32 {
        let key = (call.function, call.instruction, call.context);
        let known = self.contexts.iter().position(|it| *it == key);
        let context = known.unwrap_or(self.contexts.len());
        if known.is_none() {
            self.contexts.push(key);
        }
        u32::try_from(context).unwrap_or(OUTSIDE)
    }

    fn visit(&mut self, node: Node, from: usize, distance: u32) {
        if distance > self.limit || !is_nearer(&mut self.known, node, distance) {
            return;
        }
        let steps = distance != self.visits[from].distance;
        self.visits.push(Visit { node, distance, from: Some(from) });
        let at = self.visits.len() - 1;
        if steps { self.queue.push_back(at) } else { self.queue.push_front(at) }
    }

    fn collect(&self, function: u32, seed: &Seed) -> Vec<CriticalRead> {
        let mut nearest: FxHashMap<u64, (u32, usize)> = FxHashMap::default();
        for (at, visit) in self.visits.iter().enumerate().filter(|it| !it.1.node.place) {
            let read = self.of(visit.node.function).reads.get(&visit.node.instruction);
            let Some(pc) = read.copied().filter(|_| self.is_within(at, function, seed)) else {
                continue;
            };
            let best = nearest.entry(pc).or_insert((u32::MAX, at));
            *best = (*best).min((visit.distance.max(1), at));
        }
        let mut reads: Vec<_> = nearest
            .into_iter()
            .map(|(pc, (distance, at))| CriticalRead { pc, distance, chain: self.chain(at) })
            .collect();
        reads.sort_unstable_by_key(|it| (it.distance, it.pc));
        reads
    }

    fn path(&self, at: usize) -> impl Iterator<Item = &Visit> {
        std::iter::successors(Some(at), |it| self.visits[*it].from).map(|it| &self.visits[it])
    }

    /// Whether the way to a read stays in the loop of a failure site. Only what is repeated can keep a
    /// loop running.
    fn is_within(&self, at: usize, function: u32, seed: &Seed) -> bool {
        let Some(blocks) = &seed.within else { return true };
        self.path(at).all(|it| {
            let block = self.of(it.node.function).block_of[it.node.instruction as usize];
            it.node.function == function && blocks.contains(&block)
                || it.node.function != function && it.node.context != OUTSIDE
        })
    }

    /// The instructions from the failure site to a read.
    fn chain(&self, at: usize) -> Vec<u64> {
        let behind = |it: &Visit| self.of(it.node.function).behind[it.node.instruction as usize];
        let mut chain: Vec<_> = self.path(at).map(behind).collect();
        chain.reverse();
        chain.dedup();
        chain
    }
}

/// Whether something was not reached on a way as short as this before.
fn is_nearer<K: Hash + Eq>(known: &mut FxHashMap<K, u32>, key: K, distance: u32) -> bool {
    let nearest = known.entry(key).or_insert(u32::MAX);
    let nearer = distance < *nearest;
    *nearest = distance.min(*nearest);
    nearer
}
