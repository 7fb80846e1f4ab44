//! The user's own sanitizers, which share a command line with ours.
//!
//! gcc sorts this out by itself, since our flag goes straight to its compiler proper (see
//! [`crate::layout`]). clang's driver must be told to link no runtime for ThreadSanitizer, and
//! then it links none for the user's other checks either; so with those on board our flag goes
//! past the driver, too. What cannot be combined is left for clang to refuse in its own words.

use std::collections::BTreeSet;

/// Checks that have a runtime of the same sort as ThreadSanitizer's; none works next to it.
const RIVALS: [&str; 8] = [
    "address",
    "hwaddress",
    "kernel-address",
    "kernel-hwaddress",
    "kernel-memory",
    "leak",
    "memory",
    "thread",
];

/// Through which door clang is told to insert the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// As everybody does.
    Driver,
    /// To the compiler proper only: the driver has runtimes of other sanitizers to link.
    Frontend,
    /// Not at all: the user forbids it, and asks for other checks.
    Shut,
}

/// What the user's own flags ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sanitizers {
    wanted: BTreeSet<String>,
    thread_forbidden: bool,
}

impl Sanitizers {
    /// Takes one more option into account; the later one counts.
    pub(crate) fn read(&mut self, option: &str) {
        if let Some(names) = option.strip_prefix("-fsanitize=") {
            self.wanted.extend(names.split(',').map(str::to_owned));
            self.thread_forbidden &= !self.wanted.contains("thread");
        } else if let Some(names) = option.strip_prefix("-fno-sanitize=") {
            for name in names.split(',') {
                self.forbid(name);
            }
        }
    }

    /// How to ask clang for hooks.
    pub(crate) fn door(&self) -> Door {
        if self.wanted.is_empty() || RIVALS.iter().any(|rival| self.wanted.contains(*rival)) {
            Door::Driver
        } else if self.thread_forbidden {
            Door::Shut
        } else {
            Door::Frontend
        }
    }

    fn forbid(&mut self, name: &str) {
        if name == "all" {
            self.wanted.clear();
        }
        self.wanted.remove(name);
        self.thread_forbidden |= name == "all" || name == "thread";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(line: &str) -> Door {
        let mut sanitizers = Sanitizers::default();
        line.split(' ').for_each(|option| sanitizers.read(option));
        sanitizers.door()
    }

    #[test]
    fn the_driver_keeps_out_when_it_has_other_runtimes_to_link() {
        assert_eq!(door("-O2"), Door::Driver);
        assert_eq!(door("-fsanitize=thread"), Door::Driver);
        assert_eq!(door("-fsanitize=undefined,address"), Door::Driver);
        assert_eq!(door("-fsanitize=undefined"), Door::Frontend);
        assert_eq!(door("-fsanitize=undefined -fno-sanitize=thread"), Door::Shut);
        assert_eq!(door("-fsanitize=undefined -fno-sanitize=all"), Door::Driver);
        assert_eq!(door("-fsanitize=address -fno-sanitize=all -fsanitize=bounds"), Door::Shut);
    }
}
