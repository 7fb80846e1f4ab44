//! The text of the source lines that a clip names, by which it finds them again after the source was edited.
//!
//! A line is the same if its text is, without blanks at its ends. Of several such lines, the one whose
//! neighbours are the same, too, is preferred, and then the one with the same number among equal lines. A
//! line whose text is gone keeps its number; a point on it may then have no place in the program.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use norn_model::{Line, Location, Schedule, SiteId, Until};
use norn_trace::file;
use serde::{Deserialize, Serialize};

use crate::{Clip, SymbolizedTrace};

/// Longer lines are cut.
const MAX_LINE: usize = 200;
/// Larger source files are not read.
const MAX_FILE: u64 = 1 << 24;

/// The ends of the names of source files.
const ENDINGS: [&str; 21] = [
    "c", "cc", "cpp", "cxx", "c++", "C", "h", "hh", "hpp", "hxx", "h++", "H", "inc", "inl", "ipp",
    "tcc", "tpp", "txx", "s", "S", "rs",
];

/// The lines of source files that a clip names, by the names of the files.
pub(crate) type SourceLines = BTreeMap<String, BTreeMap<u32, SourceLine>>;

/// A line of source, when the clip was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceLine {
    /// Its text.
    text: String,
    /// The lines before and after it that are not blank.
    around: [String; 2],
    /// Its number among lines with the same text, from 0.
    occurrence: usize,
}

/// How the lines of a clip were found again in the current source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Number of lines that have another number now.
    pub lines: usize,
    /// Lines whose text is gone: `bank.c:12`.
    pub gone: Vec<String>,
}

impl Clip {
    /// Keeps the text of the lines that the clip names.
    pub(crate) fn remember_lines(&mut self, symbolized: &SymbolizedTrace) {
        let mut named: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        self.each_line(&mut |it| {
            named.entry(it.file.clone()).or_default().insert(it.number);
        });
        let paths = source_paths(symbolized);
        let mut sources = SourceLines::new();
        for (name, numbers) in named {
            let Some(text) = paths.get(&name).and_then(|it| read(it)) else { continue };
            let file = SourceFile::new(&text);
            let lines = numbers.iter().filter_map(|it| Some((*it, file.line(*it)?)));
            sources.insert(name, lines.collect());
        }
        self.set_sources(sources);
    }

    /// Finds the lines that the clip names again in other versions of their files, and changes their
    /// numbers. `source` gives the current text of a file by its name.
    pub fn find_lines_again(&mut self, source: impl Fn(&str) -> Option<String>) -> Moved {
        let mut moved = Moved::default();
        let mut now: BTreeMap<(String, u32), u32> = BTreeMap::new();
        for (name, lines) in &self.sources {
            let Some(text) = source(name) else { continue };
            let file = SourceFile::new(&text);
            for (before, line) in lines {
                match file.find(line, *before) {
                    Some(found) => {
                        moved.lines += usize::from(found != *before);
                        now.insert((name.clone(), *before), found);
                    }
                    None => moved.gone.push(format!("{name}:{before}")),
                }
            }
        }
        self.each_line(&mut |it| {
            if let Some(found) = now.get(&(it.file.clone(), it.number)) {
                it.number = *found;
            }
        });
        moved
    }

    /// Visits the lines of all points.
    fn each_line(&mut self, visit: &mut dyn FnMut(&mut Line)) {
        let Schedule { segments } = &mut self.schedule;
        for segment in segments {
            if let Until::Event { at: Some(at), .. } | Until::Before(at) | Until::After(at) =
                &mut segment.until
            {
                at.point.line.iter_mut().for_each(&mut *visit);
            }
        }
        for event in self.claim.iter_mut().flat_map(|it| &mut it.events) {
            event.at.point.line.iter_mut().for_each(&mut *visit);
        }
        for point in self.path.iter_mut().flat_map(crate::path::Path::points_mut) {
            point.line.iter_mut().for_each(&mut *visit);
        }
    }
}

/// The source files of a run's code, by their names. Two files with the same name have none: a point does
/// not say which one it means.
fn source_paths(symbolized: &SymbolizedTrace) -> BTreeMap<String, String> {
    let mut paths: BTreeMap<String, Option<String>> = BTreeMap::new();
    for site in (0..u32::try_from(symbolized.trace.sites().len()).unwrap_or(u32::MAX)).map(SiteId) {
        let Some(site) = symbolized.trace.site(site) else { continue };
        let frames = symbolized.symbols.frames(site.pc);
        let Some(Location { file: Some(path), .. }) = frames.first() else { continue };
        let name = path.rsplit('/').next().unwrap_or(path);
        let known = paths.entry(name.to_owned()).or_insert_with(|| Some(path.clone()));
        if known.as_ref().is_some_and(|it| it != path) {
            *known = None;
        }
    }
    paths.into_iter().filter_map(|(name, path)| Some((name, path?))).collect()
}

/// The text of a source file. Debug information names it, and someone else may have written that: a clip
/// that is passed on must not contain lines of a private file.
fn read(path: &str) -> Option<String> {
    let path = Path::new(path);
    let bytes = file::read_regular(path, MAX_FILE).ok().filter(|_| is_source_file(path))?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the name of a file ends as those of source files do.
pub fn is_source_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    ENDINGS.contains(&ending)
}

/// The lines of a file, without blanks at their ends.
struct SourceFile<'a> {
    lines: Vec<&'a str>,
}

impl<'a> SourceFile<'a> {
    fn new(text: &'a str) -> SourceFile<'a> {
        SourceFile { lines: text.lines().map(|it| cut(it.trim())).collect() }
    }

    fn line(&self, number: u32) -> Option<SourceLine> {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        let text = *self.lines.get(at)?;
        let same = self.lines[..at].iter().filter(|it| **it == text);
        let around = self.around(at).map(str::to_owned);
        Some(SourceLine { text: text.to_owned(), around, occurrence: same.count() })
    }

    /// The nearest lines before and after one that are not blank.
    fn around(&self, at: usize) -> [&'a str; 2] {
        let is_text = |it: &&&str| !it.is_empty();
        let before = self.lines[..at].iter().rev().find(is_text).copied();
        let after = self.lines[at + 1..].iter().find(is_text).copied();
        [before.unwrap_or_default(), after.unwrap_or_default()]
    }

    /// The number that a line has now.
    fn find(&self, line: &SourceLine, before: u32) -> Option<u32> {
        let same = self.lines.iter().enumerate().filter(|it| *it.1 == line.text);
        let likeness = |(occurrence, (at, _)): &(usize, (usize, &&str))| {
            let around = self.around(*at);
            let neighbours = around.iter().zip(&line.around).filter(|it| it.0 == it.1).count();
            let distance = (at + 1).abs_diff(usize::try_from(before).unwrap_or(usize::MAX));
            (neighbours, *occurrence == line.occurrence, std::cmp::Reverse(distance))
        };
        let (_, (at, _)) = same.enumerate().max_by_key(likeness)?;
        u32::try_from(at + 1).ok()
    }
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_LINE).map_or(text.len(), |it| it.0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "\
int total;

void add(int n) {
    lock();
    total += n;
    unlock();
}

void take(int n) {
    lock();
    total -= n;
    unlock();
}
";

    /// The line of another version that is a line of the first one.
    fn found(now: &str, number: u32) -> Option<u32> {
        SourceFile::new(now).find(&SourceFile::new(BEFORE).line(number).unwrap(), number)
    }

    #[test]
    fn lines_are_found_below_an_insertion() {
        let now = format!("// A bank.\n#include \"lock.h\"\n{BEFORE}");
        for number in [1, 4, 5, 10, 11, 12] {
            assert_eq!(found(&now, number), Some(number + 2));
        }
    }

    #[test]
    fn an_equal_line_elsewhere_does_not_matter() {
        let other = "void look(void) {\n    lock();\n    print(total);\n    unlock();\n}\n\n";
        let now = BEFORE.replace("void add", &format!("{other}void add"));
        assert_eq!(found(&now, 4), Some(10));
        assert_eq!(found(&now, 10), Some(16));
    }

    #[test]
    fn a_line_whose_text_has_changed_is_gone() {
        assert_eq!(found(&BEFORE.replace("total += n", "total = total + n"), 5), None);
        assert_eq!(found(&BEFORE.replace("    total += n", "\ttotal += n"), 5), Some(5));
    }
}
