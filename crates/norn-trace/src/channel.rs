//! Which positions of a channel each send and each receive has.
//!
//! The trace has how much was sent into an object of the kernel and how much was received from it. What
//! is sent first is received first, so adding up gives the positions, from which it follows which
//! receive got what which send sent. Sends are numbered before they happen and receives afterwards: a
//! receive never gets what has a larger number. If more is received than was sent before, the rest came
//! from another process or from code that is not recorded. That has no position, so that what follows
//! stays in step.
//!
//! Where several threads send at the same time, the numbers may have another order than the kernel.

use norn_abi::{Kind, receipt, signal};
use norn_model::EventId;
use rustc_hash::FxHashMap;

/// A step that matters to a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) id: EventId,
    pub(crate) seq: u64,
    /// What the runtime calls the channel.
    pub(crate) object: u64,
    pub(crate) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// So much is sent; nothing more if it is 0.
    Send(u64),
    /// So much is received.
    Receive(u64),
    /// Something is there to be received.
    Ready,
    /// The end of all that is sent is received, or seen.
    End,
    /// What was sent last is received, or seen.
    Latest,
}

impl What {
    /// From a record; none if it is no such record.
    pub(crate) fn of(kind: Kind, [first, second, _]: [u64; 3]) -> Option<What> {
        let how = match kind {
            Kind::Send => return Some(What::Send(first)),
            Kind::Receive | Kind::TimedReceive => second,
            Kind::Ready => first,
            _ => return None,
        };
        Some(match how {
            receipt::END => What::End,
            receipt::LATEST => What::Latest,
            _ if kind != Kind::Ready => What::Receive(first),
            _ => What::Ready,
        })
    }
}

/// The positions of a send or a receive, in the channel with this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Transfer {
    pub(crate) channel: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

/// The positions of all sends and receives, by event.
pub(crate) fn resolve(mut steps: Vec<Step>) -> Vec<(EventId, Transfer)> {
    steps.sort_by_key(|it| (it.seq, it.id));
    let mut channels: FxHashMap<u64, Channel> = FxHashMap::default();
    let mut transfers = Vec::with_capacity(steps.len());
    for step in &steps {
        // The kernel's numbers differ from run to run; those in the order of use do not. The numbers of
        // signals are the same in every run, and say which signal it is.
        let next = channels.len() as u64 + 1;
        let number = signal::of_channel(step.object).map_or(next, |_| step.object);
        let new = || Channel { number, ..Channel::default() };
        let channel = channels.entry(step.object).or_insert_with(new);
        let (from, to) = channel.step(step.what);
        transfers.push((step.id, Transfer { channel: channel.number, from, to }));
    }
    transfers.sort_unstable_by_key(|it| it.0);
    transfers
}

#[derive(Default)]
struct Channel {
    number: u64,
    /// How much was sent. The end of all takes a position, too.
    sent: u64,
    /// How much was received.
    received: u64,
    /// The last send.
    latest: (u64, u64),
    /// Positions that are ends, in order.
    ends: Vec<u64>,
}

impl Channel {
    fn step(&mut self, what: What) -> (u64, u64) {
        match what {
            What::Send(amount) => {
                let from = self.sent;
                if amount == 0 {
                    self.ends.push(from);
                }
                self.sent = from.saturating_add(amount.max(1));
                self.latest = (from, self.sent);
                self.latest
            }
            What::Receive(amount) => {
                let from = self.next();
                self.received = self.after(from, amount);
                (from, self.received)
            }
            What::Ready => match self.next() {
                from if from < self.sent => (from, from + 1),
                _ => self.end(),
            },
            What::End => self.end(),
            What::Latest => self.latest,
        }
    }

    /// The first position that is not received yet and is no end.
    fn next(&self) -> u64 {
        let ends = self.ends.iter().skip_while(|it| **it < self.received);
        ends.fold(self.received, |next, end| if *end == next { next + 1 } else { next })
    }

    /// The position after so much of what was sent, ends excluded.
    fn after(&self, from: u64, amount: u64) -> u64 {
        let mut to = from.saturating_add(amount);
        for end in self.ends.iter().skip_while(|it| **it < from) {
            to = if *end < to { to.saturating_add(1) } else { break };
        }
        to.min(self.sent)
    }

    /// All ends so far, and what was sent between them.
    fn end(&self) -> (u64, u64) {
        match (self.ends.first(), self.ends.last()) {
            (Some(first), Some(last)) => (*first, last + 1),
            _ => (self.sent, self.sent),
        }
    }
}

#[cfg(test)]
mod tests {
    use norn_model::ThreadId;

    use super::*;

    /// The ranges of steps on one channel, in their order.
    fn ranges(steps: &[What]) -> Vec<(u64, u64)> {
        let id = |index| EventId { thread: ThreadId(0), index };
        let steps = (0..).zip(steps);
        let steps = steps.map(|(seq, what)| Step { id: id(seq), seq, object: 77, what: *what });
        let transfers = resolve(steps.collect());
        assert!(transfers.iter().all(|it| it.1.channel == 1));
        transfers.iter().map(|it| (it.1.from, it.1.to)).collect()
    }

    #[test]
    fn bytes_are_received_in_the_order_in_which_they_were_sent() {
        use What::{Ready, Receive, Send};
        let steps = [Send(4), Send(2), Ready, Receive(5), Ready, Receive(1)];
        assert_eq!(ranges(&steps), [(0, 4), (4, 6), (0, 1), (0, 5), (5, 6), (5, 6)]);
    }

    #[test]
    fn what_comes_from_outside_has_no_position() {
        use What::{Receive, Send};
        let steps = [Receive(9), Send(2), Receive(3), Send(1), Receive(1)];
        assert_eq!(ranges(&steps), [(0, 0), (0, 2), (0, 2), (2, 3), (2, 3)]);
    }

    #[test]
    fn the_end_comes_after_all_that_close_a_channel() {
        use What::{End, Ready, Receive, Send};
        // Two writers: one closes before the other has written.
        let steps = [Send(1), Send(0), Send(2), Receive(3), Send(0), Ready, End];
        assert_eq!(ranges(&steps), [(0, 1), (1, 2), (2, 4), (0, 4), (4, 5), (1, 5), (1, 5)]);
    }

    #[test]
    fn a_state_is_what_was_sent_last() {
        use What::{Latest, Send};
        assert_eq!(ranges(&[Send(1), Send(1), Latest, Latest]), [(0, 1), (1, 2), (1, 2), (1, 2)]);
    }

    #[test]
    fn channels_are_numbered_in_the_order_of_their_use() {
        let id = |index| EventId { thread: ThreadId(0), index };
        let step = |seq, object| Step { id: id(seq), seq, object, what: What::Send(1) };
        let transfers = resolve(vec![step(0, 900), step(1, 3), step(2, 900)]);
        assert_eq!(transfers.iter().map(|it| it.1.channel).collect::<Vec<_>>(), [1, 2, 1]);
    }
}
