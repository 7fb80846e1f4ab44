//! The classes of events, as people and as the runtime call them.

use norn_abi::{Kind, control::class};
use norn_model::Class;

const CODES: [(Class, u32); 22] = [
    (Class::Any, class::ANY),
    (Class::Read, class::READ),
    (Class::Write, class::WRITE),
    (Class::Atomic, class::ATOMIC),
    (Class::Lock, class::LOCK),
    (Class::Unlock, class::UNLOCK),
    (Class::Wait, class::WAIT),
    (Class::Wake, class::WAKE),
    (Class::Notify, class::NOTIFY),
    (Class::Barrier, class::BARRIER),
    (Class::SemWait, class::SEM_WAIT),
    (Class::SemPost, class::SEM_POST),
    (Class::Fork, class::FORK),
    (Class::Join, class::JOIN),
    (Class::Alloc, class::ALLOC),
    (Class::Free, class::FREE),
    (Class::Once, class::ONCE),
    (Class::Sleep, class::SLEEP),
    (Class::Other, class::OTHER),
    (Class::Call, class::CALL),
    (Class::Return, class::RETURN),
    (Class::Mark, class::MARK),
];

/// The runtime's number.
pub(crate) fn code(class: Class) -> u32 {
    CODES.iter().find(|it| it.0 == class).map_or(class::OTHER, |it| it.1)
}

/// What an event of a kind is about.
pub(crate) fn of(kind: Kind) -> Class {
    CODES.iter().find(|it| it.1 == kind.class()).map_or(Class::Other, |it| it.0)
}

/// Whether a call of this function may be an event of the class.
pub(crate) fn may_be(target: Option<&str>, class: Class) -> bool {
    let Some(target) = target else { return true };
    let Some(hook) = target.strip_prefix("__tsan_") else { return function(target, class) };
    let made = ["unaligned_", "volatile_", "vptr_"].iter();
    let hook = made.fold(hook, |hook, prefix| hook.strip_prefix(prefix).unwrap_or(hook));
    let is = |prefix: &str| hook.starts_with(prefix);
    match class {
        _ if is("func_") || is("init") => false,
        Class::Any => true,
        Class::Read => is("read"),
        Class::Write => is("write") || is("update"),
        Class::Atomic => is("atomic"),
        _ => !(is("read") || is("write") || is("update") || is("atomic")),
    }
}

/// Only functions for memory and strings access memory by themselves.
fn function(name: &str, class: Class) -> bool {
    let name = name.trim_start_matches('_').trim_start_matches("wrap_");
    let memory = ["mem", "str", "bcmp", "bzero", "bcopy"];
    match class {
        Class::Atomic => false,
        Class::Read | Class::Write => memory.iter().any(|it| name.starts_with(it)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_number_of_its_own() {
        assert_eq!(CODES.len(), Class::ALL.len());
        for (at, (name, number)) in (0..).zip(CODES) {
            assert_eq!((code(name), number), (number, at));
        }
        assert_eq!(of(Kind::Acquire), Class::Lock);
        assert_eq!(of(Kind::Read4), Class::Read);
    }

    #[test]
    fn hooks_are_told_by_their_names() {
        assert!(may_be(Some("__tsan_read4"), Class::Read));
        assert!(may_be(Some("__tsan_unaligned_write8"), Class::Write));
        assert!(may_be(Some("__tsan_vptr_update"), Class::Write));
        assert!(!may_be(Some("__tsan_read4"), Class::Write));
        assert!(!may_be(Some("__tsan_func_entry"), Class::Any));
        assert!(may_be(Some("__tsan_atomic32_load"), Class::Atomic));
        assert!(may_be(Some("pthread_mutex_lock"), Class::Lock));
        assert!(!may_be(Some("pthread_mutex_lock"), Class::Read));
        assert!(may_be(Some("__wrap_memcpy"), Class::Write));
        assert!(may_be(None, Class::Lock));
    }
}
