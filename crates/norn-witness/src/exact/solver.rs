//! A SAT solver for clauses over the order of events, which decides as few literals as possible.
//!
//! After Marques-Silva and Sakallah (*GRASP*, 1996) and Eén and Sörensson (*An extensible
//! SAT-solver*, 2003): decisions, propagation by two watched literals ([`watch`](super::watch)),
//! and clause learning with non-chronological backtracking ([`learn`](super::learn)).
//!
//! Where we differ: there always is a current order of all events ([`Meaning`]), in which each
//! literal is true or false, decided or not. A clause is *carried* by one of its literals that is
//! true. The solver only decides where a clause is carried by none: it makes one of its literals
//! true, which changes the order a little, and other clauses may lose the literal that carried
//! them. When all clauses are carried, the order is a solution. So most literals are never decided;
//! and backtracking undoes decisions but keeps the order, from which the search continues.
//!
//! Learned clauses are never dropped: the effort bounds their number. Effort is counted in steps,
//! not in time, so that the same query always has the same answer.

use std::{cell::Cell, rc::Rc};

use norn_model::Cancel;
use rustc_hash::FxHashSet;

use super::watch::{Clause, Watch};

/// A literal: the number of a variable, from 1; negative if it is negated.
pub(crate) type Lit = i32;

/// The answer of the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// The effort was spent before a solution or a proof was found.
    Spent,
}

/// The theory: the meaning of literals.
pub(crate) trait Meaning {
    /// Makes a literal true, or returns literals that cannot be true together. Reports the literals
    /// that are true now and may not have been before.
    fn assert(&mut self, lit: Lit, changed: &mut Vec<Lit>) -> Result<(), Vec<Lit>>;
    /// The number of assertions so far.
    fn mark(&self) -> usize;
    /// Retracts later assertions. Literals keep their values until the next assertion.
    fn back(&mut self, mark: usize);
    /// How far the order has to change to make a literal true.
    fn distance(&self, lit: Lit) -> u32;
}

/// The effort that is left, shared by all parts of a query.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    left: Rc<Cell<u64>>,
    cancel: Cancel,
}

impl Effort {
    pub(crate) fn new(steps: u64, cancel: &Cancel) -> Self {
        Effort { left: Rc::new(Cell::new(steps)), cancel: cancel.clone() }
    }

    pub(crate) fn spend(&self, steps: u64) {
        self.left.set(self.left.get().saturating_sub(steps));
    }

    /// The steps that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Whether no effort is left, or the search was cancelled.
    pub(crate) fn is_spent(&self) -> bool {
        self.left.get() == 0 || self.cancel.is_cancelled()
    }
}

/// No clause.
pub(crate) const NONE: u32 = u32::MAX;

/// The state of a variable.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// The value in the current order.
    now: bool,
    /// The value that was decided or propagated.
    value: Option<bool>,
    pub(crate) level: u32,
    /// The clause that propagated the value.
    pub(crate) reason: u32,
    /// The clauses that it carries.
    carries: Vec<u32>,
    /// For conflict analysis.
    pub(crate) seen: bool,
}

/// Finds an order in which all clauses are true.
#[derive(Debug)]
pub(crate) struct Solver {
    pub(crate) effort: Effort,
    pub(crate) variables: Vec<Variable>,
    /// By literal.
    pub(crate) watches: Vec<Vec<Watch>>,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) lits: Vec<Lit>,
    /// Clauses that no literal carries. Learned clauses are not among them: the others imply them.
    open: Vec<u32>,
    /// The decided and propagated literals, in order.
    pub(crate) trail: Vec<Lit>,
    /// How far the trail has been propagated, and asserted.
    propagated: usize,
    asserted: usize,
    /// By decision level: its begin in the trail, and the mark of the theory.
    pub(crate) levels: Vec<(usize, usize)>,
    /// The assumptions from which it follows that there is no solution.
    pub(crate) responsible: FxHashSet<Lit>,
    /// Whether there is no solution without any assumption.
    dead: bool,
    changed: Vec<Lit>,
}

/// The index of a literal's variable.
pub(crate) fn at(lit: Lit) -> usize {
    lit.unsigned_abs() as usize - 1
}

/// The index of a literal, where both of a variable have one.
pub(crate) fn both(lit: Lit) -> usize {
    at(lit) * 2 + usize::from(lit < 0)
}

impl Solver {
    pub(crate) fn new(effort: Effort) -> Self {
        Solver {
            effort,
            variables: Vec::new(),
            watches: Vec::new(),
            clauses: Vec::new(),
            lits: Vec::new(),
            open: Vec::new(),
            trail: Vec::new(),
            propagated: 0,
            asserted: 0,
            levels: Vec::new(),
            responsible: FxHashSet::default(),
            dead: false,
            changed: Vec::new(),
        }
    }

    /// Adds a variable with its value in the current order.
    pub(crate) fn variable(&mut self, now: bool) -> Lit {
        let carries = Vec::new();
        let (value, level, reason, seen) = (None, 0, NONE, false);
        self.variables.push(Variable { now, value, level, reason, carries, seen });
        self.watches.extend([Vec::new(), Vec::new()]);
        i32::try_from(self.variables.len()).unwrap_or(i32::MAX)
    }

    /// Adds a clause, at the root level.
    pub(crate) fn clause(&mut self, lits: &[Lit]) {
        let mut lits: Vec<_> =
            lits.iter().copied().filter(|it| self.value(*it) != Some(false)).collect();
        lits.sort_unstable();
        lits.dedup();
        let both_signs = |it: &Lit| lits.binary_search(&-it).is_ok();
        if lits.iter().any(|it| self.value(*it).is_some() || both_signs(it)) {
            return;
        }
        match lits[..] {
            [] => self.dead = true,
            [lit] => self.enqueue(lit, NONE),
            _ => {
                let clause = self.attach(&lits);
                self.open.push(clause);
            }
        }
    }

    pub(crate) fn solve<M: Meaning>(&mut self, meaning: &mut M, assumed: &[Lit]) -> Answer {
        self.responsible.clear();
        let answer = if self.dead { Answer::No } else { self.search(meaning, assumed) };
        self.back(0, meaning);
        answer
    }

    /// Whether a literal is true in the current order.
    pub(crate) fn is_true(&self, lit: Lit) -> bool {
        self.variables[at(lit)].now == (lit > 0)
    }

    /// Whether it follows from an assumed literal that there is no solution.
    pub(crate) fn is_responsible(&self, lit: Lit) -> bool {
        self.responsible.contains(&lit)
    }

    /// Literals that make all clauses true, whatever the values of the others.
    pub(crate) fn solution(&self) -> impl Iterator<Item = Lit> {
        let carriers = (1..).zip(&self.variables).filter(|it| !it.1.carries.is_empty());
        let carriers = carriers.map(|(number, it)| if it.now { number } else { -number });
        carriers.chain(self.trail.iter().copied())
    }

    pub(crate) fn value(&self, lit: Lit) -> Option<bool> {
        self.variables[at(lit)].value.map(|it| it == (lit > 0))
    }

    fn level(&self) -> u32 {
        u32::try_from(self.levels.len()).unwrap_or(NONE)
    }

    pub(crate) fn enqueue(&mut self, lit: Lit, reason: u32) {
        let level = self.level();
        let it = &mut self.variables[at(lit)];
        (it.value, it.level, it.reason) = (Some(lit > 0), level, reason);
        self.trail.push(lit);
    }

    fn search<M: Meaning>(&mut self, meaning: &mut M, assumed: &[Lit]) -> Answer {
        loop {
            if let Some(conflict) = self.propagate(meaning) {
                if self.level() <= 1 {
                    self.find_assumptions(conflict);
                    self.dead |= self.level() == 0;
                    return Answer::No;
                }
                self.learn(conflict, meaning);
                continue;
            }
            if self.effort.is_spent() {
                return Answer::Spent;
            }
            if self.level() == 0 {
                self.levels.push((self.trail.len(), meaning.mark()));
                if !self.assume(assumed) {
                    return Answer::No;
                }
            } else if let Some(lit) = self.next(meaning) {
                self.effort.spend(1);
                self.levels.push((self.trail.len(), meaning.mark()));
                self.enqueue(lit, NONE);
            } else {
                return Answer::Yes;
            }
        }
    }

    /// Assumes all assumptions at the first level; returns whether none is known to be false.
    fn assume(&mut self, assumed: &[Lit]) -> bool {
        for lit in assumed {
            match self.value(*lit) {
                Some(true) => {}
                Some(false) => drop(self.responsible.insert(*lit)),
                None => self.enqueue(*lit, NONE),
            }
        }
        self.responsible.is_empty()
    }

    /// The next decision: of an uncarried clause, the literal that changes the order the least.
    fn next<M: Meaning>(&mut self, meaning: &M) -> Option<Lit> {
        while let Some(&clause) = self.open.last() {
            let lits = self.lits(clause);
            if let Some(&lit) = lits.iter().find(|it| self.is_true(**it)) {
                self.open.pop();
                self.variables[at(lit)].carries.push(clause);
                continue;
            }
            let free = lits.iter().copied().filter(|it| self.value(*it).is_none());
            return free.min_by_key(|it| meaning.distance(*it));
        }
        None
    }

    /// Propagates. Returns a conflict: literals of which one would have to be true.
    fn propagate<M: Meaning>(&mut self, meaning: &mut M) -> Option<Vec<Lit>> {
        while let Some(&lit) = self.trail.get(self.propagated) {
            self.propagated += 1;
            if let Some(clause) = self.follow(-lit) {
                return Some(self.lits(clause).to_vec());
            }
        }
        // An assertion can move many events. The caller ends the search when the effort is spent.
        while let Some(&lit) = self.trail.get(self.asserted)
            && !self.effort.is_spent()
        {
            if let Err(reason) = meaning.assert(lit, &mut self.changed) {
                return Some(reason.into_iter().map(|it| -it).collect());
            }
            self.asserted += 1;
            let changed = std::mem::take(&mut self.changed);
            for lit in &changed {
                self.change(*lit);
            }
            self.changed = changed;
            self.changed.clear();
        }
        None
    }

    /// Notes that a literal is true now.
    fn change(&mut self, lit: Lit) {
        let it = &mut self.variables[at(lit)];
        if it.now != (lit > 0) {
            it.now = lit > 0;
            self.open.append(&mut it.carries);
        }
    }

    /// Undoes the decisions of higher levels. The order stays as it is.
    pub(crate) fn back<M: Meaning>(&mut self, level: u32, meaning: &mut M) {
        let Some(&(len, mark)) = self.levels.get(level as usize) else { return };
        for lit in self.trail.drain(len..) {
            self.variables[at(lit)].value = None;
        }
        self.levels.truncate(level as usize);
        (self.propagated, self.asserted) = (self.propagated.min(len), self.asserted.min(len));
        meaning.back(mark);
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    const VARIABLES: i32 = 7;

    /// A theory in which literals are independent.
    struct Free;

    impl Meaning for Free {
        fn assert(&mut self, lit: Lit, changed: &mut Vec<Lit>) -> Result<(), Vec<Lit>> {
            changed.push(lit);
            Ok(())
        }

        fn mark(&self) -> usize {
            0
        }

        fn back(&mut self, _: usize) {}

        fn distance(&self, lit: Lit) -> u32 {
            lit.unsigned_abs()
        }
    }

    fn literal() -> impl Strategy<Value = Lit> {
        (1..=VARIABLES, any::<bool>()).prop_map(|(it, denied)| if denied { -it } else { it })
    }

    fn clauses() -> impl Strategy<Value = Vec<Vec<Lit>>> {
        vec(vec(literal(), 1..4), 0..25)
    }

    /// Tries all assignments.
    fn is_possible(clauses: &[Vec<Lit>], assumed: &[Lit]) -> bool {
        (0..1 << VARIABLES).any(|values: u32| {
            let is = |lit: &Lit| (values >> at(*lit) & 1 == 1) == (*lit > 0);
            assumed.iter().all(is) && clauses.iter().all(|it| it.iter().any(is))
        })
    }

    proptest! {
        #[test]
        fn answers_are_right(first in clauses(), more in clauses(), mut assumed in vec(literal(), 0..4)) {
            assumed.sort_unstable_by_key(|it| it.abs());
            assumed.dedup_by_key(|it| it.abs());
            let mut solver = Solver::new(Effort::new(100_000, &Cancel::default()));
            for number in 0..VARIABLES {
                solver.variable(number % 2 == 0);
            }
            let mut all = Vec::new();
            for clauses in [first, more] {
                for clause in &clauses {
                    solver.clause(clause);
                }
                all.extend(clauses);
                let answer = solver.solve(&mut Free, &assumed);
                prop_assert_ne!(answer, Answer::Spent);
                prop_assert_eq!(answer == Answer::Yes, is_possible(&all, &assumed));
                if answer == Answer::Yes {
                    let solution: Vec<_> = solver.solution().collect();
                    prop_assert!(solution.iter().chain(&assumed).all(|it| solver.is_true(*it)));
                    let is_true =
                        |it: &Vec<Lit>| it.iter().any(|lit| solution.contains(lit) || it.contains(&-lit));
                    prop_assert!(all.iter().all(is_true));
                } else {
                    assumed.retain(|it| solver.is_responsible(*it));
                    prop_assert!(!is_possible(&all, &assumed));
                }
            }
        }
    }
}
