//! Patterns for the names of functions: `my_list_*`, `std::map<*>::insert`, `add(int, *)`.
//!
//! `*` stands for any text and `?` for one character. A pattern may name parameters or leave them
//! out, and may leave out the arguments of a function's own template: `add` is also `add<int>`.

/// A pattern for the names of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern(String);

impl NamePattern {
    /// Takes a pattern as a person writes it.
    pub fn new(text: &str) -> NamePattern {
        NamePattern(text.trim().to_owned())
    }

    /// As the person wrote it.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether it names parameters, too.
    pub fn has_parameters(&self) -> bool {
        self.0.ends_with(')') && !self.0.ends_with("operator()")
    }

    /// Whether it stands for a name with parameters.
    pub fn matches_whole(&self, name: &str) -> bool {
        is_like(&self.0, name)
    }

    /// Whether it stands for a name without parameters.
    pub fn matches(&self, name: &str) -> bool {
        is_like(&self.0, name) || without_arguments(name).is_some_and(|it| is_like(&self.0, it))
    }
}

/// The name without the arguments of the template that the function itself is.
fn without_arguments(name: &str) -> Option<&str> {
    let inside = name.strip_suffix('>').filter(|it| !it.ends_with("operator-"))?;
    let mut depth = 1_usize;
    for (at, letter) in inside.char_indices().rev() {
        match letter {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return name.get(..at).filter(|it| !it.is_empty() && !it.ends_with("operator"));
        }
    }
    None
}

/// Whether a text is as the pattern says. Each star first stands for as little as possible, and
/// the last one for more whenever the rest does not fit.
fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut in_text) = (0, 0);
    let mut star = None;
    while in_text < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, in_text));
                at += 1;
            }
            Some(&letter) if letter == '?' || letter == text[in_text] => {
                at += 1;
                in_text += 1;
            }
            _ => {
                let Some((behind, from)) = star else { return false };
                star = Some((behind, from + 1));
                (at, in_text) = (behind, from + 1);
            }
        }
    }
    pattern[at..].iter().all(|&it| it == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_parameters() {
        let check = |pattern: &str, name: &str| NamePattern::new(pattern).matches(name);
        assert!(check("my_list_*", "my_list_add"));
        assert!(!check("my_list_*", "our_my_list_add"));
        assert!(check("std::map<*>::insert", "std::map<int, std::less<int> >::insert"));
        assert!(!check("std::map<*>::insert", "std::map<int>::insert_or_assign"));
        assert!(check("add", "add<int>"));
        assert!(check("add", "add<std::less<int> >"));
        assert!(!check("Box", "Box<int>::get"));
        assert!(check("A::operator->", "A::operator->"));
        assert!(!check("A::operator", "A::operator<int>"));
        assert!(check("f?o", "foo") && !check("f?o", "fo") && check("*", "anything"));
    }
}
