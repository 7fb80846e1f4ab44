//! The classes of events: by their names in schedules, and by their numbers in the runtime.

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

/// The number of a class in the runtime.
pub fn class_code(class: Class) -> u32 {
    CODES.iter().find(|it| it.0 == class).map_or(class::OTHER, |it| it.1)
}

/// The class of an event kind.
pub fn class_of(kind: Kind) -> Class {
    CODES.iter().find(|it| it.1 == kind.class()).map_or(Class::Other, |it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_number_of_its_own() {
        assert_eq!(CODES.len(), Class::ALL.len());
        for (at, (name, number)) in (0..).zip(CODES) {
            assert_eq!((class_code(name), number), (number, at));
        }
        assert_eq!(class_of(Kind::Acquire), Class::Lock);
        assert_eq!(class_of(Kind::Read4), Class::Read);
    }
}
