//! The sanitizers that the user enables, which share a command line with Norn's flags.
//!
//! gcc needs no special treatment, since Norn's flag goes directly to its compiler proper (see
//! [`crate::layout`]). clang's driver needs a flag not to link the runtime of ThreadSanitizer, and
//! with it the driver links no runtime for the user's other checks either. If the user enables
//! other checks, Norn's flag therefore bypasses clang's driver as well. For combinations that are
//! impossible clang reports its own error.

use std::collections::BTreeSet;

/// Checks whose runtimes are of the same kind as ThreadSanitizer's. None of them can be combined
/// with it.
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

/// How clang gets the flag that inserts the hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// As an ordinary option of the driver.
    Driver,
    /// As an option of the compiler proper: the driver has to link runtimes of other sanitizers.
    Frontend,
    /// Not at all: the user disables ThreadSanitizer and enables other checks.
    Shut,
}

/// The sanitizers that the user's flags enable and disable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sanitizers {
    wanted: BTreeSet<String>,
    thread_forbidden: bool,
}

impl Sanitizers {
    /// Processes one more option; a later option overrides earlier ones.
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

    /// How to pass the flag for hooks to clang.
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
    fn the_driver_is_bypassed_if_it_links_other_runtimes() {
        assert_eq!(door("-O2"), Door::Driver);
        assert_eq!(door("-fsanitize=thread"), Door::Driver);
        assert_eq!(door("-fsanitize=undefined,address"), Door::Driver);
        assert_eq!(door("-fsanitize=undefined"), Door::Frontend);
        assert_eq!(door("-fsanitize=undefined -fno-sanitize=thread"), Door::Shut);
        assert_eq!(door("-fsanitize=undefined -fno-sanitize=all"), Door::Driver);
        assert_eq!(door("-fsanitize=address -fno-sanitize=all -fsanitize=bounds"), Door::Shut);
    }
}
