//! Uses of a descriptor after another thread closed it.
//!
//! A close relates to the uses before it like the destruction of a lock to its uses: if nothing
//! enforces that a use comes first, the order can be reversed. The number of a closed descriptor is
//! given to the next file that is opened, so a close also separates the uses of two files.

use norn_model::{BugClass, CandidateKind, Effect, Explanation, Object, ObjectEffect, Op};

use super::{
    Analysis, AnalysisInfo, Found, KindInfo,
    sync_object::{Change, search},
};
use crate::{Options, facts::Facts, violation_groups::OrderKind};

/// Finds uses of closed descriptors.
pub(super) struct Descriptor;

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Descriptor,
    text: Explanation {
        name: "descriptor",
        summary: "use after close: a descriptor is used after another thread closed it",
        meaning: "One thread closes a descriptor that another thread uses, and nothing forces the use to \
                  come first. The call fails, or, if another thread has opened a file in between, it reads \
                  or writes that file. A descriptor that is closed twice, or while a call on it blocks, is \
                  reported, too.",
        example: "T1: close(fd);\nT2: write(fd, buffer, size);   // the number may belong to another file",
        advice: "Close a descriptor only when no other thread can use it any more: join the other threads \
                 first, or count references. To end a blocking call, use shutdown or a pipe.",
    },
    kinds: &[KindInfo {
        kind: CandidateKind::UseAfterClose,
        title: "use after close: {}",
        meaning: "A thread uses a descriptor after another thread has closed it.",
        example: "T1: close(fd)\nT2: read(fd, buffer, size)",
    }],
};

impl Analysis for Descriptor {
    fn info(&self) -> &'static AnalysisInfo {
        &INFO
    }

    fn candidates(&self, facts: &Facts<'_>, options: &Options, found: &mut Found) {
        found.add_violations(search(facts, options, OrderKind::AfterClose, event));
    }
}

/// The descriptor of an event, and the kind.
fn event(op: &Op) -> Option<(u64, Change)> {
    match op.effect() {
        Effect::Object(ObjectEffect::Destroy { object, class: Object::Descriptor }) => {
            Some((object, Change::Destroyed))
        }
        Effect::Object(ObjectEffect::Use { object, class: Object::Descriptor }) => {
            Some((object, Change::Used))
        }
        Effect::None
        | Effect::Access(_)
        | Effect::Thread(_)
        | Effect::Lock(_)
        | Effect::Condition(_)
        | Effect::Barrier(_)
        | Effect::Semaphore(_)
        | Effect::Once(_)
        | Effect::Annotation(_)
        | Effect::Channel(_)
        | Effect::Block(_)
        | Effect::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use norn_model::{BugClass, text};

    use crate::{Options, predict};

    /// The candidates, by code location.
    fn found(trace: &str) -> Vec<String> {
        let trace = text::parse(trace).unwrap_or_default();
        let options = Options::default().only(&[BugClass::Descriptor]);
        let place = |it| trace.site(it).and_then(|it| it.place.clone()).unwrap_or_default();
        let words = |it: &norn_model::Candidate| {
            it.sites().fold(it.kind.name().to_owned(), |text, it| format!("{text} {}", place(it)))
        };
        predict(&trace, &options).violations.iter().map(|it| words(&it.0)).collect()
    }

    #[test]
    fn a_use_that_nothing_orders_may_come_after_the_close() {
        let trace = "T0 fork T1\nT1 use f descriptor @ read\nT0 destroy f descriptor @ close";
        assert_eq!(found(trace), ["use-after-close close read"]);
        let joined = "T0 fork T1\nT1 use f descriptor\nT0 join T1\nT0 destroy f descriptor";
        assert!(found(joined).is_empty());
    }

    #[test]
    fn a_close_separates_the_files_with_one_number() {
        let trace = "T1 use f descriptor\nT1 destroy f descriptor\nT2 use f descriptor\n\
                     T2 destroy f descriptor";
        assert!(found(trace).is_empty());
    }
}
