//! What a campaign does next, and what it will probably do after that.

use super::{Agenda, Hypotheses};

/// One execution.
pub(super) enum Step<A> {
    /// Explore: the number of the run.
    Explore(usize),
    /// Force a schedule.
    Attempt(A),
}

/// A trace, and what is left to try of it.
pub(super) struct Round<'a, 't, H: Hypotheses + 't, Q> {
    pub(super) source: &'a H::Source,
    pub(super) tools: &'a H::Tools<'t>,
    pub(super) queue: Q,
}

/// The next execution of a round; nothing if it is over.
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
    if agenda.is_exploration_due() {
        agenda.begin_batch();
        if let Some(number) = agenda.exploration() {
            return Some(Step::Explore(number));
        }
    }
    hypotheses.next(queue, tools).map(Step::Attempt)
}

/// The plans that come next if no run confirms anything or does anything new. It works on copies.
pub(super) struct Ahead<'a, 't, H: Hypotheses + 't> {
    hypotheses: &'a H,
    agenda: Agenda,
    round: Option<Round<'a, 't, H, H::Queue>>,
    /// No other trace waits to be predicted from; what one allows cannot be known ahead.
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
                    self.agenda.count_attempt();
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
