//! The place of a failure, which distinguishes one bug from another.

use std::collections::BTreeSet;

use norn_model::{Consequence, FailureSite, Location};
use norn_report::{FailureKind, Object, Running, Step, Story, Stuck, Waiter, Want};

use crate::{CompletedRun, story};

/// Number of calls that identify an `exit`: programs often have one function that reports any error
/// and exits.
const EXIT_CALLS: usize = 2;

/// The failure of a run, and where it is; none if it did not fail.
pub fn failure_site(run: &CompletedRun, story: Option<&Story>) -> Option<FailureSite> {
    let consequence = &run.consequence;
    if !consequence.is_failure() {
        return None;
    }
    let site = |places: Vec<Location>| FailureSite::new(consequence, places);
    Some(match story.map(|it| &it.failure) {
        Some(FailureKind::Stuck(stuck)) => {
            let waiters = essential(stuck);
            let objects = waiters.iter().filter_map(|it| object(&it.want)).collect();
            FailureSite { objects, ..site(waiters.iter().filter_map(|it| top(&it.step)).collect()) }
        }
        Some(FailureKind::Running(running)) => site(functions(running)),
        Some(FailureKind::Misuse(misuse)) => site(top(&misuse.by).into_iter().collect()),
        Some(FailureKind::Object(misuse)) => {
            let earlier = misuse.earlier.iter().filter_map(|it| top(&it.step));
            site(top(&misuse.by).into_iter().chain(earlier).collect())
        }
        Some(FailureKind::Death(death)) => {
            site(death.by.as_ref().and_then(top).into_iter().collect())
        }
        None if matches!(consequence, Consequence::Exit(_)) => {
            let symbolized = run.symbolized().ok().flatten();
            let calls = symbolized.map(story::exit_calls).unwrap_or_default();
            site(calls.into_iter().take(EXIT_CALLS).collect())
        }
        None => match consequence {
            Consequence::Panic { at, .. } => site(at.iter().cloned().collect()),
            _ => site(Vec::new()),
        },
    })
}

/// The threads that are the deadlock: those of a cycle, or else all that wait for something other
/// than the end of a thread. A thread that joins a stuck one is a consequence of it.
fn essential(stuck: &Stuck) -> Vec<&Waiter> {
    let cycle = stuck.waiters.iter().filter(|it| stuck.cycle.contains(&it.step.thread));
    let waits = stuck.waiters.iter().filter(|it| !matches!(it.want, Want::End { .. }));
    let (cycle, waits): (Vec<_>, Vec<_>) = (cycle.collect(), waits.collect());
    match (cycle.is_empty(), waits.is_empty()) {
        (false, _) => cycle,
        (true, false) => waits,
        (true, true) => stuck.waiters.iter().collect(),
    }
}

fn top(step: &Step) -> Option<Location> {
    step.stack.first().cloned()
}

/// The functions in which threads run without progress. Lines are omitted: where in its loop a thread
/// was stopped is arbitrary.
fn functions(running: &Running) -> Vec<Location> {
    let tops = running.runners.iter().filter_map(|it| top(&it.step));
    let functions: BTreeSet<_> = tops.map(|it| Location { line: None, ..it.identity() }).collect();
    functions.into_iter().collect()
}

/// The name of the lock that a thread waits for, if it is the same in every run.
fn object(want: &Want) -> Option<String> {
    match want {
        Want::Lock { object, .. } | Want::Once { object, .. } => stable_name(object),
        Want::Wakeup(_)
        | Want::Barrier(_)
        | Want::Semaphore(_)
        | Want::Signal(_)
        | Want::End { .. }
        | Want::Word(_)
        | Want::File
        | Want::Outside => None,
    }
}

/// The name of a variable without array indices: a deadlock on other locks of the same array is the
/// same bug.
fn stable_name(object: &Object) -> Option<String> {
    if object.allocated_at.is_some() || object.name.contains("0x") {
        return None;
    }
    let mut name = String::new();
    let mut inside = false;
    for it in object.name.chars() {
        inside &= it != ']';
        if !inside {
            name.push(it);
        }
        inside |= it == '[';
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use norn_model::ThreadName;

    use super::*;

    fn waiter(thread: &str, function: &str, want: Want) -> Waiter {
        let function = Some(function.to_owned());
        let stack = vec![Location { function, line: Some(3), ..Location::default() }];
        Waiter { step: Step { thread: ThreadName(thread.to_owned()), event: None, stack }, want }
    }

    fn lock(name: &str) -> Want {
        Want::Lock { object: Object::named(name), holders: Vec::new(), behind: Vec::new() }
    }

    #[test]
    fn a_deadlock_is_identified_by_its_cycle() {
        let thread = |it: &str| ThreadName(it.to_owned());
        let end = Want::End { thread: thread("T0.1"), ended: false };
        let stuck = Stuck {
            waiters: vec![
                waiter("T0.1", "cook", lock("forks[3]")),
                waiter("T0.2", "bake", lock("forks[1]")),
                waiter("T0.3", "eat", lock("plates")),
                waiter("T0", "main", end),
            ],
            cycle: vec![thread("T0.1"), thread("T0.2")],
            ended: Vec::new(),
        };
        let names = |stuck: &Stuck| {
            let waiters = essential(stuck);
            let objects: BTreeSet<_> = waiters.iter().filter_map(|it| object(&it.want)).collect();
            (waiters.len(), objects.into_iter().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(names(&stuck), (2, "forks[]".to_owned()));
        let lost = Stuck { cycle: Vec::new(), ..stuck };
        assert_eq!(names(&lost), (3, "forks[] plates".to_owned()));
    }

    #[test]
    fn stable_names_have_no_addresses_and_no_indices() {
        let name = |it: &str| stable_name(&Object::named(it));
        assert_eq!(name("0x7fff0000"), None);
        assert_eq!(name("bank.lock"), Some("bank.lock".to_owned()));
        assert_eq!(name("rows[2][17].lock"), Some("rows[][].lock".to_owned()));
    }
}
