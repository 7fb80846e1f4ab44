//! Explanations of the names that reports use.

/// What a name in a report means, and what to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// A few lines of C, of output, or of an interleaving.
    pub example: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}
