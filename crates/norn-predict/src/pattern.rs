//! Patterns of interleavings as data.
//!
//! A pattern is a short sequence of accesses, each by a thread, to a variable, in an atomic region:
//! what Huang and Zhang (*Persuasive prediction of concurrency access anomalies*, ISSTA 2011) write
//! as the sequences E, T, SV, AR and AT. The text form has one access per line, see [`BUILT_IN`].

use norn_model::{BugClass, CandidateKind};
use thiserror::Error;

/// The built-in patterns.
pub const BUILT_IN: &str = include_str!("builtin.pattern");

/// Maximum number of accesses of a pattern; longer matches are unreadable.
const MAX_ACCESSES: usize = 16;

/// An interleaving to search for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The kind of the candidates that match it.
    pub kind: CandidateKind,
    /// Whether its accesses must be adjacent.
    pub adjacent: bool,
    /// Its accesses, in order.
    pub slots: Vec<Slot>,
}

/// One access of a pattern. Threads, regions and variables are numbered from 0 in order of
/// appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The thread.
    pub thread: usize,
    /// The region of the thread.
    pub region: usize,
    /// The variable.
    pub variable: usize,
    /// The action.
    pub action: Action,
}

/// The actions of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read or a write.
    Use,
    /// A deallocation.
    Free,
}

/// A syntax error.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: expected {expected}, found {}\nhint: {HINT}", quoted(found))]
pub struct PatternError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The expected text.
    pub expected: &'static str,
    /// The actual text; empty at the end of the line.
    pub found: String,
}

const CLASSES: &str = "`race`, `atomicity`, `atomic-set`, `lifetime` or `pattern`";
const HINT: &str =
    "`race|atomicity|atomic-set|lifetime|pattern NAME [adjacent]`, then lines such as `t1 r x`";

fn quoted(found: &str) -> String {
    if found.is_empty() { "the end of the line".to_owned() } else { format!("`{found}`") }
}

impl Pattern {
    /// The built-in patterns.
    pub fn built_in() -> Vec<Pattern> {
        // The text is part of the program, and a test parses it.
        Pattern::parse(BUILT_IN).unwrap_or_default()
    }

    /// Parses patterns.
    pub fn parse(text: &str) -> Result<Vec<Pattern>, PatternError> {
        let mut parser = Parser::default();
        for (at, line) in text.lines().enumerate() {
            parser.line(&Line { text: line, number: at + 1 })?;
        }
        parser.finish()?;
        Ok(parser.patterns)
    }

    /// Its bug class.
    pub fn class(&self) -> BugClass {
        self.kind.class()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.kind.name()
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.slots.iter().map(|it| it.thread + 1).max().unwrap_or(0)
    }

    /// Number of variables.
    pub fn variables(&self) -> usize {
        self.slots.iter().map(|it| it.variable + 1).max().unwrap_or(0)
    }

    /// Number of regions.
    pub fn regions(&self) -> usize {
        self.slots.iter().map(|it| it.region + 1).max().unwrap_or(0)
    }

    /// Whether it frees memory: then its variables are blocks of memory.
    pub fn frees(&self) -> bool {
        self.slots.iter().any(|it| it.action == Action::Free)
    }

    /// The indices of a region's accesses.
    pub fn unit(&self, region: usize) -> impl Iterator<Item = usize> {
        let all = self.slots.iter().enumerate();
        all.filter(move |(_, it)| it.region == region).map(|(at, _)| at)
    }
}

#[derive(Default)]
struct Parser<'a> {
    patterns: Vec<Pattern>,
    threads: Vec<&'a str>,
    regions: Vec<&'a str>,
    variables: Vec<&'a str>,
    /// The end of the header of the current pattern.
    header: Option<(usize, usize)>,
}

impl<'a> Parser<'a> {
    fn line(&mut self, line: &Line<'a>) -> Result<(), PatternError> {
        match line.words().next() {
            None => Ok(()),
            Some((_, word)) if word.starts_with('#') => Ok(()),
            Some(_) if line.text.starts_with(char::is_whitespace) => self.slot(line),
            Some(_) => self.begin(line),
        }
    }

    fn begin(&mut self, line: &Line<'a>) -> Result<(), PatternError> {
        self.finish()?;
        let class = match line.word(0) {
            "race" => BugClass::Race,
            "atomicity" => BugClass::Atomicity,
            "atomic-set" => BugClass::AtomicSet,
            "pattern" => BugClass::Pattern,
            "lifetime" => BugClass::Lifetime,
            _ => return Err(line.error(0, CLASSES)),
        };
        let name = line.word(1);
        if name.is_empty() {
            return Err(line.error(1, "a name"));
        }
        let adjacent = match line.word(2) {
            "adjacent" => true,
            "" => class == BugClass::Race,
            _ => return Err(line.error(2, "`adjacent` or the end of the line")),
        };
        line.end(3)?;
        (self.threads, self.regions, self.variables) = Default::default();
        self.header = Some((line.number, line.text.trim_end().chars().count() + 1));
        let kind = CandidateKind::pattern(class, name);
        self.patterns.push(Pattern { kind, adjacent, slots: Vec::new() });
        Ok(())
    }

    fn slot(&mut self, line: &Line<'a>) -> Result<(), PatternError> {
        let Some(pattern) = self.patterns.last_mut() else {
            return Err(line.error(0, "a pattern's first line, which is not indented"));
        };
        if pattern.slots.len() == MAX_ACCESSES {
            return Err(line.error(0, "no more accesses in this pattern"));
        }
        let action = match line.word(1) {
            "r" => Action::Read,
            "w" => Action::Write,
            "u" => Action::Use,
            "f" => Action::Free,
            _ => return Err(line.error(1, "`r`, `w`, `u` or `f`")),
        };
        if line.word(2).is_empty() {
            return Err(line.error(2, "a variable"));
        }
        line.end(3)?;
        let region = line.word(0);
        let thread = region.split_once('/').map_or(region, |(thread, _)| thread);
        pattern.slots.push(Slot {
            thread: number(&mut self.threads, thread),
            region: number(&mut self.regions, region),
            variable: number(&mut self.variables, line.word(2)),
            action,
        });
        Ok(())
    }

    /// A pattern needs two accesses by two threads.
    fn finish(&self) -> Result<(), PatternError> {
        let (Some(pattern), Some((line, column))) = (self.patterns.last(), self.header) else {
            return Ok(());
        };
        if pattern.threads() >= 2 {
            return Ok(());
        }
        let expected = "accesses of at least two threads in the lines below";
        Err(PatternError { line, column, expected, found: String::new() })
    }
}

/// The number of a name, which is added if it is new.
fn number<'a>(names: &mut Vec<&'a str>, name: &'a str) -> usize {
    names.iter().position(|it| *it == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

struct Line<'a> {
    text: &'a str,
    number: usize,
}

impl<'a> Line<'a> {
    /// The words and where they begin.
    fn words(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let text = self.text;
        text.split_whitespace().map(move |it| (it.as_ptr() as usize - text.as_ptr() as usize, it))
    }

    /// A word; empty after the last one.
    fn word(&self, at: usize) -> &'a str {
        self.words().nth(at).map_or("", |(_, word)| word)
    }

    fn end(&self, at: usize) -> Result<(), PatternError> {
        match self.word(at) {
            "" => Ok(()),
            word if word.starts_with('#') => Ok(()),
            _ => Err(self.error(at, "the end of the line")),
        }
    }

    fn error(&self, at: usize, expected: &'static str) -> PatternError {
        let end = (self.text.trim_end().len(), "");
        let (before, found) = self.words().nth(at).unwrap_or(end);
        let mut column = self.text[..before].chars().count() + 1;
        // A missing word would follow a space.
        column += usize::from(found.is_empty() && before > 0);
        PatternError { line: self.number, column, expected, found: found.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn the_built_in_patterns_are_parsed() {
        let patterns = Pattern::parse(BUILT_IN).unwrap();
        let count = |class| patterns.iter().filter(|it| it.class() == class).count();
        assert_eq!(
            (count(BugClass::Race), count(BugClass::Atomicity), count(BugClass::AtomicSet)),
            (3, 5, 8)
        );
        assert_eq!(count(BugClass::Lifetime), 2);
    }

    #[test]
    fn regions_of_one_thread_can_differ() {
        let text = "pattern mine\n  a/1 r x\n  b w x # why\n  a/2 w y\n";
        let patterns = Pattern::parse(text).unwrap();
        assert_eq!(patterns[0].threads(), 2);
        assert_eq!(patterns[0].regions(), 3);
        assert_eq!(patterns[0].unit(2).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn errors_say_where_and_what() {
        let error = |text: &str| Pattern::parse(text).unwrap_err().to_string();
        assert_snapshot!(error("rice x"), @r"
        line 1, column 1: expected `race`, `atomicity`, `atomic-set`, `lifetime` or `pattern`, found `rice`
        hint: `race|atomicity|atomic-set|lifetime|pattern NAME [adjacent]`, then lines such as `t1 r x`
        ");
        assert_snapshot!(error("race"), @r"
        line 1, column 6: expected a name, found the end of the line
        hint: `race|atomicity|atomic-set|lifetime|pattern NAME [adjacent]`, then lines such as `t1 r x`
        ");
        assert_snapshot!(error("pattern p\n  t1 rx"), @r"
        line 2, column 6: expected `r`, `w`, `u` or `f`, found `rx`
        hint: `race|atomicity|atomic-set|lifetime|pattern NAME [adjacent]`, then lines such as `t1 r x`
        ");
        assert_snapshot!(error("\npattern p\n  t1 r x\n"), @r"
        line 2, column 10: expected accesses of at least two threads in the lines below, found the end of the line
        hint: `race|atomicity|atomic-set|lifetime|pattern NAME [adjacent]`, then lines such as `t1 r x`
        ");
    }
}
