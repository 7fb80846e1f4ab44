//! Patterns of the class `pattern`. Patterns that the user assigns to another class belong to the
//! analysis of that class.

use norn_model::{BugClass, Explanation};

use super::{AnalysisInfo, pattern::PatternAnalysis};

pub(super) static USER_PATTERN: PatternAnalysis = PatternAnalysis(&INFO);

static INFO: AnalysisInfo = AnalysisInfo {
    class: BugClass::Pattern,
    text: Explanation {
        name: "pattern",
        summary: "user pattern: an interleaving that a pattern file describes",
        meaning: "A pattern is a list of accesses, each by some thread to some variable, in the order that \
                  should not happen. `norn hunt --pattern FILE` searches for the patterns of a file \
                  besides the built-in ones, which `norn patterns` prints.",
        example: "pattern lost-flag\n    t1 w flag\n    t2 w flag\n    t1 r flag",
        advice: "Whether it is a bug is for the author of the pattern to say. The report shows the \
                 accesses, and a clip that makes them happen again.",
    },
    kinds: &[],
};
