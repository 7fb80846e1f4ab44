//! Atomic-set violations: accesses to two variables that belong together are interleaved so that no
//! order of the two regions explains the result.
//!
//! The patterns are those of Vaziri, Tip and Dolby (*Associating synchronization constraints with data
//! in an object-oriented language*, POPL 2006), and write skew.

use norn_model::{BugClass, CandidateKind, Explanation};

use super::{AnalysisInfo, KindInfo, pattern::PatternAnalysis};

pub(super) static ATOMIC_SET: PatternAnalysis = PatternAnalysis(&INFO);

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::AtomicSet,
    text: Explanation {
        name: "atomic-set",
        summary: "atomic-set violation: accesses to variables that belong together are interleaved",
        meaning: "Two variables belong together, such as a buffer and its length, and a thread accesses \
                  both in one region. Another thread's accesses to the two fall in between, so that one \
                  of them sees or leaves a combination that no order of the two regions gives. Norn takes \
                  variables for belonging together if they are used together; --atomic-set says which do.",
        example: "lock(&m); buffer = fresh; unlock(&m);\n\
                  lock(&m); length = size; unlock(&m);   // others see the new buffer with the old length",
        advice: "Access variables that belong together in one critical section, everywhere.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::SetWrites,
            title: "atomic-set violation on {}: two threads' writes are mixed",
            meaning: "Two threads each write both variables. At the end one variable has the value of \
                      one thread, and the other variable that of the other.",
            example: "T1: write x\nT2: write x\nT2: write y\nT1: write y",
        },
        KindInfo {
            kind: CandidateKind::SetWritesCrossed,
            title: "atomic-set violation on {}: two threads' writes are mixed",
            meaning: "As write-write-write-write, with the second thread's writes in the other order.",
            example: "T1: write x\nT2: write y\nT2: write x\nT1: write y",
        },
        KindInfo {
            kind: CandidateKind::SetReads,
            title: "atomic-set violation on {}: another thread's reads fall between two writes",
            meaning: "A thread reads both variables while another has written only one of them: it sees \
                      a new value beside an old one.",
            example: "T1: write x\nT2: read  x\nT2: read  y\nT1: write y",
        },
        KindInfo {
            kind: CandidateKind::SetReadsCrossed,
            title: "atomic-set violation on {}: another thread's reads fall between two writes",
            meaning: "As write-read-read-write, with the reads in the other order.",
            example: "T1: write x\nT2: read  y\nT2: read  x\nT1: write y",
        },
        KindInfo {
            kind: CandidateKind::SetTornRead,
            title: "atomic-set violation on {}: another thread's writes fall between two reads",
            meaning: "A thread reads one variable before another thread writes both, and the other \
                      variable afterwards: it sees an old value beside a new one.",
            example: "T1: read  x\nT2: write x\nT2: write y\nT1: read  y",
        },
        KindInfo {
            kind: CandidateKind::SetTornReadCrossed,
            title: "atomic-set violation on {}: another thread's writes fall between two reads",
            meaning: "As read-write-write-read, with the writes in the other order.",
            example: "T1: read  x\nT2: write y\nT2: write x\nT1: read  y",
        },
        KindInfo {
            kind: CandidateKind::WriteSkew,
            title: "atomic-set violation on {}: write skew",
            meaning: "Each thread reads one variable and writes the other, and neither sees what the \
                      other does. Databases call it write skew: each check holds alone, and together \
                      they break what they check.",
            example: "T1: read  x\nT2: read  y\nT2: write x\nT1: write y",
        },
        KindInfo {
            kind: CandidateKind::WriteSkewReversed,
            title: "atomic-set violation on {}: write skew",
            meaning: "As write-skew, with the second thread's accesses in the other order.",
            example: "T1: read  x\nT2: write x\nT2: read  y\nT1: write y",
        },
    ],
};
