//! The result for a candidate.

use std::path::PathBuf;

use norn_model::{BugClass, Candidate, Consequence, FailureSite, Verdict};
use norn_predict::Remark;
use norn_report::{AtStake, Fix, Interleaving, NotReproduced, Story, Unordered, UnrecordedOrder};
use norn_witness::{Failure, Grade, Witness};

use crate::{Base, Cause, Description, executor::Run, interleaving::interleaving, source::Source};

/// A candidate, or several with the same sites, and its result.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The instance that was decided, or the first.
    pub candidate: Candidate,
    /// The trace from which it was predicted, counted from 0: the recorded run, then runs with new
    /// coverage.
    pub source: usize,
    /// Which thread does what to which variable at which place.
    pub description: Description,
    /// How often the recorded run allows it, and why it may be intended, if that is known.
    pub remark: Option<Remark>,
    /// A visible failure that depends on what one of its reads sees.
    pub at_stake: Option<AtStake>,
    /// Number of candidates at these places in the trace from which it was first predicted.
    pub instances: usize,
    /// Number of call stacks that lead to these places there, as far as functions are inlined.
    pub stacks: usize,
    /// Of a data race: synchronisation that is not recorded and may order its accesses.
    pub unrecorded_sync: Option<UnrecordedOrder>,
    /// The result.
    pub status: Status,
}

/// The result for a candidate.
#[derive(Clone, Debug)]
pub enum Status {
    /// The program performed it.
    Confirmed(Box<Confirmed>),
    /// The program performed it once, and not again when the clip was replayed.
    NotReproducible(Box<Confirmed>, Box<NotReproduced>),
    /// There is no schedule for it.
    Infeasible(Failure),
    /// There is a schedule, and the program did not follow it.
    Unconfirmed(Verdict),
    /// No execution was left to try it.
    Untried,
}

/// An anomaly that the program performed.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// Its consequence.
    pub consequence: Consequence,
    /// Where it failed, if it did.
    pub failure: Option<FailureSite>,
    /// The explanation of the failure, if it failed.
    pub story: Option<Story>,
    /// The last lines that it wrote to standard error, if it failed.
    pub printed: Vec<String>,
    /// Whether its output or exit status differs from the recorded run.
    pub other_output: bool,
    /// Its exit status, if that differs and is not a failure.
    pub other_status: Option<i32>,
    /// The schedule that produced it.
    pub witness: Witness,
    /// Whether threads were held at places in the code, since the program did not follow the schedule or there
    /// was none.
    pub perturbed: bool,
    /// The order of the relevant events, in the recorded run and in this one.
    pub interleaving: Interleaving,
    /// Why it is a race, if its accesses are not adjacent.
    pub unordered: Option<Unordered>,
    /// A lock that would have excluded it, if it is harmful and such a lock passes the checks.
    pub fix: Option<Fix>,
    /// Of an order violation: the race or atomicity violation that it is part of in this run, if that is
    /// what the program failed of.
    pub cause: Option<Cause>,
    /// The clip that reproduces it.
    pub clip: PathBuf,
    /// Number of executions of the hunt up to and including this one, or an earlier one that showed that it is
    /// harmful.
    pub executions: usize,
}

impl Confirmed {
    /// What a run has shown that was to perform a witness, whose trace is `source`; `performed` is the
    /// trace of the run. It has no clip yet.
    pub(crate) fn new(
        (run, base): (&Run, &Base),
        (source, performed): (&Source, Option<&Source>),
        witness: &Witness,
        executions: usize,
    ) -> Confirmed {
        let status = run.output.status;
        Confirmed {
            consequence: run.consequence().clone(),
            failure: run.failure.clone(),
            story: run.story.clone(),
            printed: run.printed.clone(),
            other_output: run.output != base.output,
            other_status: status.filter(|it| Some(*it) != base.output.status),
            witness: witness.clone(),
            perturbed: false,
            interleaving: interleaving(source, (performed, run.consequence()), &witness.candidate),
            unordered: None,
            fix: None,
            cause: None,
            clip: PathBuf::new(),
            executions,
        }
    }

    /// Leaves out its failure, which did not happen again in a replay.
    pub(crate) fn forget_failure(&mut self) {
        self.consequence = Consequence::None;
        (self.failure, self.story, self.cause) = (None, None, None);
        self.printed.clear();
    }

    /// How close to the recorded run the schedule was.
    pub fn grade(&self) -> Grade {
        self.witness.grade
    }
}

impl Finding {
    /// Adds another candidate that looks the same to a reader.
    pub(crate) fn also(&mut self, candidate: &Candidate, remark: Option<Remark>) {
        if candidate.instance == 0 {
            self.remark = self.remark.zip(remark).map(|(one, other)| one.join(other));
        }
    }

    /// The confirmation, if the program performed the candidate.
    pub fn confirmed(&self) -> Option<&Confirmed> {
        match &self.status {
            Status::Confirmed(it) => Some(it),
            _ => None,
        }
    }

    /// The class by which it is shown: what happened may be more than was predicted.
    pub fn shown_class(&self) -> BugClass {
        let cause = self.confirmed().and_then(|it| it.cause.as_ref());
        cause.map_or(self.candidate.class(), |it| it.kind.class())
    }

    /// Whether it harms the program. A data race always does: it is undefined behaviour in C and
    /// C++, whatever its consequence in this run, unless synchronisation that is not recorded may order
    /// its accesses.
    pub fn is_harmful(&self) -> bool {
        let race = self.candidate.class() == BugClass::Race && self.unrecorded_sync.is_none();
        self.confirmed().is_some_and(|it| race || it.consequence.is_failure())
    }

    /// The execution that first showed that it is harmful, if one did.
    pub(crate) fn harmful_since(&self) -> Option<usize> {
        self.confirmed().filter(|_| self.is_harmful()).map(|it| it.executions)
    }
}
