//! The programs in `subjects/localize`, the patterns that make them fail, and where a ranking has these.
//!
//! The head of a subject names its true patterns: `// True: R1-W2-W1 at check, sell, sell` is a shape and
//! the places of its accesses, which are marked in the source by `// @check`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::subject::{Subject, subjects};

/// The folder with these subjects.
pub const FOLDER: &str = "localize";

/// A program that fails sometimes.
#[derive(Clone, Debug)]
pub struct FlakySubject {
    /// The subject, for compiling it.
    pub subject: Subject,
    /// Its fixed twin.
    pub twin: Subject,
    /// The patterns that make it fail.
    pub patterns: Vec<TruePattern>,
}

/// A pattern that makes a program fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruePattern {
    /// Its shape: `R1-W2-W1`.
    pub shape: String,
    /// For each access, the lines where it may be.
    pub lines: Vec<Vec<u64>>,
}

impl FlakySubject {
    /// All of them, by name.
    pub fn all() -> Vec<FlakySubject> {
        let entries = fs::read_dir(subjects().join(FOLDER)).unwrap();
        let mut sources: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
        sources.sort();
        let flaky = sources.iter().filter(|it| stem(it).strip_suffix("_fixed").is_none());
        flaky.map(|it| FlakySubject::read(it)).collect()
    }

    fn read(source: &Path) -> FlakySubject {
        let text = fs::read_to_string(source).unwrap();
        let subject = |source: PathBuf| Subject {
            name: format!("{FOLDER}/{}", stem(&source)),
            source,
            announced: None,
        };
        let twin = source.with_file_name(format!("{}_fixed.c", stem(source)));
        FlakySubject {
            subject: subject(source.to_owned()),
            twin: subject(twin),
            patterns: text.lines().filter_map(|it| TruePattern::parse(it, &text)).collect(),
        }
    }

    /// The rank of the first true pattern in the ranking of a failure, from 1.
    pub fn rank(&self, cluster: &Value) -> Option<usize> {
        let ranking = cluster["ranking"].as_array().unwrap();
        let is_true = |it: &Value| self.patterns.iter().any(|pattern| pattern.is(it));
        ranking.iter().position(is_true).map(|it| it + 1)
    }
}

impl TruePattern {
    /// Parses a line of the head of a source.
    pub fn parse(line: &str, source: &str) -> Option<TruePattern> {
        let (shape, places) = line.strip_prefix("// True: ")?.split_once(" at ")?;
        let lines = |place: &str| {
            let mark = format!("// @{place}");
            let marked = source.lines().zip(1..).filter(|it| it.0.ends_with(&mark));
            let lines: Vec<u64> = marked.map(|it| it.1).collect();
            assert!(!lines.is_empty(), "no line is marked by {mark}");
            lines
        };
        Some(TruePattern {
            shape: shape.to_owned(),
            lines: places.split(", ").map(lines).collect(),
        })
    }

    /// Whether a pattern of a report is this one.
    fn is(&self, reported: &Value) -> bool {
        let accesses = reported["accesses"].as_array().unwrap();
        let line = |it: &Value| it["stack"][0]["line"].as_u64();
        reported["shape"] == *self.shape
            && accesses.len() == self.lines.len()
            && accesses
                .iter()
                .zip(&self.lines)
                .all(|(it, lines)| line(it).is_some_and(|it| lines.contains(&it)))
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_patterns_have_lines() {
        let source =
            "// True: R1-W2 at use, init\nuse(); // @use\ninit(); // @init\ninit(); // @init";
        let pattern = TruePattern::parse(source.lines().next().unwrap(), source).unwrap();
        assert_eq!((&*pattern.shape, pattern.lines), ("R1-W2", vec![vec![2], vec![3, 4]]));
    }

    #[test]
    fn every_flaky_subject_names_its_patterns_and_has_a_twin() {
        for it in FlakySubject::all() {
            assert!(!it.patterns.is_empty(), "{}", it.subject.name);
            assert!(it.twin.source.exists(), "{}", it.subject.name);
        }
    }
}
