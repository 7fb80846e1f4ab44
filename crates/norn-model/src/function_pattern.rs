//! Patterns for the names of functions: `my_list_*`, `std::map<*>::insert`, `add(int, *)`.
//!
//! A pattern may name parameters or leave them out, and may leave out the template arguments of the
//! function itself: `add` also matches `add<int>`. The recorder uses these patterns to decide which
//! functions it instruments, and analyses use them to find the events in the trace.

use std::fmt;

use crate::glob::{Glob, normalize_name};

/// A pattern for the names of functions.
#[derive(Clone, PartialEq, Eq)]
pub struct FunctionPattern(Glob);

impl FunctionPattern {
    /// A pattern as the user writes it.
    pub fn new(text: &str) -> FunctionPattern {
        FunctionPattern(Glob::new(text.trim()))
    }

    /// The pattern as the user wrote it.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it can match functions with different names.
    pub fn has_wildcards(&self) -> bool {
        self.0.has_wildcards()
    }

    /// Whether it names parameters, so that it selects overloads.
    pub fn has_parameters(&self) -> bool {
        let text = normalize_name(self.as_str());
        without_parameters(&text).len() < text.len()
    }

    /// Whether it matches a function. A name without parameters is not matched by a pattern that has
    /// some.
    pub fn matches(&self, name: &str) -> bool {
        let name = normalize_name(name);
        let short = without_parameters(&name);
        self.0.matches(short)
            || self.0.matches(without_group(short, '<', '>'))
            || self.has_parameters()
                && (self.0.matches(&name) || self.0.matches(without_qualifiers(&name)))
    }
}

impl fmt::Debug for FunctionPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FunctionPattern").field(&self.as_str()).finish()
    }
}

impl fmt::Display for FunctionPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A normalized name without parameters: `List::add` for `List::add(int,(lambda))const`.
fn without_parameters(name: &str) -> &str {
    let unqualified = without_qualifiers(name);
    let short = without_group(unqualified, '(', ')');
    // Without parameters there are no qualifiers either: `is_const` is a whole name.
    if short.len() < unqualified.len() { short } else { name }
}

/// A normalized name without the qualifiers after the parameters of a member function.
fn without_qualifiers(name: &str) -> &str {
    let mut unqualified = name;
    while let Some(rest) =
        ["const", "volatile", "&"].iter().find_map(|it| unqualified.strip_suffix(it))
    {
        unqualified = rest.trim_end();
    }
    unqualified
}

/// A name without the bracketed group at its end. The brackets of an operator are part of its name:
/// `operator()`, `operator<=>`, `operator->`.
fn without_group(name: &str, open: char, close: char) -> &str {
    let Some(inside) = name.strip_suffix(close) else { return name };
    let mut depth = 1;
    for (at, it) in inside.char_indices().rev() {
        depth += i32::from(it == close) - i32::from(it == open);
        if depth == 0 {
            let short = &name[..at];
            return if short.is_empty() || short.ends_with("operator") { name } else { short };
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        FunctionPattern::new(pattern).matches(name)
    }

    #[test]
    fn names_without_parameters() {
        assert!(matches("my_list_*", "my_list_add"));
        assert!(!matches("my_list_*", "our_my_list_add"));
        assert!(matches("std::map<*>::insert", "std::map<int, std::less<int> >::insert"));
        assert!(!matches("std::map<*>::insert", "std::map<int>::insert_or_assign"));
        assert!(matches("add", "add<int>"));
        assert!(matches("add", "add<std::less<int> >"));
        assert!(!matches("Box", "Box<int>::get"));
        assert!(matches("A::operator->", "A::operator->"));
        assert!(matches("A::operator()", "A::operator()"));
        assert!(!matches("A::operator", "A::operator<int>"));
        assert!(!matches("is_", "is_const"));
        assert!(matches("f?o", "foo") && !matches("f?o", "fo") && matches("*", "anything"));
    }

    #[test]
    fn the_spelling_of_template_arguments_does_not_matter() {
        for pattern in ["M<int,long>::insert", "M<int, long>::insert", "M< int , long >::insert"] {
            assert!(matches(pattern, "M<int, long>::insert"), "{pattern}");
            assert!(matches(pattern, "M<int, long>::insert<char>"), "{pattern}");
            assert!(matches(pattern, "M<int,long>::insert(int, long) const"), "{pattern}");
            assert!(!matches(pattern, "M<int, int>::insert"), "{pattern}");
        }
    }

    #[test]
    fn parameters_select_overloads() {
        assert!(matches("List::add(int,*)", "List::add(int, long) const"));
        assert!(matches("List::add", "List::add(int, (lambda)) const"));
        assert!(matches("List::get() const", "List::get() const"));
        assert!(matches("A::operator()(int)", "A::operator()(int)"));
        assert!(!matches("List::add(int)", "List::add(long)"));
        assert!(!matches("List::add(int)", "List::add"));
        assert!(!matches("*int*", "List::add(int)"));
        assert!(FunctionPattern::new("f(int)").has_parameters());
        assert!(!FunctionPattern::new("A::operator()").has_parameters());
    }
}
