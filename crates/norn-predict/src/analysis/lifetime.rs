//! Memory that one thread frees and another uses or frees afterwards.

use norn_model::{BugClass, CandidateKind, Explanation};

use super::{AnalysisInfo, KindInfo, pattern::PatternAnalysis};

pub(super) static LIFETIME: PatternAnalysis = PatternAnalysis(&INFO);

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Lifetime,
    text: Explanation {
        name: "lifetime",
        summary: "use after free: memory is used or freed after another thread freed it",
        meaning: "One thread frees a block of memory and another thread uses it, and nothing forces the \
                  use to come first. A lock around both does not help: it only decides which comes first.",
        example: "T1: free(session);\nT2: session->count++;   // the block may be allocated again",
        advice: "Let the last user free the block: join the other threads first, count references, or \
                 take the block out of every shared structure before it is freed.",
    },
    kinds: &[
        KindInfo {
            kind: CandidateKind::UseAfterFree,
            title: "use after free: {}",
            meaning: "A thread reads or writes a block of memory after another thread has freed it.",
            example: "T1: free(p)\nT2: read or write *p",
        },
        KindInfo {
            kind: CandidateKind::DoubleFree,
            title: "double free: {}",
            meaning: "Two threads free the same block of memory. The second one damages the heap, or \
                      frees memory that was allocated again.",
            example: "T1: free(p)\nT2: free(p)",
        },
    ],
};
