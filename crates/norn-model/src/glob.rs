//! Globs over names of the program: `my_list_*`, `std::map<*>::insert`, `accounts[*].balance`.
//!
//! `*` stands for any text and `?` for one character. All patterns for names are matched here: those
//! for functions ([`FunctionPattern`](crate::FunctionPattern)), for variables and marks in properties,
//! and those of suppression files. So the recorder, which decides what is recorded, and the analyses,
//! which look for it in the trace, cannot disagree.
//!
//! A glob is split at its stars into segments of fixed length. Each segment takes the leftmost
//! match after the previous one, which is optimal, since it leaves most of the name to the
//! remaining segments. Nothing is tried twice: the time is linear in the length of the name, or for
//! a segment with `?` at most the product of both lengths.

use std::{borrow::Cow, fmt};

/// A pattern for names in which `*` and `?` are wildcards. White space is compared as
/// [`normalize_name`] leaves it.
#[derive(Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    /// The texts between the stars; there is at least one.
    segments: Vec<Segment>,
    /// Whether the first segment must be at the beginning of the name.
    anchored_start: bool,
    /// Whether the last segment must be at the end of the name.
    anchored_end: bool,
}

/// Text without `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Literal(String),
    /// With `?`, which is `None`.
    Wildcards(Vec<Option<char>>),
}

impl Glob {
    /// A glob that matches whole names.
    pub fn new(text: &str) -> Glob {
        let segments = normalize_name(text).split('*').map(Segment::new).collect();
        Glob { text: text.to_owned(), segments, anchored_start: true, anchored_end: true }
    }

    /// A glob that matches anywhere in a name unless `^` or `$` anchor it, as in the suppression
    /// files of ThreadSanitizer. `?` has no special meaning there.
    pub fn substring(text: &str) -> Glob {
        let (anchored_start, rest) =
            text.strip_prefix('^').map_or((false, text), |rest| (true, rest));
        let (anchored_end, rest) =
            rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
        let rest = normalize_name(rest);
        let segments = rest.split('*').map(|it| Segment::Literal(it.to_owned())).collect();
        Glob { text: text.to_owned(), segments, anchored_start, anchored_end }
    }

    /// The glob as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it can match more than one name.
    pub fn has_wildcards(&self) -> bool {
        !matches!(self.segments.as_slice(), [Segment::Literal(_)])
    }

    /// Whether it matches a name.
    pub fn matches(&self, name: &str) -> bool {
        self.matches_normalized(&normalize_name(name)).is_some()
    }

    /// `Some` if it matches; as an option, so that `?` ends the search at the first segment that is
    /// not found.
    fn matches_normalized(&self, name: &str) -> Option<()> {
        let mut rest = name;
        let mut segments = self.segments.as_slice();
        if self.anchored_start
            && let [first, others @ ..] = segments
        {
            rest = &rest[first.prefix(rest)?..];
            segments = others;
            if others.is_empty() {
                return (!self.anchored_end || rest.is_empty()).then_some(());
            }
        }
        let mut last = None;
        if self.anchored_end
            && let [others @ .., end] = segments
        {
            last = Some(end);
            segments = others;
        }
        for segment in segments {
            rest = &rest[segment.find(rest)?..];
        }
        last.is_none_or(|it| it.is_suffix(rest)).then_some(())
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Glob").field(&self.text).finish()
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Segment {
    fn new(text: &str) -> Segment {
        if text.contains('?') {
            Segment::Wildcards(text.chars().map(|it| (it != '?').then_some(it)).collect())
        } else {
            Segment::Literal(text.to_owned())
        }
    }

    /// The length of the match at the beginning of the text, in bytes.
    fn prefix(&self, text: &str) -> Option<usize> {
        match self {
            Segment::Literal(literal) => text.starts_with(literal).then_some(literal.len()),
            Segment::Wildcards(expected) => {
                let mut chars = text.chars();
                for expected in expected {
                    chars.next().filter(|it| expected.is_none_or(|expected| expected == *it))?;
                }
                Some(text.len() - chars.as_str().len())
            }
        }
    }

    /// The end of the first match in the text, in bytes.
    fn find(&self, text: &str) -> Option<usize> {
        match self {
            Segment::Literal(literal) => text.find(literal).map(|at| at + literal.len()),
            Segment::Wildcards(_) => {
                let mut starts = text.char_indices();
                starts.find_map(|(at, _)| Some(at + self.prefix(&text[at..])?))
            }
        }
    }

    fn is_suffix(&self, text: &str) -> bool {
        match self {
            Segment::Literal(literal) => text.ends_with(literal),
            Segment::Wildcards(expected) => {
                let mut chars = text.chars();
                expected.iter().rev().all(|expected| {
                    chars.next_back().is_some_and(|it| expected.is_none_or(|that| that == it))
                })
            }
        }
    }
}

/// A name with only the white space that C++ needs: one blank between two words, as in `unsigned
/// int` or `operator new`. Compilers, demanglers and users differ in other white space: `map<int,
/// less<int> >` becomes `map<int,less<int>>`.
pub fn normalize_name(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_whitespace) {
        return Cow::Borrowed(name);
    }
    let mut normal = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if normal.ends_with(is_word) && word.starts_with(is_word) {
            normal.push(' ');
        }
        normal.push_str(word);
    }
    Cow::Owned(normal)
}

/// Whether a character can be part of a word. `?` can, because in a glob it may stand for such a
/// character.
fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_' || it == '?'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_names() {
        let matches = |glob: &str, name: &str| Glob::new(glob).matches(name);
        assert!(matches("my_list_*", "my_list_add"));
        assert!(!matches("my_list_*", "your_my_list_add"));
        assert!(matches("std::map<*>::insert", "std::map<int, long>::insert"));
        assert!(!matches("std::map<*>::insert", "std::map<int>::insert_or_assign"));
        assert!(matches("*", "") && matches("", "") && !matches("", "a"));
        assert!(matches("a*b*c", "abbbcbc") && !matches("add", "add2"));
        assert!(!matches("ab*ba", "aba"));
        assert!(matches("f?o", "foo") && !matches("f?o", "fo"));
        assert!(matches("*x?z*", "xyxyz") && matches("*?", "ä") && !matches("*?", ""));
    }

    #[test]
    fn suppression_patterns_match_anywhere() {
        let matches = |glob: &str| Glob::substring(glob).matches("deposit");
        for glob in ["deposit", "epos", "^deposit$", "d*t", "^dep*sit$", "*", "^", "$", "^d*"] {
            assert!(matches(glob), "{glob}");
        }
        for glob in ["^eposit", "deposi$", "^dep$", "t*d", "^deposit$x", "deposit*t", "^dd*", "d?p"]
        {
            assert!(!matches(glob), "{glob}");
        }
        assert!(Glob::substring("operator?").matches("operator?"));
    }

    #[test]
    fn white_space_matters_between_words_only() {
        assert_eq!(normalize_name("M<int, long>::insert"), "M<int,long>::insert");
        assert_eq!(
            normalize_name("std::map<int, std::less<int> >"),
            "std::map<int,std::less<int>>"
        );
        assert_eq!(normalize_name("f(unsigned  int) const"), "f(unsigned int)const");
        assert_eq!(normalize_name(" operator new "), "operator new");
        let matches = |glob: &str, name: &str| Glob::new(glob).matches(name);
        assert!(matches("M<int,long>::insert", "M<int, long>::insert"));
        assert!(matches("M< int , long >::insert", "M<int, long>::insert"));
        assert!(matches("f(unsigned *)", "f(unsigned int)"));
        assert!(matches("f(unsigned ?nt)", "f(unsigned int)"));
        assert!(!matches("unsignedint", "unsigned int"));
    }

    /// Repetitions that make a backtracking matcher take exponential time.
    #[test]
    fn many_stars_take_no_longer() {
        let glob = "a*".repeat(40) + "b";
        assert!(!Glob::new(&glob).matches(&"a".repeat(10_000)));
        let glob = "?a*".repeat(40) + "b";
        assert!(!Glob::new(&glob).matches(&"a".repeat(10_000)));
    }

    /// The definition, by exhaustive search.
    fn reference(glob: &[char], name: &[char]) -> bool {
        match glob {
            [] => name.is_empty(),
            ['*', rest @ ..] => (0..=name.len()).any(|it| reference(rest, &name[it..])),
            ['?', rest @ ..] => !name.is_empty() && reference(rest, &name[1..]),
            [first, rest @ ..] => name.first() == Some(first) && reference(rest, &name[1..]),
        }
    }

    fn chars(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    proptest! {
        #[test]
        fn matches_what_the_reference_matches(glob in "[abä*?]{0,8}", name in "[abä]{0,10}") {
            let expected = reference(&chars(&glob), &chars(&name));
            prop_assert_eq!(Glob::new(&glob).matches(&name), expected);
        }

        #[test]
        fn matches_anywhere_what_the_reference_matches_between_stars(
            start in "\\^?", glob in "[ab*]{0,8}", end in "\\$?", name in "[ab]{0,10}",
        ) {
            let star = |anchor: &str| if anchor.is_empty() { "*" } else { "" };
            let whole = format!("{}{glob}{}", star(&start), star(&end));
            let expected = reference(&chars(&whole), &chars(&name));
            let found = Glob::substring(&format!("{start}{glob}{end}")).matches(&name);
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn blanks_beside_signs_do_not_matter(name in "[ab<>,:*]{0,12}", at in 0_usize..13) {
            let at = at.min(name.len());
            let (before, behind) = name.split_at(at);
            let between_words = before.ends_with(is_word) && behind.starts_with(is_word);
            prop_assume!(!between_words);
            let blank = format!("{before} {behind}");
            prop_assert_eq!(normalize_name(&blank), normalize_name(&name));
        }
    }
}
