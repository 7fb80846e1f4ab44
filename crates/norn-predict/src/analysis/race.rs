//! Data races: two accesses of two threads, one of them a write, that nothing orders.

use norn_model::{BugClass, CandidateKind, Explanation};

use super::{AnalysisInfo, KindInfo, pattern::PatternAnalysis};

pub(super) static RACE: PatternAnalysis = PatternAnalysis(&INFO);

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Race,
    text: Explanation {
        name: "race",
        summary: "data race: two unordered accesses, one of them a write",
        meaning: "Two threads access the same memory, at least one of them writes, at least one of the \
                  accesses is not atomic, and no lock and no other synchronisation orders them. In C and \
                  C++ this is undefined behaviour, whatever the program makes of it in this run. Norn \
                  confirms a race by a run in which the two accesses follow each other directly, or in \
                  which only atomic operations are between them that order nothing by C++20, such as \
                  relaxed ones.",
        example: "int hits;                       // no lock, not atomic\n\
                  void *worker(void *arg) {\n    hits++;                     // T1 and T2 both do this\n    \
                  return NULL;\n}",
        advice: "Protect all accesses to the variable with one mutex, or make it atomic. If it is a flag \
                 or a counter that need not be exact, an atomic with relaxed order is enough.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::ReadWriteRace,
            title: "data race on {}",
            meaning: "A thread writes a variable directly after another thread has read it, with nothing \
                      that orders the two. The reader may as well see the new value, or half of it.",
            example: "T1: read  x\nT2: write x",
        },
        KindInfo {
            kind: CandidateKind::WriteReadRace,
            title: "data race on {}",
            meaning: "A thread reads a variable directly after another thread has written it, with nothing \
                      that orders the two. The reader may as well see the old value, or half of each.",
            example: "T1: write x\nT2: read  x",
        },
        KindInfo {
            kind: CandidateKind::WriteWriteRace,
            title: "data race on {}",
            meaning: "Two threads write a variable with nothing that orders the two: either value may \
                      remain.",
            example: "T1: write x\nT2: write x",
        },
        KindInfo {
            kind: CandidateKind::UseFreeRace,
            title: "data race on {}: it is freed, and nothing orders that after another thread's use",
            meaning: "A thread frees memory after another thread has used it, and the atomic operations by \
                      which it knows that are too weak to order the two: a reference counter that is \
                      decremented relaxed, for example.",
            example: "T1: use  *p, then decrement the counter relaxed\nT2: decrement it to 0, then free p",
        },
    ],
};
