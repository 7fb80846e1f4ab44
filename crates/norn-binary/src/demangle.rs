//! Demangles linkage names of C++ (Itanium) and Rust.
//!
//! The scheme is recognised by the name itself and not by the unit's language, because symbols have
//! no unit and skeleton units of split DWARF have no language. Parameters and return types are left
//! out: debug information without linkage names could not supply them, so that the same function
//! would have two names; file and line distinguish overloads.

use cpp_demangle::DemangleOptions;

use crate::rust_name::shorten;

/// A function or variable as the source writes it; `None` if the name is not mangled.
pub(crate) fn demangle(name: &str) -> Option<String> {
    if is_rust(name) {
        return rustc_demangle::try_demangle(name).ok().map(|it| shorten(&format!("{it:#}")));
    }
    if !name.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().no_return_type().no_params();
    let name = cpp_demangle::Symbol::new(name).ok()?.demangle_with_options(&options).ok()?;
    Some(without_inner_parameters(&name))
}

/// The same with parameters, which distinguish overloads.
pub(crate) fn with_parameters(name: &str) -> Option<String> {
    if is_rust(name) || !name.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().no_return_type();
    cpp_demangle::Symbol::new(name).ok()?.demangle_with_options(&options).ok()
}

/// The legacy scheme of Rust looks like C++ but ends with a hash: `17h0123456789abcdefE`.
fn is_rust(name: &str) -> bool {
    let hashed = || {
        let name = name.as_bytes();
        let tail = name.len().checked_sub(20).and_then(|start| name.get(start..));
        tail.is_some_and(|tail| {
            tail.starts_with(b"17h")
                && tail.ends_with(b"E")
                && tail[3..19].iter().all(u8::is_ascii_hexdigit)
        })
    };
    name.starts_with("_R") || (name.starts_with("_ZN") && hashed())
}

/// The demangler leaves out the parameters of the last function only. This removes those of the
/// enclosing functions, and their `const`: `next(int) const::id` becomes `next::id`.
fn without_inner_parameters(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(open) = rest.find('(') {
        let (before, group) = rest.split_at(open);
        let Some(length) = group_length(group) else { break };
        kept.push_str(before);
        let (group, after) = group.split_at(length);
        let unqualified = after.strip_prefix(" const").unwrap_or(after);
        // An anonymous namespace takes the place of a name.
        let is_name = kept.is_empty() || kept.ends_with("::") || kept.ends_with("operator");
        if is_name || !unqualified.starts_with("::") {
            kept.push_str(group);
            rest = after;
        } else {
            rest = unqualified;
        }
    }
    kept.push_str(rest.strip_suffix(" const").unwrap_or(rest));
    kept
}

/// The length of the group in parentheses with which the text starts.
fn group_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(index + 1),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_parameters() {
        let check = |name, expected| assert_eq!(without_inner_parameters(name), expected);
        check("next(int, (anonymous namespace)::T)::id", "next::id");
        check("(anonymous namespace)::f", "(anonymous namespace)::f");
        check("a::(anonymous namespace)::f() const::x", "a::(anonymous namespace)::f::x");
        check("A::operator()(int)::n", "A::operator()::n");
        check("std::function<void (int)>::operator()", "std::function<void (int)>::operator()");
        check("f(void (*)(int))::{lambda(int)#1}::operator()", "f::{lambda(int)#1}::operator()");
        check("A::get const", "A::get");
        check("odd(", "odd(");
    }

    #[test]
    fn cpp_rust_and_c() {
        assert_eq!(demangle("_ZN4bank7Account7depositEi").unwrap(), "bank::Account::deposit");
        assert_eq!(demangle("_ZZN4bank4nextEvE2id").unwrap(), "bank::next::id");
        assert_eq!(demangle("_ZN4core3fmt5Write17h0123456789abcdefE").unwrap(), "core::fmt::Write");
        assert_eq!(
            demangle("_ZN4bank12_GLOBAL__N_16secretE").unwrap(),
            "bank::(anonymous namespace)::secret"
        );
        assert_eq!(demangle("main"), None);
        assert_eq!(demangle("_Zgarbage"), None);
    }
}
