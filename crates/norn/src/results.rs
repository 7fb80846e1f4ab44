//! What the results of hunts and of checks have in common: findings of which some are harmful, and
//! failures that nothing predicted.

use norn_hunt::{
    Check, Confirmed, Finding, Hunt, Observed, Status, Violation,
    report::{self, Marks},
};
use norn_model::{BugClass, BugId, Consequence};
use norn_report::{Command, Ended, Report};

use crate::{
    cli::FailOn,
    exit::Exit,
    report::VERSION,
    suppress::Item,
    terminal::{self, line},
};

/// The place of a finding in a report: the smaller, the worse. What was predicted as it happened comes before
/// what was predicted in part, because it can be compared with the recorded run.
pub(crate) type Rank = (u32, bool, Option<BugClass>, bool);

/// The results of a search. Findings are identified by their indices, which never change.
pub(crate) trait Results: Send + 'static {
    /// The command that has these results.
    const COMMAND: Command;

    /// Number of findings.
    fn count(&self) -> usize;

    /// What decides whether a finding is reported.
    fn item(&self, at: usize, fail_on: FailOn) -> Item;

    /// Whether a finding is confirmed and harmful.
    fn is_harmful(&self, at: usize) -> bool;

    /// The identity of the bug behind a finding.
    fn bug(&self, at: usize) -> BugId;

    /// Whether a finding is known to lead to a failure.
    fn leads_to_failure(&self, at: usize) -> bool;

    /// Whether two findings show the same bug.
    fn is_same_bug(one: &BugId, other: &BugId) -> bool;

    fn rank(&self, at: usize) -> Rank;

    /// A finding as it is reported, without its number.
    fn finding(&self, at: usize) -> norn_report::Finding;

    /// Failures that nothing predicted.
    fn observed(&self) -> &[Observed];

    /// Whether these make the command fail.
    fn fails_on_observed(fail_on: FailOn) -> bool;

    /// Why the search ended.
    fn ended(&mut self) -> &mut Ended;

    fn report(&self, marks: &Marks) -> Report;

    /// How the command ends if nothing harmful was found.
    fn exit(&self) -> anyhow::Result<Exit>;

    /// The indices of the findings, the worst first.
    fn ranked(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.count()).collect();
        all.sort_by_key(|at| self.rank(*at));
        all
    }
}

impl Results for Hunt {
    const COMMAND: Command = Command::Hunt;

    fn count(&self) -> usize {
        self.findings.len()
    }

    fn item(&self, at: usize, fail_on: FailOn) -> Item {
        Item::of_finding(&self.findings[at], fail_on)
    }

    fn is_harmful(&self, at: usize) -> bool {
        self.findings[at].is_harmful()
    }

    fn bug(&self, at: usize) -> BugId {
        self.findings[at].bug()
    }

    fn leads_to_failure(&self, at: usize) -> bool {
        self.bug(at).failure.is_some()
    }

    /// Of two findings, the one with a failure may be found first or last.
    fn is_same_bug(one: &BugId, other: &BugId) -> bool {
        one.is_same_bug(other) || other.is_same_bug(one)
    }

    fn rank(&self, at: usize) -> Rank {
        rank(&self.findings[at])
    }

    fn finding(&self, at: usize) -> norn_report::Finding {
        report::finding(&self.findings[at])
    }

    fn observed(&self) -> &[Observed] {
        &self.observed
    }

    fn fails_on_observed(_: FailOn) -> bool {
        true
    }

    fn ended(&mut self) -> &mut Ended {
        &mut self.ended
    }

    fn report(&self, marks: &Marks) -> Report {
        report::hunt(self, marks, VERSION)
    }

    fn exit(&self) -> anyhow::Result<Exit> {
        Ok(if self.ended == Ended::Interrupted { Exit::Interrupted } else { Exit::Clean })
    }
}

/// Harmful findings come first, those with a failure before the others; then those that change the output,
/// other confirmed ones, those that are not reproducible, and the rest.
fn rank(finding: &Finding) -> Rank {
    let group = match finding.confirmed() {
        Some(how) if finding.is_harmful() => {
            let (class, in_part) = (finding.shown_class(), how.cause.is_some());
            let group = u32::from(how.failure.is_none());
            return (group, explains_little(class, how), Some(class), in_part);
        }
        Some(how) if how.other_output => 2,
        Some(_) if finding.remark.is_none_or(|it| it.expected.is_none()) => 3,
        Some(_) => 4,
        None if matches!(finding.status, Status::NotReproducible(..)) => 5,
        None => 6,
    };
    (group, false, None, false)
}

/// Whether a finding says less about a failure than others may: its order of accesses is also that of the recorded run, or
/// memory was accessed that was freed, and it is not about who freed it.
fn explains_little(class: BugClass, how: &Confirmed) -> bool {
    let is_order = matches!(class, BugClass::Atomicity | BugClass::AtomicSet | BugClass::Order);
    let is_known_order = how.cause.is_none() && how.interleaving.keeps_order();
    is_order && (is_known_order || matches!(how.consequence, Consequence::Memory(_)))
}

impl Results for Check {
    const COMMAND: Command = Command::Check;

    fn count(&self) -> usize {
        self.violations.len()
    }

    fn item(&self, at: usize, _: FailOn) -> Item {
        Item::of_violation(&self.violations[at])
    }

    fn is_harmful(&self, at: usize) -> bool {
        self.violations[at].is_real()
    }

    fn bug(&self, at: usize) -> BugId {
        self.violations[at].bug()
    }

    /// The functions that the violation is about may have to run to their ends first.
    fn leads_to_failure(&self, at: usize) -> bool {
        self.violations[at].harm.is_some() || self.bug(at).failure.is_some()
    }

    /// Each violation is shown: the user declared what a violation is.
    fn is_same_bug(_: &BugId, _: &BugId) -> bool {
        false
    }

    fn rank(&self, at: usize) -> Rank {
        (u32::from(!self.violations[at].is_real()), false, None, false)
    }

    fn finding(&self, at: usize) -> norn_report::Finding {
        report::violation(&self.violations[at])
    }

    fn observed(&self) -> &[Observed] {
        &self.observed
    }

    /// Failures that violate no property count only on request.
    fn fails_on_observed(fail_on: FailOn) -> bool {
        fail_on == FailOn::Any
    }

    fn ended(&mut self) -> &mut Ended {
        &mut self.ended
    }

    fn report(&self, marks: &Marks) -> Report {
        report::check(self, marks, VERSION)
    }

    /// A property whose events never occurred was not checked, so that finding no violation of it means
    /// nothing.
    fn exit(&self) -> anyhow::Result<Exit> {
        if self.ended == Ended::Interrupted {
            return Ok(Exit::Interrupted);
        }
        let found = self.violations.iter().any(|it| Violation::is_real(it));
        let unchecked: Vec<_> =
            self.properties.iter().filter(|it| !it.missing.is_empty()).collect();
        if found || unchecked.is_empty() {
            return Ok(Exit::Clean);
        }
        for property in unchecked {
            let (name, missing) = (&property.name, property.missing.join(", "));
            let text =
                format!("norn: {name} was not checked: these events never occurred: {missing}");
            line(&mut terminal::stderr(), text)?;
        }
        Ok(Exit::Impossible)
    }
}
