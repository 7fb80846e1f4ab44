//! Patterns at places in the code.

use norn_window::PatternKind;
use smallvec::SmallVec;

/// A pattern at places in the code. Threads and addresses are no part of it, because they differ
/// between runs; so it is the same pattern whichever threads execute the code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern<S> {
    /// Its kind.
    pub kind: PatternKind,
    /// The site of each access, in order.
    pub sites: SmallVec<[S; 3]>,
}

impl<S> Pattern<S> {
    /// The same pattern with sites of another form; none if a site has none.
    pub fn try_map<T>(&self, site: impl FnMut(&S) -> Option<T>) -> Option<Pattern<T>> {
        let sites = self.sites.iter().map(site).collect::<Option<_>>()?;
        Some(Pattern { kind: self.kind, sites })
    }
}
