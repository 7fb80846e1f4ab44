//! Options of the prediction.

use norn_model::{BugClass, FunctionPattern};

use crate::{AnalysisInfo, AtomicSet, CriticalReads, Pattern, Region, analyses};

/// What to search for and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The analyses that run. Patterns are only searched for if the analysis of their class runs.
    pub analyses: Vec<&'static AnalysisInfo>,
    /// The patterns.
    pub patterns: Vec<Pattern>,
    /// Maximum number of instances per finding: first those that the recorded run leaves unordered, then
    /// the cheapest.
    pub instances: usize,
    /// Whether accesses that merely follow each other also count as regions.
    pub unmarked: bool,
    /// The regions that the user declares atomic.
    pub regions: Vec<Region>,
    /// Functions whose calls are atomic, as far as their calls are recorded.
    pub functions: Vec<FunctionPattern>,
    /// The variables that belong together; if empty, those that are used together.
    pub sets: Vec<AtomicSet>,
    /// The reads on which visible failures depend.
    pub critical_reads: CriticalReads,
}

impl Default for Options {
    /// All analyses and the built-in patterns.
    fn default() -> Self {
        Options {
            analyses: analyses().collect(),
            patterns: Pattern::built_in(),
            instances: 4,
            unmarked: true,
            regions: Vec::new(),
            functions: Vec::new(),
            sets: Vec::new(),
            critical_reads: CriticalReads::default(),
        }
    }
}

impl Options {
    /// Only the analyses of these classes.
    #[must_use]
    pub fn only(mut self, classes: &[BugClass]) -> Self {
        self.analyses.retain(|it| classes.contains(&it.class));
        self
    }

    /// Whether an analysis runs.
    pub(crate) fn runs(&self, info: &AnalysisInfo) -> bool {
        self.analyses.iter().any(|it| it.name() == info.name())
    }

    /// The patterns of the classes that are searched for.
    pub(crate) fn wanted_patterns(&self) -> impl Iterator<Item = &Pattern> {
        let class = |it: &&Pattern| self.analyses.iter().any(|info| info.class == it.class());
        self.patterns.iter().filter(class)
    }
}
