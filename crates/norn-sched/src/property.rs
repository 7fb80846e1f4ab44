//! Properties of whole runs, on small random programs. The simulation itself checks the invariants
//! after each decision: at most one task has the turn, only ready tasks get it, and time does not
//! decrease.

use norn_abi::control::{Name, Segment, StrategyKind, follow, until, why};
use proptest::prelude::*;

use crate::{
    Verdict,
    simulation::{Op, SimulatedWorld, Simulation, planned},
};

/// Number of cases per property: few by default and under Miri, more if `NORN_CASES` is set.
fn cases() -> ProptestConfig {
    let few = if cfg!(miri) { 4 } else { 256 };
    let asked = std::env::var("NORN_CASES").ok().and_then(|it| it.parse().ok());
    // Failures are printed with their inputs; storing them needs I/O, which Miri does not support.
    let cases = asked.unwrap_or(few);
    let max_global_rejects = 100 * cases;
    ProptestConfig { cases, max_global_rejects, failure_persistence: None, ..Default::default() }
}

const EXPLORERS: [StrategyKind; 4] =
    [StrategyKind::Random, StrategyKind::Pct, StrategyKind::Pos, StrategyKind::RoundRobin];

fn strategy() -> impl Strategy<Value = StrategyKind> {
    prop::sample::select(&EXPLORERS[..])
}

/// A few steps. Locks are acquired in any order and released at the end, so that some programs
/// deadlock.
fn thread() -> impl Strategy<Value = Vec<Op>> {
    let plain = prop_oneof![
        (0..3usize).prop_map(Op::Read),
        (0..3usize).prop_map(Op::Write),
        Just(Op::Yield),
        (1..5000u64).prop_map(Op::Sleep),
    ];
    let critical = (0..3usize, 0..3usize).prop_map(|(first, second)| {
        if first == second {
            return vec![Op::Lock(first), Op::Write(3), Op::Unlock(first)];
        }
        vec![Op::Lock(first), Op::Lock(second), Op::Unlock(second), Op::Unlock(first)]
    });
    let piece = prop_oneof![2 => plain.prop_map(|op| vec![op]), 1 => critical];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn program() -> impl Strategy<Value = Vec<Vec<Op>>> {
    prop::collection::vec(thread(), 1..5)
}

fn run(threads: &[Vec<Op>], world: SimulatedWorld) -> Simulation {
    let mut simulation = Simulation::new(threads, world);
    simulation.run();
    simulation
}

/// The schedule of a complete run: for each turn, the event at which its thread stopped.
fn segments(events: &[usize], threads: usize) -> Vec<Segment> {
    let mut counts = vec![0; threads];
    let mut segments: Vec<Segment> = Vec::new();
    for (at, &thread) in events.iter().enumerate() {
        counts[thread] += 1;
        if events.get(at + 1) != Some(&thread) {
            let ends = !events[at + 1..].contains(&thread);
            let until = if ends { until::ENDS } else { until::EVENT };
            let thread_entry = u32::try_from(thread).unwrap();
            segments.push(Segment {
                thread: thread_entry,
                until,
                count: counts[thread],
                ..Segment::default()
            });
        }
    }
    segments
}

/// A world whose plan follows the schedule.
fn following(segments: Vec<Segment>, threads: usize) -> SimulatedWorld {
    let threads = u32::try_from(threads).unwrap();
    let names = (0..threads).map(|child| Name { parent: 0, child }).collect();
    SimulatedWorld { names, segments, ..planned(StrategyKind::Follow, 0) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn the_same_seed_gives_the_same_run(
        threads in program(),
        kind in strategy(),
        seed: u64,
    ) {
        let first = run(&threads, planned(kind, seed));
        let again = run(&threads, planned(kind, seed));
        prop_assert_eq!(first.events, again.events);
        prop_assert_eq!(first.verdict, again.verdict);
    }

    #[test]
    fn a_deadlock_is_found_if_and_only_if_no_thread_can_continue(
        threads in program(),
        kind in strategy(),
        seed: u64,
    ) {
        let run = run(&threads, planned(kind, seed));
        match run.verdict {
            None => prop_assert!(run.is_finished()),
            Some(verdict) => {
                prop_assert_eq!(verdict, Verdict::Deadlock);
                prop_assert!(run.is_deadlocked());
            }
        }
    }

    #[test]
    fn a_followed_schedule_gives_exactly_its_order(
        threads in program(),
        kind in strategy(),
        seed: u64,
    ) {
        let original = run(&threads, planned(kind, seed));
        prop_assume!(original.verdict.is_none());
        let world = following(segments(&original.events, threads.len()), threads.len());
        let mut followed = run(&threads, world);
        prop_assert_eq!(&followed.events, &original.events);
        let report = followed.scheduler.take_report().unwrap();
        prop_assert_eq!((report.status, report.left.why), (follow::DONE, 0));
        prop_assert_eq!(report.segment as usize, followed.world.segments.len());
    }

    #[test]
    fn a_schedule_that_ends_in_a_deadlock_leads_into_it(philosophers in 2..5usize, seed: u64) {
        let eat = |left: usize, right: usize| {
            vec![Op::Lock(left), Op::Lock(right), Op::Unlock(right), Op::Unlock(left)]
        };
        let threads: Vec<_> = (0..philosophers).map(|it| eat(it, (it + 1) % philosophers)).collect();
        let original = run(&threads, planned(StrategyKind::Pos, seed));
        prop_assume!(original.verdict == Some(Verdict::Deadlock));
        let mut schedule = segments(&original.events, threads.len());
        // A stuck thread has not ended: its last arrival is at the lock where it waits.
        let stuck = schedule.iter().filter(|it| it.until == until::ENDS && it.count < 4);
        let waits: Vec<_> =
            stuck.map(|it| Segment { until: until::BLOCKS, ..*it }).collect();
        schedule.iter_mut().filter(|it| it.count < 4).for_each(|it| it.until = until::EVENT);
        schedule.extend(waits);
        let followed = run(&threads, following(schedule, threads.len()));
        prop_assert_eq!(&followed.events, &original.events);
        prop_assert_eq!(followed.verdict, Some(Verdict::Deadlock));
    }

    #[test]
    fn pct_switches_at_ends_and_at_its_changes_only(
        lengths in prop::collection::vec(1..40usize, 1..6),
        depth in 1..6u32,
        seed: u64,
    ) {
        let threads: Vec<_> = lengths.iter().map(|it| vec![Op::Write(0); *it]).collect();
        let mut world = planned(StrategyKind::Pct, seed);
        world.plan.depth = depth;
        world.plan.expected = lengths.iter().sum::<usize>() as u64;
        let run = run(&threads, world);
        prop_assert!(run.is_finished());
        let switches = run.events.windows(2).filter(|it| it[0] != it[1]).count();
        prop_assert!(switches < threads.len() + depth as usize);
    }

    #[test]
    fn a_spinning_thread_lets_the_thread_run_that_ends_its_loop(
        work in 1..600usize,
        kind in strategy(),
        seed: u64,
    ) {
        let worker = [vec![Op::Read(1); work], vec![Op::Write(0)]].concat();
        let run = run(&[vec![Op::Await(0)], worker], planned(kind, seed));
        prop_assert!(run.is_finished() && run.verdict.is_none());
    }

    #[test]
    fn a_limit_of_events_ends_the_run(
        kind in strategy(),
        seed: u64,
        limit in 1..200u64,
    ) {
        let mut world = planned(kind, seed);
        world.plan.max_steps = limit;
        let run = run(&[vec![Op::Write(0); 10_000], vec![Op::Write(1); 10_000]], world);
        prop_assert_eq!(run.verdict, Some(Verdict::Steps));
        prop_assert!(run.events.len() as u64 >= limit);
    }
}

#[test]
fn threads_that_only_spin_are_a_livelock() {
    if cfg!(miri) {
        // 200,000 events, which would take minutes under Miri and reach no additional code.
        return;
    }
    for kind in EXPLORERS {
        let run = run(&[vec![Op::Await(0)], vec![Op::Await(1)]], planned(kind, 1));
        assert_eq!(run.verdict, Some(Verdict::Livelock), "{kind:?}");
    }
}

#[test]
fn loops_that_might_end_by_themselves_are_cut_off() {
    if cfg!(miri) {
        // Ten million events.
        return;
    }
    let counts = vec![Op::AwaitUpTo(0, u64::MAX)];
    let run = run(&[counts.clone(), counts], planned(StrategyKind::RoundRobin, 1));
    assert_eq!(run.verdict, Some(Verdict::Steps));
}

/// Ways to wait in a loop until another thread has written variable 1.
fn loops() -> Vec<(&'static str, Vec<Op>)> {
    vec![
        ("reads", vec![Op::Await(1)]),
        ("yields", vec![Op::Yield, Op::Repeat(1, 1)]),
        ("locks", vec![Op::Lock(0), Op::Read(2), Op::Unlock(0), Op::Repeat(1, 3)]),
        ("sleeps", vec![Op::Sleep(100), Op::Repeat(1, 1)]),
        ("sleeps shortly", vec![Op::Sleep(1), Op::Repeat(1, 1)]),
        ("counts", vec![Op::Write(5), Op::Repeat(1, 1)]),
    ]
}

#[test]
fn a_thread_that_waits_in_a_loop_does_not_starve_the_others() {
    let seeds = if cfg!(miri) { 0..1 } else { 0..40 };
    for (name, waits) in loops() {
        for (kind, seed) in
            EXPLORERS.into_iter().flat_map(|it| seeds.clone().map(move |at| (it, at)))
        {
            // The lock is the one that the waiting threads take.
            let worker = [Op::Write(3), Op::Lock(0), Op::Write(4), Op::Unlock(0)].repeat(5);
            let worker = [worker, vec![Op::Write(1)]].concat();
            let run = run(&[waits.clone(), waits.clone(), worker], planned(kind, seed));
            assert!(run.is_finished() && run.verdict.is_none(), "{name} {kind:?} {seed}");
            let events = run.events.len();
            assert!(events < 1_500_000, "{name} {kind:?} {seed}: {events} events");
        }
    }
}

#[test]
fn a_thread_that_tries_a_lock_in_a_loop_does_not_starve_its_holder() {
    for (kind, seed) in EXPLORERS.into_iter().flat_map(|it| (0..20).map(move |at| (it, at))) {
        let holder = [vec![Op::Lock(0)], vec![Op::Write(3); 30], vec![Op::Unlock(0)]].concat();
        let tries = vec![Op::TryLock(0), Op::Unlock(0)];
        let run = run(&[holder, tries.clone(), tries], planned(kind, seed));
        assert!(run.is_finished() && run.verdict.is_none(), "{kind:?} {seed}");
        assert!(run.events.len() < 10_000, "{kind:?} {seed}: {}", run.events.len());
    }
}

#[test]
fn threads_that_wait_in_loops_for_each_other_are_a_livelock() {
    if cfg!(miri) {
        return;
    }
    // Counting the rounds is progress as far as the scheduler can see.
    for (name, waits) in loops().into_iter().filter(|it| it.0 != "counts") {
        for kind in EXPLORERS {
            let run = run(&[waits.clone(), waits.clone()], planned(kind, 1));
            assert_eq!(run.verdict, Some(Verdict::Livelock), "{name} {kind:?}");
        }
    }
}

#[test]
fn a_loop_that_ends_by_itself_is_no_livelock() {
    if cfg!(miri) {
        return;
    }
    for kind in EXPLORERS {
        let waits = vec![Op::AwaitUpTo(0, 700_000)];
        let run = run(&[waits.clone(), waits], planned(kind, 1));
        assert!(run.is_finished() && run.verdict.is_none(), "{kind:?}");
    }
}

#[test]
fn a_schedule_that_lets_a_thread_wait_in_a_loop_is_left() {
    let waits = vec![Op::Lock(0), Op::Read(2), Op::Unlock(0), Op::Repeat(1, 3)];
    let ends = |thread| Segment { thread, until: until::ENDS, ..Segment::default() };
    let threads = [waits, vec![Op::Write(1)]];
    let mut run = run(&threads, following(vec![ends(0), ends(1)], 2));
    let report = run.scheduler.take_report().unwrap();
    assert_eq!((report.status, report.left.why), (follow::INFEASIBLE, why::SPINS));
    assert!(run.is_finished(), "the other thread goes on");
    assert!(run.events.len() < 10_000, "{}", run.events.len());
}

#[test]
fn a_segment_until_its_thread_blocks_ends_while_others_could_end_its_loop() {
    if cfg!(miri) {
        // 100,000 events.
        return;
    }
    // Each round changes something, so that the loop is not recognised as one that waits.
    let counts = vec![Op::Write(5), Op::Repeat(1, 1)];
    let blocks = Segment { thread: 0, until: until::BLOCKS, ..Segment::default() };
    let threads = [counts, vec![Op::Write(1)]];
    let mut world = following(vec![blocks], 2);
    world.plan.max_steps = 1_000_000;
    let mut run = run(&threads, world);
    assert!(run.is_finished() && run.verdict.is_none(), "{:?}", run.verdict);
    let report = run.scheduler.take_report().unwrap();
    assert_eq!((report.status, report.left.why), (follow::DONE, 0));
}

#[test]
fn a_segment_ends_at_its_event_and_not_in_the_sleep_before_it() {
    // Both accesses follow a sleep or a yield; the schedule stops one thread right before its access,
    // and lets the other one execute its own first.
    for before in [Op::Sleep(5_000_000), Op::Yield] {
        let threads = [vec![before, Op::Write(0)], vec![before, Op::Write(0), Op::Write(1)]];
        let upto =
            |thread, count| Segment { thread, count, until: until::EVENT, ..Segment::default() };
        let ends = |thread| Segment { thread, until: until::ENDS, ..Segment::default() };
        let schedule = vec![upto(0, 1), upto(1, 2), ends(0), ends(1)];
        let mut run = run(&threads, following(schedule, 2));
        assert_eq!(run.events, [0, 1, 1, 0, 1], "{before:?}");
        let report = run.scheduler.take_report().unwrap();
        assert_eq!((report.status, report.left.why), (follow::DONE, 0), "{before:?}");
    }
}

#[test]
fn a_missing_thread_of_the_schedule_is_reported() {
    let absent = Segment { thread: 3, until: until::ENDS, ..Segment::default() };
    let mut run = run(&[vec![Op::Read(0)]], following(vec![absent], 1));
    let report = run.scheduler.take_report().unwrap();
    assert_eq!((report.status, report.left.why), (follow::INFEASIBLE, why::ABSENT));
    assert_eq!(report.left.thread, u32::MAX);
    assert!(run.is_finished(), "round robin goes on");
}

#[test]
fn a_thread_that_is_due_at_a_lock_of_another_is_reported() {
    let threads = [vec![Op::Lock(0), Op::Unlock(0)], vec![Op::Lock(0), Op::Unlock(0)]];
    let segment =
        |thread, count| Segment { thread, until: until::EVENT, count, ..Segment::default() };
    let mut run = run(&threads, following(vec![segment(0, 1), segment(1, 1)], 2));
    let report = run.scheduler.take_report().unwrap();
    assert_eq!((report.status, report.left.why), (follow::INFEASIBLE, why::BLOCKED));
    assert_eq!((report.segment, report.left.thread, report.left.index), (1, 1, 0));
    assert!(run.is_finished());
}

#[test]
fn a_possible_external_wake_up_delays_the_verdict_by_two_seconds() {
    let threads = [vec![Op::Lock(0), Op::Lock(0)]];
    let mut world = planned(StrategyKind::RoundRobin, 0);
    world.unseen_help = true;
    let run = run(&threads, world);
    assert_eq!(run.verdict, Some(Verdict::Deadlock));
    assert!(run.world.real_time > 2_000_000_000);
}
