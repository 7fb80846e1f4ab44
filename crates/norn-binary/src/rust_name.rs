//! Shortens demangled names of Rust.
//!
//! rustc has two schemes of mangling, which describe the same function in different detail: `Channel<T>::recv`
//! or `<Channel<bank::Order>>::recv`. Both become `Channel::recv`: generic arguments are left out, the
//! implementation of a trait is named by its type, and closures have no number. Line and column
//! distinguish what then has the same name.

/// The thread-local variable that every program with Rust's standard library has.
pub(crate) const CURRENT_THREAD: &str = "std::thread::current::CURRENT";

/// Whether a file is one of Rust's standard library: the debug information of its compiled code has
/// such paths on every machine, unless an installed copy of the sources has replaced them.
pub(crate) fn is_library_file(path: &str) -> bool {
    path.starts_with("/rustc/") || path.contains("/lib/rustlib/src/rust/library/")
}

/// The short form of a demangled name.
pub(crate) fn shorten(name: &str) -> String {
    let mut short = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(['<', '{']) {
        short.push_str(&rest[..at]);
        rest = &rest[at..];
        let Some(length) = group_length(rest) else { break };
        let (group, after) = rest.split_at(length);
        let inner = &group[1..length - 1];
        if group.starts_with('{') {
            short.push_str(&braces(inner));
        } else if short.is_empty() {
            short.push_str(&implementor(inner));
        } else if inner.starts_with("impl ") {
            short.push_str(group);
        } else if short.ends_with("::") {
            short.truncate(short.len() - 2);
        }
        rest = after;
    }
    short.push_str(rest);
    short
}

/// A method of a type that implements a trait: `<Type as Trait>::name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraitMethod {
    /// The type, in short form.
    pub implementor: String,
    /// The path of the trait, in short form.
    pub implemented: String,
    /// The method.
    pub name: String,
}

/// The method of a trait that a linkage name is for.
pub fn trait_method(linkage: &str) -> Option<TraitMethod> {
    parse_trait_method(&format!("{:#}", rustc_demangle::try_demangle(linkage).ok()?))
}

fn parse_trait_method(name: &str) -> Option<TraitMethod> {
    let length = group_length(name).filter(|_| name.starts_with('<'))?;
    let (group, after) = name.split_at(length);
    let inner = &group[1..length - 1];
    let (implementor, implemented) = inner.split_at_checked(end_of_type(inner))?;
    Some(TraitMethod {
        implementor: shorten(implementor),
        implemented: shorten(implemented.strip_prefix(" as ")?),
        name: after.strip_prefix("::")?.to_owned(),
    })
}

/// `{closure#0}` and `{{closure}}` become `{closure}`.
fn braces(inner: &str) -> String {
    let inner = inner.trim_start_matches('{').trim_end_matches('}');
    let name = inner.split('#').next().unwrap_or(inner);
    format!("{{{name}}}")
}

/// The type in `<Type as Trait>`, if it has a name.
fn implementor(inner: &str) -> String {
    let is_name = inner.starts_with(|it: char| it.is_alphanumeric() || matches!(it, '<' | '_'));
    if !is_name || inner.starts_with("dyn ") {
        return format!("<{inner}>");
    }
    let end = end_of_type(inner);
    shorten(&inner[..end])
}

/// Where ` as Trait` begins, outside of all groups.
fn end_of_type(text: &str) -> usize {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(" as ") {
            return at;
        }
        let group = if rest.starts_with(['<', '{']) { group_length(rest) } else { None };
        at += group.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
    }
    text.len()
}

/// The length of the group in angle brackets or braces with which the text starts. The arrow of a
/// function type closes nothing.
fn group_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut last = 0;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'{' => depth += 1,
            b'>' if last == b'-' => {}
            b'>' | b'}' if depth == 1 => return Some(index + 1),
            b'>' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        last = byte;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_of_traits() {
        let name = "<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock";
        let method = parse_trait_method(name).unwrap();
        assert_eq!(method.implementor, "parking_lot::raw_mutex::RawMutex");
        assert_eq!((&*method.implemented, &*method.name), ("lock_api::mutex::RawMutex", "lock"));
        assert_eq!(parse_trait_method("<bank::Account>::deposit"), None);
        assert_eq!(parse_trait_method("bank::transfer"), None);
    }

    #[test]
    fn both_schemes_have_the_same_short_names() {
        let check = |name, expected| assert_eq!(shorten(name), expected);
        check("bank::transfer", "bank::transfer");
        check(
            "<std::sys::sync::mutex::futex::Mutex>::lock",
            "std::sys::sync::mutex::futex::Mutex::lock",
        );
        check("std::sync::mpmc::list::Channel<T>::recv", "std::sync::mpmc::list::Channel::recv");
        check("<Channel<bank::Order>>::recv::<u8>", "Channel::recv");
        check(
            "std::thread::scoped::scope::<bank::main::{closure#0}, ()>",
            "std::thread::scoped::scope",
        );
        check("bank::main::{{closure}}", "bank::main::{closure}");
        check("bank::main::{closure#1}::{closure#0}", "bank::main::{closure}::{closure}");
        check("<alloc::sync::Arc<T, A> as core::ops::drop::Drop>::drop", "alloc::sync::Arc::drop");
        check("core::ptr::drop_in_place<fn(u8) -> Vec<u8>>", "core::ptr::drop_in_place");
        check("<&T as core::fmt::Debug>::fmt", "<&T as core::fmt::Debug>::fmt");
        check(
            "core::fmt::num::<impl core::fmt::Debug for usize>::fmt",
            "core::fmt::num::<impl core::fmt::Debug for usize>::fmt",
        );
        check("odd<", "odd<");
    }
}
