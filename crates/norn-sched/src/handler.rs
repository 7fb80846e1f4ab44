//! Signal handlers. The handlers that interrupt a thread form a task of their own, which a schedule
//! can name: `T0!` has the handlers on `T0`, and `T0!!` those that interrupt these.
//!
//! A signal that is sent does not take effect at once. Its handler can run from then on, and the
//! strategy decides when, as for any other task. The thread calls the handler where it waits for its
//! turn, that is, before its next event, and does not continue before the handler returns.

use norn_abi::Kind;

use crate::{Event, Interruption, NewThread, Scheduler, TaskId, World, interrupt::is_file};

impl Scheduler {
    /// A signal is pending whose handler interrupts `host`: the handler can run from now on. Returns
    /// its task; none if there are too many tasks. `by_timer` if a timer has sent the signal.
    pub fn pend(
        &mut self,
        host: TaskId,
        handler: NewThread,
        by_timer: bool,
        world: &dyn World,
    ) -> Option<TaskId> {
        let id = match self.run.tasks.handler_of(host) {
            Some(known) => known,
            None => self.adopt(handler, Some(host), world)?,
        };
        let away = self.run.tasks[host].away;
        let task = &mut self.run.tasks[id];
        if !task.handles {
            task.event = Event { kind: Kind::HandlerBegin, object: 0, pc: 0 };
            task.between = false;
            task.host = Some(host);
            (task.alive, task.dormant, task.away) = (true, false, away);
            self.run.tasks[host].pends = true;
        }
        if by_timer {
            self.run.note_timer(id);
        }
        Some(id)
    }

    /// Whether a handler is to run on the thread of `host`, or runs there.
    pub fn is_pending(&self, host: TaskId) -> bool {
        self.run.tasks.handler_of(host).is_some_and(|it| self.run.tasks[it].alive)
    }

    /// The thread of the handler's host calls the handler. If the thread runs without the turn, the
    /// handler waits for its own first.
    pub fn handler_begins(&mut self, handler: TaskId) {
        let task = &mut self.run.tasks[handler];
        (task.handles, task.away) = (true, false);
        if let Some(host) = task.host {
            let host = &mut self.run.tasks[host];
            (host.interrupted, host.pends) = (true, false);
        }
    }

    /// The handler has returned, or its signal was received in another way. A wait of the thread
    /// that a signal interrupts is over; whether the call is then restarted, the signal decides.
    pub fn handler_ends(&mut self, handler: TaskId, restarts: bool) {
        self.end_handlers(handler);
        let task = &mut self.run.tasks[handler];
        let ran = core::mem::take(&mut task.handles);
        (task.alive, task.dormant, task.away) = (false, true, false);
        let Some(host) = task.host else { return };
        let host = &mut self.run.tasks[host];
        (host.interrupted, host.pends) = (false, false);
        if host.waiting && host.event.kind == Kind::HandlerBegin {
            host.release();
        } else if ran && host.waiting && (host.outside || is_interruptible(host.event.kind)) {
            host.release();
            host.interruption = if restarts { Interruption::Restarts } else { Interruption::Fails };
        }
    }

    /// The program has left a handler by a jump: the interrupted thread no longer waits for what it
    /// waited for.
    pub fn handler_is_left(&mut self, handler: TaskId) {
        self.handler_ends(handler, false);
        if let Some(host) = self.run.tasks[handler].host {
            let host = &mut self.run.tasks[host];
            host.release();
            (host.looks, host.interruption) = (false, Interruption::No);
        }
    }

    /// The tasks of handlers end with the task that they interrupt.
    pub(crate) fn end_handlers(&mut self, host: TaskId) {
        if let Some(handler) = self.run.tasks.handler_of(host) {
            self.end_handlers(handler);
            let task = &mut self.run.tasks[handler];
            (task.alive, task.dormant, task.host) = (false, false, None);
        }
    }
}

fn is_interruptible(kind: Kind) -> bool {
    matches!(kind, Kind::SemWait | Kind::Sleep) || is_file(kind)
}

#[cfg(test)]
mod tests {
    use norn_abi::control::{Name, Segment, strategy, until};

    use super::*;
    use crate::{
        Decision, NEVER, Wait,
        simulation::{SimulatedWorld, begun},
    };

    const HANDLER: NewThread = NewThread { thread: 9, child: 0, foreign: false };

    fn waiting(kind: Kind) -> (SimulatedWorld, Box<Scheduler>, TaskId, TaskId) {
        let world = SimulatedWorld::default();
        let (mut scheduler, [_, host]) = begun::<2>(&world);
        let event = Event { kind, object: 1, pc: 0 };
        scheduler.wait(host, Wait { event, deadline: NEVER, outside: false });
        let handler = scheduler.pend(host, HANDLER, false, &world).unwrap();
        (world, scheduler, host, handler)
    }

    fn granted(decision: &Decision) -> (TaskId, Option<TaskId>) {
        decision.grant.map(|it| (it.task, it.begins_on)).unwrap()
    }

    #[test]
    fn a_handler_interrupts_a_semaphore_but_not_a_lock() {
        let (_, mut scheduler, host, handler) = waiting(Kind::SemWait);
        scheduler.handler_begins(handler);
        scheduler.handler_ends(handler, false);
        assert!(!scheduler.is_waiting(host));
        assert_eq!(scheduler.take_interruption(host), Interruption::Fails);
        assert_eq!(scheduler.take_interruption(host), Interruption::No);
        let (_, mut scheduler, host, handler) = waiting(Kind::Acquire);
        scheduler.handler_begins(handler);
        scheduler.handler_ends(handler, true);
        assert!(scheduler.is_waiting(host), "it waits again");
        assert_eq!(scheduler.take_interruption(host), Interruption::No);
    }

    #[test]
    fn a_signal_that_was_received_in_another_way_interrupts_nothing() {
        let (_, mut scheduler, host, handler) = waiting(Kind::SemWait);
        scheduler.handler_ends(handler, false);
        assert!(scheduler.is_waiting(host) && !scheduler.is_pending(host));
    }

    #[test]
    fn the_thread_of_the_host_calls_the_handler_and_continues_afterwards() {
        let world = SimulatedWorld::default();
        let (mut scheduler, [host]) = begun::<1>(&world);
        let handler = scheduler.pend(host, HANDLER, false, &world).unwrap();
        assert_eq!(granted(&scheduler.yield_turn(&world)), (handler, Some(host)));
        scheduler.handler_begins(handler);
        assert_eq!(granted(&scheduler.yield_turn(&world)), (handler, None), "its host must wait");
        scheduler.handler_ends(handler, false);
        assert_eq!(granted(&scheduler.leave(handler, &world)), (host, None));
    }

    #[test]
    fn a_pending_signal_is_received_before_the_next_call() {
        let world = SimulatedWorld::default();
        let (mut scheduler, [first, second]) = begun::<2>(&world);
        let handler = scheduler.pend(second, HANDLER, false, &world).unwrap();
        scheduler.run.tasks[second].event.kind = Kind::Write4;
        assert_eq!(granted(&scheduler.yield_turn(&world)).0, second);
        scheduler.run.tasks[second].event.kind = Kind::Release;
        let order: Vec<_> = (0..3).map(|_| granted(&scheduler.yield_turn(&world)).0).collect();
        assert_eq!(order, [handler, first, handler]);
    }

    #[test]
    fn a_second_signal_uses_the_same_task() {
        let world = SimulatedWorld::default();
        let (mut scheduler, [host]) = begun::<1>(&world);
        let handler = scheduler.pend(host, HANDLER, false, &world).unwrap();
        assert_eq!(scheduler.pend(host, HANDLER, false, &world), Some(handler));
        scheduler.handler_begins(handler);
        scheduler.handler_ends(handler, false);
        assert!(!scheduler.is_pending(host));
        assert_eq!(scheduler.pend(host, HANDLER, false, &world), Some(handler));
        assert!(scheduler.is_pending(host));
    }

    #[test]
    fn no_handler_begins_on_a_thread_without_the_turn() {
        let world = SimulatedWorld::default();
        let (mut scheduler, [first, second]) = begun::<2>(&world);
        scheduler.go_away(second);
        let handler = scheduler.pend(second, HANDLER, false, &world).unwrap();
        assert_eq!(granted(&scheduler.yield_turn(&world)).0, first);
        let _ = scheduler.come_back(second, &world);
        assert!(scheduler.run.tasks[handler].is_ready());
    }

    #[test]
    fn handlers_end_with_their_thread() {
        let world = SimulatedWorld::default();
        let (mut scheduler, [_, second]) = begun::<2>(&world);
        let handler = scheduler.pend(second, HANDLER, false, &world).unwrap();
        let nested = scheduler.pend(handler, NewThread { thread: 10, ..HANDLER }, false, &world);
        scheduler.end(second);
        assert_eq!(scheduler.living().count(), 1);
        assert!(nested.is_some_and(|it| !scheduler.run.tasks[it].alive));
    }

    #[test]
    fn a_schedule_names_handlers() {
        let mut world = SimulatedWorld::default();
        world.plan.strategy = strategy::FOLLOW;
        world.names = vec![Name::default(), Name { parent: 0, child: 0 }];
        let segment =
            |thread, count| Segment { thread, until: until::EVENT, count, ..Segment::default() };
        world.segments = vec![segment(1, 2), segment(0, 5)];
        let (mut scheduler, [host]) = begun::<1>(&world);
        let handler = scheduler.pend(host, HANDLER, false, &world).unwrap();
        assert_eq!(granted(&scheduler.yield_turn(&world)), (handler, Some(host)));
        scheduler.handler_begins(handler);
        world.steps[handler.index()] = 2;
        scheduler.handler_ends(handler, false);
        assert_eq!(
            granted(&scheduler.leave(handler, &world)),
            (host, None),
            "it has done its part"
        );
    }
}
