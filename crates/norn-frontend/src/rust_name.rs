//! Short names of Rust's types: `Mutex<Account>` for `alloc::sync::ArcInner<std::sync::poison::mutex::Mutex<bank::Account>>`.
//!
//! The modules in which the standard library has its types tell users nothing, nor do the types that it takes if none
//! is named (the allocator), and the block behind an `Arc` is the value to them. Paths of the program's own types stay as they are, because two of them may have the
//! same name.

/// The libraries whose paths are omitted.
const LIBRARIES: [&str; 4] = ["std::", "core::", "alloc::", "hashbrown::"];
/// The arguments that its types have if none is named.
const DEFAULTS: [&str; 2] = [", Global", ", RandomState"];
/// What `Arc` and `Rc` point to.
const COUNTED: [&str; 3] = ["ArcInner<", "RcInner<", "RcBox<"];

/// The short form of the name of a type; other names stay as they are.
pub(crate) fn short(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find(is_word) {
        text.push_str(&rest[..start]);
        let path = &rest[start..];
        let end = path.find(|it: char| !is_word(it) && it != ':').unwrap_or(path.len());
        let is_library = LIBRARIES.iter().any(|it| path.starts_with(it));
        let last = path[..end].rsplit("::").next().filter(|_| is_library);
        text.push_str(last.unwrap_or(&path[..end]));
        rest = &path[end..];
    }
    text.push_str(rest);
    for default in DEFAULTS {
        // Types of the program have a path, so this is none of them.
        let last = format!("{default}>");
        while text.contains(&last) {
            text = text.replace(&last, ">");
        }
    }
    without_counters(&text).to_owned()
}

fn without_counters(name: &str) -> &str {
    let inner = COUNTED.iter().find_map(|it| name.strip_prefix(it));
    inner.and_then(|it| it.strip_suffix('>')).unwrap_or(name)
}

fn is_word(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_arguments_are_omitted() {
        let map = "std::collections::hash::map::HashMap<alloc::string::String, alloc::vec::Vec<u8, alloc::alloc::Global>, \
                   std::hash::random::RandomState, alloc::alloc::Global>";
        assert_eq!(short(map), "HashMap<String, Vec<u8>>");
        assert_eq!(short("bank::Arena<u8, bank::Global>"), "bank::Arena<u8, bank::Global>");
    }

    #[test]
    fn paths_of_the_library_are_omitted() {
        let counted = "alloc::sync::ArcInner<std::sync::poison::mutex::Mutex<bank::Account>>";
        assert_eq!(short(counted), "Mutex<bank::Account>");
        assert_eq!(short("std::thread::lifecycle::Packet<()>"), "Packet<()>");
        assert_eq!(short("bank::Account"), "bank::Account");
        assert_eq!(short("(core::option::Option<u8>, [u8])"), "(Option<u8>, [u8])");
    }
}
