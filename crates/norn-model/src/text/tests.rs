//! The notation: what it says, what it refuses, and that it loses nothing.

use insta::assert_snapshot;
use proptest::{prelude::*, sample::select};

use super::{parse, print, word::Word};
use crate::{
    AtomicOp, Event, EventId, LockMode, NameId, Object, Op, OpKind, Order, Ordering, Outcome,
    RmwOp, Site, SiteId, StackId, Trace, WokenBy,
};

/// Every verb, with and without what can be left out.
const ALL: &str = "\
T0 begin
T0.1 begin 0x7f0000 8192
T0 end
T0 fork T0.1
T0 join T0.1
T0 detach T0.1
T0 cancel T0.1
T0! handler 11
T0! return
T0 acq m
T0 acq m tried
T0 acq l read
T0 acq l write timed
T0 acq s spin ownerdied
T0 acqfail m tried 16
T0 rel l write
T0 waitrel m
T0 wait c m
T0 wake c m
T0 wake c m by T0:3
T0 wake c m any 3
T0 wake c m timeout
T0 wake c m error 125
T0 signal c
T0 broadcast c
T0 arrive b
T0 pass b
T0 pass b serial
T0 post s
T0 down s
T0 downfail s 11
T0 oncebegin o
T0 onceend o
T0 onceend o failed
T0 oncedone o
T0 r x
T0 r x 5
T0 r x+4:2 5
T0 r x:16 0x123456789abcdef0123456789abcdef volatile
T0 w x:100
T0 w 0x7f00 5 @ file.c:12
T0 load a 5 acquire
T0 store a:8 0x7f0000000000 release
T0 exchange a 0 1
T0 add a 0 1 relaxed
T0 sub a 1 0 consume
T0 and a 1 0
T0 or a 0 1
T0 xor a 1 0
T0 nand a 1 0xfffffffe
T0 cas a:1 0 1 acqrel
T0 casfail a 1 0
T0 fence
T0 fence acqrel
T0 before o
T0 after o
T0 send p 0 4
T0 receive p 1 3
T0 ready p 3 4
T0 notready 11
T0 alloc p 64
T0 free p
T0 map p 4096
T0 unmap p 4096
T0 init b barrier 3
T0 init m mutex
T0 destroy b barrier
T0 use f descriptor
T0 call add(1, x, 0x7f0000)
T0 call std::map<int, int>::find(m+8) @ file.c:12
T0 call f()
T0 return add -> 0
T0 return std::map<int, int>::find -> m
T0 return f
T0 mark auth 7
T0 mark logs in x @ file.c:12
T0 region begin
T0 region end
T0 sleep 1000
T0 yield
T0 procfork 1
T0 exec
T0 exit -1 @ main() in the file other.c
F1 abort
";

#[test]
fn every_verb_is_read_and_printed() {
    let trace = parse(ALL).unwrap();
    let numbered = print(&trace);
    let sorted = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&numbered), sorted(ALL));
    for verb in OpKind::ALL.iter().map(|it| it.keyword()) {
        assert!(ALL.lines().any(|it| it.split(' ').nth(1) == Some(verb)), "{verb}");
    }
}

#[test]
fn accesses_come_right_after_what_orders_them() {
    let trace = parse(
        "T0 fork T0.1\n\
         T0.1 w x 1\n\
         T0 acq m\n\
         T0.1 acq n\n\
         T0 w x 2\n\
         T0.1 w x 3\n",
    )
    .unwrap();
    assert_snapshot!(print(&trace), @r"
    T0 fork T0.1
    T0.1 w x 1
    T0 acq m
    T0 w x 2
    T0.1 acq n
    T0.1 w x 3
    ");
}

#[test]
fn a_global_order_is_kept() {
    let text = "order global\nT0 w x 1\nT0.1 w x 1\nT0 w x 2\n";
    assert_eq!(print(&parse(text).unwrap()), text);
}

#[test]
fn errors_say_where_and_what() {
    let error = |text: &str| parse(text).unwrap_err().to_string();
    assert_snapshot!(error("T0 fork T0.1\n\nT0 jump x"), @r"
    line 3, column 4: expected a verb, found `jump`
    hint: THREAD VERB ... [@ PLACE], as in `T0 w x 5 @ file.c:12`
    ");
    assert_snapshot!(error("T0 acq"), @r"
    line 1, column 7: expected a lock, found the end of the line
    hint: THREAD acq LOCK [mutex|spin|read|write] [tried|timed|ownerdied]
    ");
    assert_snapshot!(error("T0 w x 5 6"), @r"
    line 1, column 10: expected the end of the line, found `6`
    hint: THREAD w OBJECT[:SIZE] [VALUE] [volatile]
    ");
    assert_snapshot!(error("T0 load ä 5 acquire fast"), @r"
    line 1, column 21: expected the end of the line, found `fast`
    hint: THREAD load OBJECT[:SIZE] VALUE [ORDERING]
    ");
    assert_snapshot!(error("T0.x end"), @r"
    line 1, column 1: expected a thread, as `T0` or `T0.1`, found `T0.x`
    hint: THREAD VERB ... [@ PLACE], as in `T0 w x 5 @ file.c:12`
    ");
    assert_snapshot!(error("T0 w x @ "), @r"
    line 1, column 10: expected a place, found the end of the line
    hint: THREAD w OBJECT[:SIZE] [VALUE] [volatile]
    ");
}

fn word<T: Word + std::fmt::Debug>() -> impl Strategy<Value = T> {
    select(T::ALL.iter().map(|it| it.0).collect::<Vec<_>>())
}

/// Addresses with a name, inside of a named object, and without a name.
fn addr() -> impl Strategy<Value = u64> {
    let named =
        (0..3u64, select(vec![0, 4, 4095])).prop_map(|(it, off)| (1 << 56) + 4096 * it + off);
    prop_oneof![3 => named, 1 => 1..1u64 << 48]
}

fn number() -> impl Strategy<Value = u128> {
    prop_oneof![0..10u128, any::<u128>()]
}

fn thread() -> impl Strategy<Value = crate::ThreadId> {
    (0..3u32).prop_map(crate::ThreadId)
}

fn woken() -> impl Strategy<Value = WokenBy> {
    prop_oneof![
        (thread(), any::<u64>())
            .prop_map(|(thread, index)| WokenBy::Event(EventId { thread, index })),
        any::<u32>().prop_map(WokenBy::OneOf),
        Just(WokenBy::Nothing),
        Just(WokenBy::Timeout),
        any::<i32>().prop_map(WokenBy::Error),
    ]
}

fn atomic() -> impl Strategy<Value = AtomicOp> {
    prop_oneof![
        number().prop_map(AtomicOp::Load),
        number().prop_map(AtomicOp::Store),
        (word::<RmwOp>(), number(), number()).prop_map(|(op, old, new)| AtomicOp::Rmw {
            op,
            old,
            new
        }),
        (number(), number()).prop_map(|(old, new)| AtomicOp::Cas { old, new }),
        (number(), number()).prop_map(|(seen, expected)| AtomicOp::CasFailed { seen, expected }),
    ]
}

fn locking() -> impl Strategy<Value = Op> {
    let (mode, how) = (word::<LockMode>, word::<Outcome>);
    prop_oneof![
        (addr(), mode(), how()).prop_map(|(lock, mode, how)| Op::Acquire { lock, mode, how }),
        (addr(), mode(), how(), any::<i32>())
            .prop_map(|(lock, mode, how, error)| Op::AcquireFailed { lock, mode, how, error }),
        (addr(), mode()).prop_map(|(lock, mode)| Op::Release { lock, mode }),
        addr().prop_map(|lock| Op::WaitRelease { lock }),
        (addr(), addr(), any::<bool>()).prop_map(|(cond, lock, timed)| Op::Wait {
            cond,
            lock,
            timed
        }),
        (addr(), addr(), woken()).prop_map(|(cond, lock, woken)| Op::WaitAcquire {
            cond,
            lock,
            woken
        }),
        addr().prop_map(|cond| Op::Signal { cond }),
        addr().prop_map(|cond| Op::Broadcast { cond }),
        addr().prop_map(|barrier| Op::BarrierEnter { barrier }),
        (addr(), any::<bool>()).prop_map(|(barrier, serial)| Op::BarrierLeave { barrier, serial }),
        addr().prop_map(|semaphore| Op::SemPost { semaphore }),
        (addr(), any::<bool>()).prop_map(|(semaphore, timed)| Op::SemWait { semaphore, timed }),
        (addr(), any::<i32>()).prop_map(|(semaphore, error)| Op::SemFailed { semaphore, error }),
        addr().prop_map(|once| Op::OnceBegin { once }),
        (addr(), any::<bool>()).prop_map(|(once, done)| Op::OnceEnd { once, done }),
        addr().prop_map(|once| Op::OnceDone { once }),
    ]
}

fn channel() -> impl Strategy<Value = Op> {
    let range = || (addr(), any::<u64>(), any::<u64>());
    prop_oneof![
        range().prop_map(|(channel, from, to)| Op::Send { channel, from, to }),
        (range(), any::<bool>())
            .prop_map(|((channel, from, to), timed)| { Op::Receive { channel, from, to, timed } }),
        range().prop_map(|(channel, from, to)| Op::Ready { channel, from, to }),
        any::<i32>().prop_map(|error| Op::NotReady { error }),
    ]
}

fn memory() -> impl Strategy<Value = Op> {
    let value = prop::option::of(number());
    let access = (addr(), 1..100u64, value, any::<bool>(), any::<bool>());
    prop_oneof![
        access.prop_map(|(addr, size, value, volatile, write)| {
            if write {
                Op::Write { addr, size, value, volatile }
            } else {
                Op::Read { addr, size, value, volatile }
            }
        }),
        (addr(), 1..17u8, word::<Ordering>(), atomic())
            .prop_map(|(addr, size, ordering, op)| Op::Atomic { addr, size, ordering, op }),
        word::<Ordering>().prop_map(Op::Fence),
        addr().prop_map(|object| Op::HappensBefore { object }),
        addr().prop_map(|object| Op::HappensAfter { object }),
        (addr(), any::<u64>()).prop_map(|(addr, size)| Op::Alloc { addr, size }),
        addr().prop_map(|addr| Op::Free { addr }),
        (addr(), any::<u64>()).prop_map(|(addr, size)| Op::Map { addr, size }),
        (addr(), any::<u64>()).prop_map(|(addr, size)| Op::Unmap { addr, size }),
    ]
}

fn function() -> impl Strategy<Value = Op> {
    let name = || (0..3u32).prop_map(NameId);
    prop_oneof![
        (name(), prop::array::uniform6(addr()))
            .prop_map(|(function, arguments)| Op::Call { function, arguments }),
        (name(), prop::option::of(addr()))
            .prop_map(|(function, value)| Op::Return { function, value }),
        (name(), addr()).prop_map(|(name, object)| Op::Mark { name, object }),
        select(vec![Op::RegionBegin, Op::RegionEnd]),
    ]
}

fn other() -> impl Strategy<Value = Op> {
    prop_oneof![
        (addr(), any::<u64>()).prop_map(|(stack, size)| Op::Begin { stack, size }),
        Just(Op::Begin { stack: 0, size: 0 }),
        select(vec![Op::End, Op::HandlerEnd, Op::Yield, Op::Exec, Op::Abort]),
        thread().prop_map(Op::Fork),
        thread().prop_map(Op::Join),
        thread().prop_map(Op::Detach),
        thread().prop_map(Op::Cancel),
        any::<i32>().prop_map(|signal| Op::HandlerBegin { signal }),
        (addr(), word::<Object>(), any::<u64>()).prop_map(|(object, class, detail)| Op::Init {
            object,
            class,
            detail
        }),
        (addr(), word::<Object>()).prop_map(|(object, class)| Op::Destroy { object, class }),
        (addr(), word::<Object>()).prop_map(|(object, class)| Op::Use { object, class }),
        any::<u64>().prop_map(|nanoseconds| Op::Sleep { nanoseconds }),
        any::<u32>().prop_map(|process| Op::ProcessFork { process }),
        any::<i32>().prop_map(|status| Op::Exit { status }),
    ]
}

/// A trace of three threads, numbered as the parser would. All names are known from the start.
fn trace() -> impl Strategy<Value = Trace> {
    let op = prop_oneof![locking(), channel(), memory(), function(), other()];
    let place = prop::option::weighted(0.3, select(vec!["a.c:1", "b c.c:2"]));
    let events = prop::collection::vec((thread(), op, place), 0..40);
    (any::<bool>(), events).prop_map(|(global, events)| {
        let mut trace = parse("T0 yield @ a.c:1\nT0.1 end @ b c.c:2\nF1! yield @ a.c:1").unwrap();
        for name in ["x", "y_1", "mutex"] {
            trace.symbols.intern(name);
        }
        for name in ["add", "std::map<int, int>::find", "operator()"] {
            trace.names.intern(name);
        }
        trace.order = if global { Order::Global } else { Order::Local };
        trace.threads.truncate(3);
        trace.threads.iter_mut().for_each(|it| it.events.clear());
        // No thread creates one that was there before it: else there is no beginning.
        let possible =
            |thread: crate::ThreadId, op: &Op| !matches!(op, Op::Fork(it) if *it <= thread);
        let events = events.into_iter().filter(|(thread, op, _)| possible(*thread, op));
        for (at, (thread, op, place)) in events.enumerate() {
            let access = matches!(op, Op::Read { .. } | Op::Write { .. });
            let seq = (global || !access).then_some(at as u64 + 1);
            let site = match place {
                Some("a.c:1") => SiteId(0),
                Some(_) => SiteId(1),
                None => {
                    trace.sites.push(Site::default());
                    SiteId(u32::try_from(trace.sites.len()).unwrap() - 1)
                }
            };
            let thread = &mut trace.threads[thread.0 as usize];
            let id = EventId { thread: thread.id, index: thread.events.len() as u64 };
            thread.events.push(Event { id, op, site, stack: StackId(0), seq });
        }
        trace
    })
}

/// What the notation keeps of an event, with names for all numbers that may change.
fn kept(trace: &Trace) -> Vec<(String, bool)> {
    trace.merged().map(|it| (super::show(trace, &it).to_string(), it.seq.is_some())).collect()
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(trace in trace()) {
        let text = print(&trace);
        let again = parse(&text).map_err(|it| TestCaseError::fail(it.to_string()))?;
        prop_assert_eq!(print(&again), text);
        prop_assert_eq!(kept(&again), kept(&trace));
        for thread in trace.threads.iter().filter(|it| !it.events.is_empty()) {
            let same = again.thread_named(&thread.name.0).unwrap();
            prop_assert_eq!(thread.role, same.role);
            prop_assert_eq!(thread.events.len(), same.events.len());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(T0|T0\\.1|F1!|order|#|[a-z]{0,9})( [a-z0-9+:@!.]{0,6}){0,6}") {
        let _ = parse(&text);
    }
}
