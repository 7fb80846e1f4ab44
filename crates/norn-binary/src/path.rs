//! Describes the part of a variable that an access touches, in C notation.
//!
//! The rule: descend as long as a single part contains the access.
//!
//! - Several elements of an array, but not all: `buf[4..7]`, both ends included.
//! - Several members of a struct, but not all: `.{lo, hi}`, or `.{first..last}` beyond three.
//! - All of an array or struct: the array or struct itself, so that copying a struct names it.
//! - Bytes between members: the struct.
//! - An enum of Rust: the part of its only variant that has one with exactly the access's offset and size. If there are
//!   several, or none, the enum itself: which variant it has is not known. So is an access to what says which one it is.
//! - A union: the first member that has a part with exactly the access's offset and size, or else
//!   the first that contains the access.
//!
//! Base classes and anonymous members add nothing to the path. Neither does a member with a
//! reserved name (`_M_`, `__`) that is the only one of its record: `std::atomic<int> n` is `n` and
//! not `n._M_i`, and `std::array<int, 4> a` has `a[2]`.

use std::fmt::Write;

use crate::types::{Member, Type};
use norn_model::ValueType;

/// The text to append to the variable's name for an access of `size` bytes at `offset`.
#[cfg(test)]
fn path(shape: &Type, offset: u64, size: u64) -> String {
    part(shape, offset, size).0
}

/// The text to append to the variable's name for an access of `size` bytes at `offset`, and how to
/// format the value, if the access covers exactly one scalar.
pub(crate) fn part(shape: &Type, offset: u64, size: u64) -> (String, Option<ValueType>) {
    let end = offset.saturating_add(size.max(1));
    let found = describe(shape, Access { start: offset, end }, 0);
    (found.text, found.value_type)
}

/// Bytes relative to the object under consideration; never empty.
#[derive(Clone, Copy)]
struct Access {
    start: u64,
    end: u64,
}

impl Access {
    /// The part that falls into an object at `offset`, relative to that object.
    fn within(self, offset: u64, extent: u64) -> Option<Self> {
        let start = self.start.max(offset) - offset;
        let end = self.end.saturating_sub(offset).min(extent);
        (start < end).then_some(Self { start, end })
    }

    fn len(self) -> u64 {
        self.end - self.start
    }

    fn covers(self, size: u64) -> bool {
        self.start == 0 && self.end >= size
    }
}

struct Described {
    text: String,
    /// Whether the object has exactly the offset and size of the access.
    exact: bool,
    /// How to format the value of the object, if it is a scalar.
    value_type: Option<ValueType>,
}

impl Described {
    /// The object itself.
    fn here(exact: bool) -> Self {
        Self { text: String::new(), exact, value_type: None }
    }
}

fn describe(shape: &Type, access: Access, depth: usize) -> Described {
    match shape {
        Type::Scalar { size, value_type, .. } => {
            let exact = access.start == 0 && (access.end == *size || *size == 0);
            Described { value_type: exact.then(|| value_type.clone()), ..Described::here(exact) }
        }
        Type::Array { element, count } => describe_array(element, *count, access, depth),
        Type::Record { size, is_union: true, members }
            if access.covers(*size) && is_opaque(members) =>
        {
            Described::here(access.end == *size)
        }
        Type::Record { is_union: true, members, .. } => describe_union(members, access, depth),
        Type::Record { size, members, .. } => describe_struct(*size, members, access, depth),
        Type::Variants { size, tag, variants } => {
            let is_tag = tag.is_some_and(|it| (access.start, access.len()) == (it.offset, it.size));
            let variants = if is_tag { &[][..] } else { variants };
            describe_variants(*size, variants, access, depth)
        }
    }
}

fn describe_array(element: &Type, count: Option<u64>, access: Access, depth: usize) -> Described {
    let stride = element.size();
    let size = count.map_or(u64::MAX, |count| stride.saturating_mul(count));
    let inside = access.within(0, size).filter(|inside| stride > 0 && !inside.covers(size));
    let Some(inside) = inside else { return Described::here(access.covers(size)) };
    let (first, last) = (inside.start / stride, (inside.end - 1) / stride);
    if first != last {
        return Described { text: format!("[{first}..{last}]"), ..Described::here(false) };
    }
    let start = first * stride;
    let within = Access { start: inside.start - start, end: inside.end - start };
    let inner = describe(element, within, depth);
    Described { text: format!("[{first}]{}", inner.text), ..inner }
}

fn describe_struct(size: u64, members: &[Member], access: Access, depth: usize) -> Described {
    let touched: Vec<_> =
        members.iter().filter_map(|member| Some((member, part_of(member, access)?))).collect();
    let names = match touched[..] {
        [] => return Described::here(false),
        [(member, inside)] => {
            let inner = describe_member(member, members.len() == 1, inside, depth);
            if !inner.text.is_empty() || member.name.is_some() || access.covers(size) {
                // The padding that was cut off at the member's ends is touched as well.
                return Described { exact: inner.exact && inside.len() == access.len(), ..inner };
            }
            // The access covers an anonymous struct, but not this whole one.
            names_of(&touched)
        }
        _ if access.covers(size) => return Described::here(access.end == size),
        _ => names_of(&touched),
    };
    Described { text: group(&names), ..Described::here(false) }
}

fn describe_union(members: &[Member], access: Access, depth: usize) -> Described {
    // Nested unions double the search at every level; beyond this depth the first member is taken.
    const MAX_DEPTH: usize = 6;
    let containing = members.iter().filter_map(|member| {
        let inside = part_of(member, access)?;
        (inside.len() == access.len()).then_some((member, inside))
    });
    let mut first = None;
    for (member, inside) in containing {
        let found = describe_member(member, members.len() == 1, inside, depth + 1);
        // An anonymous struct as a whole has no name; a later member may have one.
        if (found.exact && !found.text.is_empty()) || depth >= MAX_DEPTH {
            return found;
        }
        first.get_or_insert(found);
    }
    first.unwrap_or(Described::here(false))
}

fn describe_variants(size: u64, variants: &[Member], access: Access, depth: usize) -> Described {
    if access.covers(size) {
        return Described::here(access.end == size);
    }
    let parts = variants.iter().filter_map(|it| Some((it, part_of(it, access)?)));
    let described = parts.map(|(it, inside)| describe_member(it, false, inside, depth));
    let mut exact = described.filter(|it| it.exact);
    match (exact.next(), exact.next()) {
        (Some(only), None) => only,
        _ => Described::here(false),
    }
}

fn describe_member(member: &Member, only: bool, inside: Access, depth: usize) -> Described {
    let inner = describe(&member.shape, inside, depth);
    match &member.name {
        Some(name) if !(only && is_reserved(name)) => {
            Described { text: format!(".{}{}", in_source(name), inner.text), ..inner }
        }
        _ => inner,
    }
}

/// The name as the source has it: the fields of Rust's tuples are `__0`, `__1` in debug information.
fn in_source(name: &str) -> &str {
    let number = name.strip_prefix("__").unwrap_or("");
    let is_field = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    if is_field { number } else { name }
}

/// Whether a union is internal to a library, such as `pthread_mutex_t`: then the variable's own
/// name is the best one.
fn is_opaque(members: &[Member]) -> bool {
    members.iter().all(|member| member.name.as_deref().is_some_and(is_reserved))
}

fn is_reserved(name: &str) -> bool {
    name.starts_with("_M_") || name.starts_with("__")
}

fn part_of(member: &Member, access: Access) -> Option<Access> {
    let extent = if member.shape.is_unbounded() { u64::MAX } else { member.size };
    access.within(member.offset, extent)
}

/// The names of the touched members, descending into those without a name.
fn names_of<'t>(touched: &[(&'t Member, Access)]) -> Vec<&'t str> {
    let mut names = Vec::new();
    for (member, inside) in touched {
        add_names(member, *inside, &mut names);
    }
    names
}

fn add_names<'t>(member: &'t Member, inside: Access, names: &mut Vec<&'t str>) {
    match (&member.name, &*member.shape) {
        (Some(name), _) => names.push(name),
        (None, Type::Record { members, is_union, .. }) => {
            // The members of a union overlap: one of them represents all.
            let limit = if *is_union { 1 } else { usize::MAX };
            let touched = members.iter().filter_map(|m| Some((m, part_of(m, inside)?)));
            for (member, inside) in touched.take(limit) {
                add_names(member, inside, names);
            }
        }
        (None, _) => {}
    }
}

fn group(names: &[&str]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _infallible = match names {
        [] => Ok(()),
        [only] => write!(text, ".{only}"),
        [first, .., last] if names.len() > 3 => write!(text, ".{{{first}..{last}}}"),
        names => write!(text, ".{{{}}}", names.join(", ")),
    };
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::types::{Tag, scalar};

    fn array(element: Arc<Type>, count: Option<u64>) -> Arc<Type> {
        Arc::new(Type::Array { element, count })
    }

    fn member(name: &str, offset: u64, shape: Arc<Type>) -> Member {
        let name = (!name.is_empty()).then(|| name.into());
        Member { name, offset, size: shape.size(), shape }
    }

    fn record(size: u64, members: Vec<Member>) -> Arc<Type> {
        Arc::new(Type::Record { size, is_union: false, members })
    }

    fn union(size: u64, members: Vec<Member>) -> Arc<Type> {
        Arc::new(Type::Record { size, is_union: true, members })
    }

    #[test]
    fn accesses_that_leave_the_variable() {
        let buf = array(scalar(4), Some(4));
        assert_eq!(path(&buf, 12, 100), "[3]");
        assert_eq!(path(&buf, 8, u64::MAX), "[2..3]");
        assert_eq!(path(&buf, 16, 4), "");
        assert_eq!(path(&buf, u64::MAX, 8), "");
        assert_eq!(path(&scalar(4), u64::MAX, u64::MAX), "");
    }

    #[test]
    fn padding_is_not_a_member() {
        let padded = record(16, vec![member("tag", 0, scalar(1)), member("value", 8, scalar(8))]);
        assert_eq!(path(&padded, 1, 4), "");
        assert_eq!(path(&padded, 4, 8), ".value");
        assert_eq!(path(&padded, 0, 4), ".tag");
    }

    #[test]
    fn unbounded_arrays_take_what_is_left() {
        let message = record(
            4,
            vec![member("length", 0, scalar(4)), member("text", 4, array(scalar(1), None))],
        );
        assert_eq!(path(&message, 1000, 1), ".text[996]");
        assert_eq!(path(&message, 1000, 2), ".text[996..997]");
    }

    #[test]
    fn unions_prefer_the_exact_member() {
        let halves = record(8, vec![member("lo", 0, scalar(4)), member("hi", 4, scalar(4))]);
        let cell = union(8, vec![member("", 0, halves), member("both", 0, scalar(8))]);
        assert_eq!(path(&cell, 0, 8), ".both");
        assert_eq!(path(&cell, 4, 4), ".hi");
        assert_eq!(path(&cell, 5, 1), ".hi");
        assert_eq!(path(&cell, 2, 4), ".{lo, hi}");
    }

    #[test]
    fn enums_are_named_by_a_variant_only_if_it_is_certain() {
        let variant = |name: &str, fields: Vec<Member>| member(name, 0, record(24, fields));
        let state = Arc::new(Type::Variants {
            size: 24,
            tag: Some(Tag { offset: 0, size: 4 }),
            variants: vec![
                variant("Idle", vec![]),
                variant(
                    "Running",
                    vec![member("jobs", 4, scalar(4)), member("since", 8, scalar(8))],
                ),
                variant("Done", vec![member("__0", 8, scalar(8))]),
            ],
        });
        assert_eq!(path(&state, 4, 4), ".Running.jobs");
        assert_eq!(path(&state, 8, 8), "");
        assert_eq!(path(&state, 0, 4), "");
        assert_eq!(path(&state, 0, 24), "");
        let some = vec![variant("", vec![]), variant("", vec![member("__0", 0, state)])];
        let tag = Some(Tag { offset: 8, size: 8 });
        let option = Arc::new(Type::Variants { size: 24, tag, variants: some });
        assert_eq!(path(&option, 4, 4), ".Running.jobs");
        assert_eq!(path(&option, 8, 8), "");
    }

    #[test]
    fn wrappers_of_the_library_are_transparent() {
        let atomic = record(4, vec![member("", 0, record(4, vec![member("_M_i", 0, scalar(4))]))]);
        assert_eq!(path(&atomic, 0, 4), "");
        let own = record(4, vec![member("value", 0, scalar(4))]);
        assert_eq!(path(&own, 0, 4), ".value");
    }

    /// Each level doubles the number of paths; a search without a limit would not end.
    #[test]
    fn opaque_unions_are_not_entered() {
        let lock = union(8, vec![member("__data", 0, scalar(8)), member("__align", 0, scalar(8))]);
        assert_eq!(path(&lock, 0, 8), "");
        assert_eq!(path(&lock, 0, 4), ".__data");
    }

    #[test]
    fn deep_unions_end() {
        let deep = (0..100).fold(scalar(8), |shape, _| {
            union(8, vec![member("a", 0, Arc::clone(&shape)), member("b", 0, shape)])
        });
        assert!(path(&deep, 1, 1).starts_with(".a.a.a"));
    }
}
