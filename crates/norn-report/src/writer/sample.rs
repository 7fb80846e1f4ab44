//! A report made by hand, for the tests of all writers.

use norn_model::{BugClass, Consequence, Location, Scope, ThreadName};

use crate::{
    Access, Action, Command, EventRow, FailureKind, Finding, Fix, FixSection, HeldLock, Holder,
    Interleaving, LockObjection, Number, Object, RejectedLock, Report, Run, Status, Step, Story,
    Stuck, Waiter, Want,
};

pub(super) fn thread(name: &str) -> ThreadName {
    ThreadName(name.to_owned())
}

pub(super) fn at(function: &str, line: u32) -> Location {
    Location {
        function: Some(function.to_owned()),
        file: Some("shop/till.c".to_owned()),
        line: Some(line),
        ..Location::default()
    }
}

pub(super) fn access(name: &str, action: Action, value: u128, line: u32) -> Access {
    Access {
        thread: thread(name),
        action,
        event: None,
        stuck: false,
        variable: Object::named("till"),
        value: Some(Number(value)),
        shown: None,
        stack: vec![at("pay", line), at("main", 40)],
        locks: vec![HeldLock { lock: Object::named("m"), shared: true }],
        frames: Vec::new(),
    }
}

pub(super) fn row(
    name: &str,
    action: Action,
    object: &str,
    line: u32,
    step: Option<usize>,
) -> EventRow {
    EventRow {
        thread: thread(name),
        event: 0,
        action,
        object: Some(object.to_owned()),
        size: None,
        value: step.map(|it| Number(100 + it as u128)),
        shown: None,
        times: 1,
        at: Some(at("pay", line)),
        step,
        switch: None,
    }
}

pub(super) fn interleaving() -> Interleaving {
    let read = row("T0.1", Action::Read, "till", 12, Some(0));
    let write = row("T0.1", Action::Write, "till", 13, Some(2));
    let lock = row("T0.2", Action::Lock, "m", 11, None);
    let unlock = row("T0.2", Action::Unlock, "m", 14, None);
    let other = row("T0.2", Action::Write, "till", 13, Some(1));
    let forced = [&read, &lock, &other, &unlock, &write].map(Clone::clone);
    Interleaving { recorded: vec![read, write, lock, other, unlock], forced: forced.into() }
}

pub(super) fn finding() -> Finding {
    Finding {
        class: BugClass::Atomicity,
        kind: "read-write-write".to_owned(),
        name: "atomicity violation".to_owned(),
        title: "atomicity violation on `till`".to_owned(),
        status: Status::Confirmed,
        harmful: true,
        bug: Some(1),
        announced: true,
        fingerprint: "4a0d3c52b1f5e8a9".to_owned(),
        suppressed_by: None,
        variables: vec![Object::named("till")],
        parameters: Vec::new(),
        accesses: vec![
            access("T0.1", Action::Read, 100, 12),
            access("T0.2", Action::Write, 101, 13),
            access("T0.1", Action::Write, 102, 13),
        ],
        scope: Some(Scope::Unmarked),
        source: 0,
        instances: 1,
        stacks: 1,
        remark: None,
        at_stake: None,
        schedule: None,
        why: None,
        unordered: None,
        unrecorded_sync: None,
        verdict: None,
        consequence: Some(Consequence::Assertion("till == 3".to_owned())),
        not_reproduced: None,
        other_output: true,
        other_status: None,
        story: None,
        printed: Vec::new(),
        interleaving: Some(interleaving()),
        fix: None,
        cause: None,
        clip: Some("run.norn/clips/1.json".to_owned()),
        replay: ["norn", "replay", "run.norn/clips/1.json"].map(str::to_owned).into(),
        executions: Some(2),
        harm: None,
    }
}

/// A suggestion to hold one of two locks.
pub(super) fn fix() -> Fix {
    Fix {
        lock: Some(Object::named("m")),
        sections: vec![
            FixSection { from: at("pay", 12), to: 13, loops: false },
            FixSection { from: at("refund", 30), to: 30, loops: true },
        ],
        acquired_inside: vec![at("pay", 11)],
        executions: 3,
        events: 90,
        cycles: 1,
        rejected: vec![RejectedLock { lock: Object::named("n"), why: LockObjection::Deadlock }],
    }
}

pub(super) fn hunt(findings: Vec<Finding>) -> Report {
    let run = Run { events: Some(90), threads: Some(3), ..Run::new(Consequence::None) };
    Report { run: Some(run), findings, ..Report::new(Command::Hunt, "0.1.0") }
}

pub(super) fn step(name: &str, line: u32) -> Step {
    Step { thread: thread(name), event: None, stack: vec![at("take", line)] }
}

pub(super) fn deadlock() -> Story {
    let waiter = |name, lock, holder| Waiter {
        step: step(name, 10),
        want: Want::Lock {
            object: Object::named(lock),
            holders: vec![Holder {
                taken: step(holder, 9),
                mode: norn_model::LockMode::Write,
                ended: false,
            }],
            behind: Vec::new(),
        },
    };
    let stuck = Stuck {
        waiters: vec![waiter("T0.1", "b", "T0.2"), waiter("T0.2", "a", "T0.1")],
        cycle: vec![thread("T0.1"), thread("T0.2")],
        ended: Vec::new(),
    };
    let last =
        vec![row("T0.1", Action::Lock, "a", 9, None), row("T0.2", Action::Lock, "b", 9, None)];
    Story { failure: FailureKind::Stuck(stuck), last }
}
