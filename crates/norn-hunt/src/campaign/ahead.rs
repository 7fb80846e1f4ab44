//! The next step of a campaign, and the steps that will probably follow it.

use super::{Agenda, Hypotheses};

/// One execution.
pub(super) enum Step<A> {
    /// Explores: the number of the run.
    Explore(usize),
    /// Forces a schedule.
    Attempt(A),
}

/// A trace, and the candidates of it that are left to try.
pub(super) struct Round<'a, 't, H: Hypotheses + 't, Q> {
    pub(super) source: &'a H::Source,
    pub(super) tools: &'a H::Tools<'t>,
    pub(super) queue: Q,
}

/// The next execution of a round; `None` if the round is over.
pub(super) fn next_step<H: Hypotheses>(
    hypotheses: &H,
    agenda: &mut Agenda,
    queue: &mut H::Queue,
    tools: &H::Tools<'_>,
) -> Option<Step<H::Attempt>> {
    if let Some(number) = agenda.exploration() {
        return Some(Step::Explore(number));
    }
    if hypotheses.left(queue) == 0 || !agenda.may_attempt() {
        return None;
    }
    if agenda.is_exploration_due(hypotheses.urgency(queue)) {
        agenda.begin_batch();
        if let Some(number) = agenda.exploration() {
            return Some(Step::Explore(number));
        }
    }
    loop {
        match hypotheses.next(queue, tools) {
            Next::Attempt(attempt) => return Some(Step::Attempt(attempt)),
            Next::Exhausted => return None,
            Next::Paused => agenda.begin_interlude(),
        }
        if let Some(number) = agenda.exploration() {
            return Some(Step::Explore(number));
        }
    }
}

/// The answer to a request for the next attempt.
#[derive(Debug)]
pub(crate) enum Next<A> {
    /// An attempt.
    Attempt(A),
    /// Many candidates without a schedule took long. The search continues with the next request, and
    /// a run that explores may come first.
    Paused,
    /// None is left.
    Exhausted,
}

impl<A> From<Option<A>> for Next<A> {
    fn from(attempt: Option<A>) -> Self {
        attempt.map_or(Next::Exhausted, Next::Attempt)
    }
}

/// The plans that come next if no run confirms anything or covers anything new. It works on copies
/// of the queue and the agenda.
pub(super) struct Ahead<'a, 't, H: Hypotheses + 't> {
    hypotheses: &'a H,
    agenda: Agenda,
    round: Option<Round<'a, 't, H, H::Queue>>,
    /// Whether no other trace is waiting. The candidates of a trace that is not yet analysed cannot
    /// be predicted, so looking ahead stops at the end of the round otherwise.
    idle: bool,
}

impl<'a, 't, H: Hypotheses> Ahead<'a, 't, H> {
    pub(super) fn new(
        hypotheses: &'a H,
        agenda: Agenda,
        round: Option<Round<'a, 't, H, H::Queue>>,
        idle: bool,
    ) -> Self {
        Ahead { hypotheses, agenda, round, idle }
    }

    fn explore(&mut self, number: usize) -> H::Plan {
        self.agenda.count_exploration();
        self.hypotheses.exploration(number)
    }
}

impl<H: Hypotheses> Iterator for Ahead<'_, '_, H> {
    type Item = H::Plan;

    fn next(&mut self) -> Option<H::Plan> {
        if self.agenda.is_spent() {
            return None;
        }
        if let Some(round) = &mut self.round {
            let hypotheses = self.hypotheses;
            match next_step(hypotheses, &mut self.agenda, &mut round.queue, round.tools) {
                Some(Step::Explore(number)) => return Some(self.explore(number)),
                Some(Step::Attempt(attempt)) => {
                    self.agenda.count_attempt(hypotheses.is_ahead(&attempt));
                    hypotheses.assume_unconfirmed(&mut round.queue, &attempt);
                    return Some(hypotheses.plan(round.source, &attempt));
                }
                None => self.round = None,
            }
        }
        if self.agenda.exploration().is_none() {
            if !self.idle || !self.agenda.may_explore() {
                return None;
            }
            self.agenda.begin_batch();
        }
        self.agenda.exploration().map(|number| self.explore(number))
    }
}
