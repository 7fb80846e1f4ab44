//! The example of the paper, and the table and the intervals of small traces.

use std::fmt::Write as _;

use insta::assert_snapshot;
use norn_model::{Step, text};
use norn_testkit::FIGURE_3;

use super::*;
use crate::{
    access::Touches,
    facts::outlines,
    freed::Freed,
    lockset::LockSets,
    order::{Order, SyncEdges},
    predict,
    section::Sections,
    shared_filter::SharedFilter,
};

/// The use table of a trace and the interval of each relation, in the notation of the paper: the
/// last event, the first event, and whether it is possible.
fn table(trace: &str) -> String {
    let trace = text::parse(trace).unwrap();
    let filter = SharedFilter::new(trace.len() as u64);
    let (mut outlines, _) = outlines(&trace, &filter);
    let sets = LockSets::unite(&mut outlines);
    let order = Order::new(&trace, &outlines, SyncEdges::Forced);
    let rules =
        Rules { sets: &sets, sections: &Sections::new(&outlines, &sets), orders: [&order, &order] };
    let timestamps = Timestamps::new(&trace);
    let threads = trace.threads.iter().zip(&outlines).zip(0..);
    let mut touches: Vec<Touch> = threads
        .flat_map(|((thread, outline), number)| {
            Touches::new(number, thread, outline, &filter, &Freed::default()).shared
        })
        .collect();
    touches.sort_by_key(|it| (it.granule, it.thread, it.index));
    let name = |thread: u16, index: u32| {
        let event = &trace.threads[usize::from(thread)].events[index as usize];
        trace.site(event.site).and_then(|it| it.place.clone()).unwrap()
    };
    let mut lines = String::new();
    for touches in touches.chunk_by(|a, b| a.granule == b.granule) {
        let touch = |it: u32| &touches[it as usize];
        let called = |it: u32| name(touch(it).thread, touch(it).index);
        for row in reads_from(&timestamps, touches, &Contents::new(&trace, touches)) {
            write!(lines, "{}", called(row.read)).unwrap();
            row.seen.iter().for_each(|it| write!(lines, " <- {}", called(it.write)).unwrap());
            row.next.iter().for_each(|it| write!(lines, " -> {}", called(*it)).unwrap());
            let overdue =
                row.seen.iter().map(|it| ("OUI", it.write, row.read, Direction::Backward));
            let premature = row.next.iter().map(|it| ("PUI", row.read, *it, Direction::Forward));
            for (word, earlier, later, way) in overdue.chain(premature) {
                let (earlier, later) = (touch(earlier), touch(later));
                let it = rules.interval(earlier, later, way);
                let possible = if it.possible { "possible" } else { "impossible" };
                let (last, first) = (it.last.unwrap(), it.first);
                let ends = (name(later.thread, last), name(earlier.thread, first));
                write!(lines, " | {word}({}, {}) {possible}", ends.0, ends.1).unwrap();
            }
            lines.push('\n');
        }
    }
    lines
}

/// The predictions, by code location.
fn predicted(trace: &str) -> String {
    let trace = text::parse(trace).unwrap();
    let options = Options::default().only(&[BugClass::Order]);
    let mut lines = String::new();
    for (candidate, remark) in predict(&trace, &options).violations {
        let name = |step: &Step| trace.site(step.site).and_then(|it| it.place.clone()).unwrap();
        let steps: Vec<_> = candidate.steps.iter().map(name).collect();
        let (pattern, instance) = (&candidate.kind, candidate.instance);
        write!(lines, "{pattern} {} #{instance} of {}", steps.join(" "), remark.count).unwrap();
        if remark.early > 0 {
            write!(lines, ", {} early", remark.early).unwrap();
        }
        remark.expected.iter().for_each(|it| write!(lines, ", {}", it.name()).unwrap());
        lines.push('\n');
    }
    lines
}

#[test]
fn figure_3() {
    assert_snapshot!(table(FIGURE_3), @r"
    14 <- 7 -> 29 | OUI(15, 6) impossible | PUI(30, 13) possible
    24 <- 18 -> 33 | OUI(25, 16) impossible | PUI(33, 23) impossible
    26 <- 20 | OUI(26, 20) possible
    ");
    assert_snapshot!(predicted(FIGURE_3), @r"
    overdue-use 26 20 #0 of 1, 1 early
    premature-use 29 14 #0 of 1
    ");
}

/// A wait that ends under an outer lock does not affect a thread that does not use that lock.
#[test]
fn other_locks_do_not_count() {
    let trace = "
        order global
        T1 acq l @ 1
        T1 w x 1 @ 2
        T1 rel l @ 3
        T1 post a @ 4
        T2 acq outer @ 5
        T2 acq l @ 6
        T2 r x 1 @ 7
        T2 rel l @ 8
        T2 down a @ 9
        T2 rel outer @ 10
    ";
    assert_snapshot!(table(trace), @r"
    7 <- 2 | OUI(8, 1) possible
    ");
}

/// A reader lock does not exclude other readers.
#[test]
fn readers_share() {
    let trace = |mode: &str| {
        format!(
            "order global
            T1 acq l {mode} @ 1
            T1 post a @ 2
            T1 w x 1 @ 3
            T1 rel l {mode} @ 4
            T2 down a @ 5
            T2 acq l read @ 6
            T2 r x 1 @ 7
            T2 rel l read @ 8"
        )
    };
    assert_snapshot!(table(&trace("read")), @r"
    7 <- 3 | OUI(7, 3) possible
    ");
    assert_snapshot!(table(&trace("write")), @r"
    7 <- 3 | OUI(8, 1) impossible
    ");
}

/// A barrier does not exclude orders of threads that do not use it.
#[test]
fn the_first_write_of_each_thread_counts() {
    let trace = "
        order global
        T0 r x 0 @ 1
        T0 arrive b @ 2
        T1 arrive b @ 3
        T1 pass b @ 4
        T1 w x 1 @ 5
        T2 w x 2 @ 6
        T0 pass b @ 7
    ";
    assert_snapshot!(predicted(trace), @r"
    premature-use 6 1 #0 of 1
    ");
}

/// Without a total order, the values determine which write was seen.
#[test]
fn values_determine_the_write_that_was_seen() {
    let trace = "
        T0 fork T0.1 @ 1
        T0 fork T0.2 @ 2
        T0.1 w x 5 @ 3
        T0.2 w x 6 @ 4
        T0.3 r x 5 @ 5
        T0.3 r x 9 @ 6
    ";
    assert_snapshot!(table(trace), @r"
    5 <- 3 -> 4 | OUI(5, 3) possible | PUI(4, 5) possible
    6
    ");
}

/// A read of bytes from different writers sees both writes.
#[test]
fn bytes_are_distinguished() {
    let trace = "
        order global
        T1 w x:2 1 @ 1
        T2 w x+2:2 1 @ 2
        T1 w y+4 1 @ 3
        T3 r x 0x10001 @ 4
        T3 r y 0 @ 5
    ";
    assert_snapshot!(predicted(trace), @r"
    overdue-use 4 1 #0 of 1, 1 early
    overdue-use 4 2 #0 of 1, 1 early
    ");
}

/// Once-only initialisation and data guarded by a flag are ordered; the flag is not.
#[test]
fn once_and_flags_order_accesses() {
    let once = "
        order global
        T1 oncebegin o @ 1
        T1 w x 1 @ 2
        T1 onceend o @ 3
        T2 oncedone o @ 4
        T2 r x 1 @ 5
    ";
    assert_snapshot!(predicted(once), @"");
    let flag = "
        order global
        T1 w data 1 @ 1
        T1 store flag 1 @ 2
        T2 load flag 1 @ 3
        T2 r data 1 @ 4
    ";
    assert_snapshot!(predicted(flag), @r"
    overdue-use 3 2 #0 of 1, 1 early
    ");
}

#[test]
fn benign_orders_come_last_with_a_reason() {
    let trace = "
        order global
        T2 load flag 0 @ ask
        T2 yield @ wait
        T1 w data 1 @ data
        T1 store flag 1 @ set
        T2 load flag 1 @ ask
        T1 acq l @ l1
        T1 r count 0 @ c1
        T1 w count 1 @ c2
        T1 rel l @ u1
        T2 acq l @ l2
        T2 r count 1 @ c3
        T2 w count 2 @ c4
        T2 rel l @ u2
        T1 acq l @ l3
        T1 w late 7 @ late
        T1 rel l @ u3
        T2 acq l @ l4
        T2 r late 7 @ use
        T2 rel l @ u4
        T1 r one 0 @ check
        T1 w one 1 @ make
        T2 r one 1 @ check
    ";
    assert_snapshot!(predicted(trace), @r"
    overdue-use use late #0 of 1, 1 early
    overdue-use ask set #0 of 1, 1 early, spin-flag
    premature-use set ask #0 of 1, spin-flag
    overdue-use check make #0 of 1, 1 early, initialise-once
    overdue-use c3 c2 #0 of 1, 1 early, in-turn
    premature-use c4 c1 #0 of 1, in-turn
    ");
}

#[test]
fn conditions_are_waited_for() {
    let trace = "
        order global
        T2 acq l @ 1
        T2 r ready 0 @ asks
        T2 waitrel l @ 2
        T2 wait c l @ 3
        T1 acq l @ 4
        T1 w ready 1 @ says
        T1 signal c @ 5
        T1 rel l @ 6
        T2 wake c l any 1 @ 7
        T2 r ready 1 @ again
        T2 rel l @ 8
    ";
    assert_snapshot!(predicted(trace), @r"
    overdue-use again says #0 of 1, 1 early, condition
    premature-use says asks #0 of 1, condition
    ");
}

#[test]
fn the_same_places_are_one_finding() {
    let turn = "T1 acq l @ a
        T1 w x 1 @ w
        T1 rel l @ b
        T2 acq l @ c
        T2 r x 1 @ r
        T2 rel l @ d\n";
    let trace = format!("order global\n{}", turn.repeat(10));
    assert_snapshot!(predicted(&trace), @r"
    overdue-use r w #0 of 10, 1 early
    overdue-use r w #1 of 10, 1 early
    overdue-use r w #2 of 10, 1 early
    overdue-use r w #3 of 10, 1 early
    premature-use w r #0 of 9, same-value
    premature-use w r #1 of 9, same-value
    premature-use w r #2 of 9, same-value
    premature-use w r #3 of 9, same-value
    ");
}

#[test]
fn objects_are_not_used_after_their_end() {
    let trace = |join: &str| {
        format!(
            "order global
            T0 init l mutex @ init
            T0 fork T0.1 @ 1
            T0.1 acq l @ lock
            T0.1 rel l @ unlock
            {join}
            T0 destroy l mutex @ destroy"
        )
    };
    assert_snapshot!(predicted(&trace("")), @r"
    use-after-destroy destroy lock #0 of 1
    ");
    assert_snapshot!(predicted(&trace("T0 join T0.1 @ 2")), @"");
}

#[test]
fn threads_are_not_used_after_their_end() {
    let trace = |order: &str| {
        format!(
            "order global
            T0 fork T0.1 @ 1
            T0 fork T0.2 @ 2
            T0.2 cancel T0.1 @ cancel
            T0.1 end @ end
            {order}
            T0 join T0.1 @ join"
        )
    };
    assert_snapshot!(predicted(&trace("")), @r"
    use-after-destroy join cancel #0 of 1
    ");
    assert_snapshot!(predicted(&trace("T0 join T0.2 @ 3")), @"");
}

#[test]
fn objects_are_not_used_before_their_beginning() {
    let trace = "
        order global
        T0 fork T0.1 @ 1
        T0 init s semaphore 0 @ init
        T0.1 post s @ post
        T0 down s @ down
        T0 destroy s semaphore @ destroy
        T0 init s semaphore 0 @ init
    ";
    assert_snapshot!(predicted(trace), @r"
    use-before-init post init #0 of 1
    ");
}
