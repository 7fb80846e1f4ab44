//! A solver for clauses, with a theory that may object; and `batsat` as one.
//!
//! Nothing outside of this file knows which solver it is. Effort is counted in steps, not in time:
//! the same question always ends in the same way.

use std::{cell::Cell, rc::Rc};

use batsat::{
    Callbacks, Lit as BatLit, SolverInterface, SolverOpts, Theory, TheoryArg, Var, lbool,
};

/// A literal: a variable's number, from 1; negative if it is denied.
pub(crate) type Lit = i32;

/// What a solver says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// The effort was spent before.
    Spent,
}

/// What the literals mean.
pub(crate) trait Meaning {
    /// A literal is taken for true; literals that cannot be true together if that is so.
    fn assert(&mut self, lit: Lit) -> Result<(), Vec<Lit>>;
    /// How much has been taken for true; 0 is nothing.
    fn mark(&self) -> usize;
    fn back(&mut self, mark: usize);
    /// All literals are true: this is a solution.
    fn accept(&mut self);
}

/// Finds values for variables so that all clauses are true.
pub(crate) trait Solver {
    /// A new variable, which is false unless there is a reason.
    fn variable(&mut self) -> Lit;
    fn clause(&mut self, lits: &[Lit]);
    fn solve<M: Meaning>(&mut self, meaning: &mut M, assumed: &[Lit]) -> Answer;
    /// Whether a literal is true in the solution.
    fn is_true(&self, lit: Lit) -> bool;
    /// Whether an assumed literal is a reason for which there is no solution.
    fn is_blamed(&self, lit: Lit) -> bool;
}

/// How much effort is left, shared by all who spend it.
#[derive(Clone, Debug)]
pub(crate) struct Effort(Rc<Cell<u64>>);

impl Effort {
    pub(crate) fn new(steps: u64) -> Self {
        Effort(Rc::new(Cell::new(steps)))
    }

    pub(crate) fn spend(&self, steps: u64) {
        self.0.set(self.0.get().saturating_sub(steps));
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

impl Callbacks for Effort {
    fn stop(&self) -> bool {
        self.spend(1);
        self.is_spent()
    }
}

/// The solver of `batsat`.
pub(crate) struct Bat {
    solver: batsat::Solver<Effort>,
    /// There is no solution, whatever is assumed.
    dead: bool,
}

impl Bat {
    pub(crate) fn new(effort: Effort) -> Self {
        Bat { solver: batsat::Solver::new(SolverOpts::default(), effort), dead: false }
    }
}

fn ours(lit: BatLit) -> Lit {
    let number = lit.var().idx().cast_signed() + 1;
    if lit.sign() { number } else { -number }
}

fn theirs(lit: Lit) -> BatLit {
    BatLit::new(Var::unsafe_from_idx(lit.unsigned_abs() - 1), lit > 0)
}

impl Solver for Bat {
    fn variable(&mut self) -> Lit {
        self.solver.new_var_default().idx().cast_signed() + 1
    }

    fn clause(&mut self, lits: &[Lit]) {
        let mut lits: Vec<_> = lits.iter().copied().map(theirs).collect();
        self.dead |= lits.is_empty() || !self.solver.add_clause_reuse(&mut lits);
    }

    fn solve<M: Meaning>(&mut self, meaning: &mut M, assumed: &[Lit]) -> Answer {
        if self.dead {
            return Answer::No;
        }
        let assumed: Vec<_> = assumed.iter().copied().map(theirs).collect();
        meaning.back(0);
        let mut watch = Watch { meaning, head: 0, levels: Vec::new(), dead: false };
        let answer = self.solver.solve_limited_th(&mut watch, &assumed);
        self.dead |= watch.dead || !self.solver.is_ok();
        match answer {
            _ if watch.dead => Answer::No,
            it if it == lbool::TRUE => Answer::Yes,
            it if it == lbool::FALSE => Answer::No,
            _ => Answer::Spent,
        }
    }

    fn is_true(&self, lit: Lit) -> bool {
        self.solver.value_lit(theirs(lit)) == lbool::TRUE
    }

    fn is_blamed(&self, lit: Lit) -> bool {
        !self.dead && self.solver.unsat_core_contains_var(theirs(lit).var())
    }
}

/// Hands what the solver assigns to the meaning.
struct Watch<'a, M> {
    meaning: &'a mut M,
    /// How many of the assigned literals were handed on.
    head: usize,
    levels: Vec<(usize, usize)>,
    /// The meaning objects for no reason that a literal has.
    dead: bool,
}

impl<M: Meaning> Watch<'_, M> {
    /// Whether all that is assigned can be true together.
    fn hand_on(&mut self, solver: &mut TheoryArg<'_>) -> bool {
        while let Some(&lit) = solver.model().get(self.head) {
            if let Err(reason) = self.meaning.assert(ours(lit)) {
                let mut denied: Vec<_> = reason.iter().map(|it| !theirs(*it)).collect();
                // The solver cannot be told that there is no reason.
                if denied.is_empty() {
                    self.dead = true;
                    denied.push(!lit);
                }
                solver.raise_conflict(&denied, false);
                return false;
            }
            self.head += 1;
        }
        true
    }
}

impl<M: Meaning> Theory for Watch<'_, M> {
    fn final_check(&mut self, solver: &mut TheoryArg<'_>) {
        if self.hand_on(solver) {
            self.meaning.accept();
        }
    }

    fn partial_check(&mut self, solver: &mut TheoryArg<'_>) {
        self.hand_on(solver);
    }

    fn create_level(&mut self) {
        self.levels.push((self.head, self.meaning.mark()));
    }

    fn pop_levels(&mut self, count: usize) {
        let left = self.levels.len().saturating_sub(count);
        if let Some(&(head, mark)) = self.levels.get(left) {
            self.head = self.head.min(head);
            self.meaning.back(mark);
        }
        self.levels.truncate(left);
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _: BatLit) -> &[BatLit] {
        // Nothing is ever propagated by the meaning.
        &[]
    }
}
