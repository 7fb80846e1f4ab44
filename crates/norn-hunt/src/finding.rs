//! What came of a candidate.

use std::path::PathBuf;

use crate::Description;
use norn_model::{BugClass, Candidate, Consequence, FailureSite, Verdict};
use norn_predict::Remark;
use norn_report::{Interleaving, Story};
use norn_witness::{Failure, Grade, Witness};

/// A candidate, or several with the same sites, and what came of it.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The instance that was decided, or the first.
    pub candidate: Candidate,
    /// Which trace it was predicted from, from 0: the recorded run, then runs that took new ways.
    pub source: usize,
    /// Who does what to which variable where.
    pub description: Description,
    /// How often the recorded run allows it, and why it may be meant, if that is known.
    pub remark: Option<Remark>,
    /// What came of it.
    pub status: Status,
}

/// What came of a candidate.
#[derive(Clone, Debug)]
pub enum Status {
    /// The program did it.
    Confirmed(Box<Confirmed>),
    /// There is no schedule for it.
    Infeasible(Failure),
    /// There is a schedule, and the program did not follow it.
    Unconfirmed(Verdict),
    /// There was no execution left to try it.
    Untried,
}

/// An anomaly that the program did.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// What it led to.
    pub consequence: Consequence,
    /// Where it failed, if it did.
    pub failure: Option<FailureSite>,
    /// How it came to that, if it failed.
    pub story: Option<Story>,
    /// Whether it printed something else than the recorded run.
    pub other_output: bool,
    /// The schedule that made it happen.
    pub witness: Witness,
    /// What happened in which order, in the recorded run and in this one.
    pub interleaving: Interleaving,
    /// The clip that makes it happen again.
    pub clip: PathBuf,
    /// Executions of the hunt up to this one.
    pub executions: usize,
}

impl Confirmed {
    /// How close to the recorded run the schedule was.
    pub fn grade(&self) -> Grade {
        self.witness.grade
    }
}

impl Finding {
    /// Has another candidate with the same places for a person.
    pub(crate) fn also(&mut self, candidate: &Candidate, remark: Option<Remark>) {
        if candidate.instance == 0 {
            self.remark = self.remark.zip(remark).map(|(one, other)| one.join(other));
        }
    }

    /// What the program did, if it did.
    pub fn confirmed(&self) -> Option<&Confirmed> {
        match &self.status {
            Status::Confirmed(it) => Some(it),
            _ => None,
        }
    }

    /// Whether the program is the worse for it. A data race is undefined behaviour in C and C++,
    /// whatever comes of it this time.
    pub fn is_harmful(&self) -> bool {
        let race = self.candidate.class() == BugClass::Race;
        self.confirmed().is_some_and(|it| race || it.consequence.is_failure())
    }
}
