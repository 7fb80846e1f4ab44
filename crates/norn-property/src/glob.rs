//! Names in which `*` stands for anything: `std::map<*>::insert`, `my_list_*`.

use std::fmt;

/// A name in which `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Glob(String);

impl Glob {
    /// Takes a name as it is written.
    pub fn new(text: &str) -> Glob {
        Glob(text.to_owned())
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name is meant. Blanks do not count: compilers differ in where they put them.
    pub fn matches(&self, name: &str) -> bool {
        let pattern: Vec<char> = self.0.chars().filter(|it| !it.is_whitespace()).collect();
        let name: Vec<char> = name.chars().filter(|it| !it.is_whitespace()).collect();
        matches(&pattern, &name)
    }
}

/// Goes through the name once; at a mismatch the last `*` takes one more character.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut star = None;
    while seen < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, seen));
            at += 1;
        } else if pattern.get(at) == Some(&name[seen]) {
            (at, seen) = (at + 1, seen + 1);
        } else if let Some((from, taken)) = star {
            star = Some((from, taken + 1));
            (at, seen) = (from + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|it| *it == '*')
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        let matches = |glob: &str, name: &str| Glob::new(glob).matches(name);
        assert!(matches("my_list_*", "my_list_add"));
        assert!(!matches("my_list_*", "your_list_add"));
        assert!(matches("std::map<*>::insert", "std::map<int, long>::insert"));
        assert!(!matches("std::map<*>::insert", "std::map<int>::insert_or_assign"));
        assert!(matches("*", ""));
        assert!(matches("a*b*c", "abbbcbc"));
        assert!(!matches("add", "add2"));
    }
}
