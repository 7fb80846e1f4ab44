//! Atomicity violations: another thread's access falls between two accesses to one variable that
//! belong together.

use norn_model::{BugClass, CandidateKind, Explanation};

use super::{AnalysisInfo, KindInfo, pattern::PatternAnalysis};

pub(super) static ATOMICITY: PatternAnalysis = PatternAnalysis(&INFO);

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Atomicity,
    text: Explanation {
        name: "atomicity",
        summary: "atomicity violation: another thread's access falls between two that belong together",
        meaning: "A thread accesses a variable twice, and the two accesses belong together: they are in \
                  one critical section, in a region that the user marked, or simply follow each other. \
                  Another thread's access falls between them, and the result is one that no order of \
                  the two regions explains. Locks around each single access do not prevent it.",
        example: "lock(&m); int b = balance; unlock(&m);\n\
                  lock(&m); balance = b - 10; unlock(&m);   // lost: what others wrote in between",
        advice: "Make one critical section of the two accesses, or use one atomic operation such as \
                 fetch_add or compare_exchange.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::ReadWriteRead,
            title: "atomicity violation on {}: another thread's write falls between two reads",
            meaning: "A thread reads a variable twice and sees two values, although it expects one: it \
                      checks a pointer, for example, and then uses another one.",
            example: "T1: read  x\nT2: write x\nT1: read  x",
        },
        KindInfo {
            kind: CandidateKind::WriteWriteRead,
            title: "atomicity violation on {}: another thread's write falls between a write and a read",
            meaning: "A thread writes a variable and then reads something else from it than it wrote.",
            example: "T1: write x\nT2: write x\nT1: read  x",
        },
        KindInfo {
            kind: CandidateKind::WriteReadWrite,
            title: "atomicity violation on {}: another thread's read falls between two writes",
            meaning: "A thread writes a variable twice, and another thread sees the value in between, \
                      which was not meant for it.",
            example: "T1: write x\nT2: read  x\nT1: write x",
        },
        KindInfo {
            kind: CandidateKind::ReadWriteWrite,
            title: "atomicity violation on {}: another thread's write falls between a read and a write",
            meaning: "A thread writes what it has computed from an old value, and so undoes the other \
                      thread's write: a lost update.",
            example: "T1: read  x\nT2: write x\nT1: write x",
        },
        KindInfo {
            kind: CandidateKind::WriteWriteWrite,
            title: "atomicity violation on {}: another thread's write falls between two writes",
            meaning: "A thread writes a variable twice, and what another thread wrote in between is lost.",
            example: "T1: write x\nT2: write x\nT1: write x",
        },
    ],
};
