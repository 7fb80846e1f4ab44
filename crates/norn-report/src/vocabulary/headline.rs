//! One line for each kind of bug, with the names of what it is about.

use norn_model::{BugClass, CandidateKind};

use super::bug;
use crate::{Access, Action, Object, Parameter};

/// The headline of a finding.
pub fn headline(kind: &CandidateKind, variables: &[Object], accesses: &[Access]) -> String {
    let name = bug(kind);
    let on = on(variables);
    match kind.class() {
        BugClass::Atomicity => match between(accesses) {
            Some(between) => format!("{name}{on}: {between}"),
            None => format!("{name}{on}"),
        },
        BugClass::Order => format!("{name}{on}: {}", order(kind)),
        BugClass::Deadlock => deadlock(kind, variables, accesses),
        BugClass::Property => name,
        // A class without more to say has its name and its variables.
        _ => format!("{name}{on}"),
    }
}

/// The headline of a broken property, with what its parameters stand for.
pub fn property_headline(name: &str, parameters: &[Parameter]) -> String {
    let values = parameters.iter().map(|it| format!("{} = `{}`", it.name, it.value.name));
    let values = values.collect::<Vec<_>>().join(", ");
    let of = if values.is_empty() { String::new() } else { format!(" for {values}") };
    format!("property `{name}` violated{of}")
}

/// What a headline is about: " on `x` and `y`".
fn on(variables: &[Object]) -> String {
    if variables.is_empty() { String::new() } else { format!(" on {}", list(variables)) }
}

fn list(variables: &[Object]) -> String {
    let names: Vec<_> = variables.iter().map(|it| format!("`{}`", it.name)).collect();
    match names.split_last() {
        Some((last, rest @ [_, ..])) => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// What falls between two accesses that belong together.
fn between(accesses: &[Access]) -> Option<String> {
    let [first, other, last] = accesses else { return None };
    let [first, other, last] = [first, other, last].map(|it| it.action.noun());
    let pair =
        if first == last { format!("two {first}s") } else { format!("a {first} and a {last}") };
    Some(format!("another thread's {other} falls between {pair}"))
}

/// What is out of order.
fn order(kind: &CandidateKind) -> &'static str {
    match kind {
        CandidateKind::PrematureUse => "the read happened after a write it normally precedes",
        CandidateKind::UseAfterDestroy => "it is used after it was destroyed",
        CandidateKind::UseBeforeInit => "it is used before it is initialised",
        CandidateKind::Timeout => "a wait times out before it gets what it waits for",
        CandidateKind::LateWakeUp => "a wait times out just when its wake-up comes",
        _ => "the read happened before a write it normally follows",
    }
}

fn deadlock(kind: &CandidateKind, variables: &[Object], accesses: &[Access]) -> String {
    let stuck = || accesses.iter().filter(|it| it.stuck);
    let waits = stuck().find(|it| matches!(it.action, Action::Wait | Action::Join));
    let wants = stuck().find(|it| matches!(it.action, Action::Lock | Action::LockShared));
    match (kind, waits, wants) {
        (CandidateKind::WaitHoldingLock, Some(waits), Some(wants)) => format!(
            "deadlock: {} waits on `{}` while holding `{}`, which the thread that would signal it \
             needs",
            waits.thread, waits.variable.name, wants.variable.name
        ),
        (CandidateKind::JoinHoldingLock, Some(waits), Some(wants)) => format!(
            "deadlock: {} waits for {} to end while holding `{}`, which that thread needs",
            waits.thread, waits.variable.name, wants.variable.name
        ),
        (CandidateKind::LostWakeUp, ..) => {
            format!("lost wake-up{}: it can come before the wait for it begins", on(variables))
        }
        _ => format!("deadlock: threads wait for each other's locks {}", list(variables)),
    }
}

#[cfg(test)]
mod tests {
    use norn_model::ThreadName;

    use super::*;

    fn access(thread: &str, action: Action, variable: &str, stuck: bool) -> Access {
        Access {
            thread: ThreadName(thread.to_owned()),
            action,
            event: None,
            stuck,
            variable: Object::named(variable),
            value: None,
            shown: None,
            stack: Vec::new(),
            locks: Vec::new(),
            frames: Vec::new(),
        }
    }

    fn title(kind: &CandidateKind, names: &[&str], accesses: &[Access]) -> String {
        let variables: Vec<_> = names.iter().map(|it| Object::named(*it)).collect();
        headline(kind, &variables, accesses)
    }

    #[test]
    fn classes_have_their_usual_names() {
        let torn = CandidateKind::pattern(BugClass::Pattern, "torn");
        let all = [
            title(&CandidateKind::ReadWriteRace, &["x"], &[]),
            title(&CandidateKind::WriteSkew, &["x", "y"], &[]),
            title(&CandidateKind::UseAfterFree, &["heap[8]"], &[]),
            title(&CandidateKind::DoubleFree, &["heap[8]"], &[]),
            title(&CandidateKind::PrematureUse, &["x"], &[]),
            title(&CandidateKind::OverdueUse, &["x"], &[]),
            title(&torn, &["x"], &[]),
        ];
        insta::assert_snapshot!(all.join("\n"), @r"
        data race on `x`
        atomic-set violation on `x` and `y`
        use after free on `heap[8]`
        double free on `heap[8]`
        order violation on `x`: the read happened after a write it normally precedes
        order violation on `x`: the read happened before a write it normally follows
        pattern `torn` on `x`
        ");
    }

    #[test]
    fn atomicity_says_what_falls_between() {
        let three = |a, b, c| [a, b, c].map(|it| access("T1", it, "x", false));
        let of = |steps: [Access; 3]| title(&CandidateKind::ReadWriteWrite, &["x"], &steps);
        insta::assert_snapshot!(of(three(Action::Read, Action::Write, Action::Write)), @"atomicity violation on `x`: another thread's write falls between a read and a write");
        insta::assert_snapshot!(of(three(Action::Read, Action::Write, Action::Read)), @"atomicity violation on `x`: another thread's write falls between two reads");
    }

    #[test]
    fn deadlocks_name_the_threads() {
        let wait = access("T1", Action::Wait, "cv", true);
        let lock = access("T2", Action::Lock, "m", true);
        let both = [wait, lock];
        insta::assert_snapshot!(title(&CandidateKind::WaitHoldingLock, &["cv", "m"], &both), @"deadlock: T1 waits on `cv` while holding `m`, which the thread that would signal it needs");
        let join = access("T0", Action::Join, "T2", true);
        let both = [join, both[1].clone()];
        insta::assert_snapshot!(title(&CandidateKind::JoinHoldingLock, &["m"], &both), @"deadlock: T0 waits for T2 to end while holding `m`, which that thread needs");
        insta::assert_snapshot!(title(&CandidateKind::LockCycle, &["a", "b"], &[]), @"deadlock: threads wait for each other's locks `a` and `b`");
        insta::assert_snapshot!(title(&CandidateKind::LostWakeUp, &["cv"], &[]), @"lost wake-up on `cv`: it can come before the wait for it begins");
    }
}
