//! Tells the runtime which functions of a module the person named.

use std::{collections::BTreeMap, sync::atomic::Ordering};

use norn_abi::function::{BEFORE, CALL_ONLY, FUNCTIONS, Function, NAMES, PROTECTED, about, state};
use norn_binary::{Module, NamePattern};
use norn_trace::WantedFunctions;

use crate::arena::Arena;

/// Functions that return twice, or never, or look where they were called from. An exchanged return
/// address would be in their way.
const CALLS_ONLY: &[&str] = &[
    "setjmp",
    "_setjmp",
    "__sigsetjmp",
    "sigsetjmp",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "vfork",
    "getcontext",
    "setcontext",
    "swapcontext",
    "dlopen",
    "dlmopen",
    "dlsym",
    "dlvsym",
    "pthread_exit",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "abort",
    "__cxa_throw",
    "__cxa_rethrow",
    "__stack_chk_fail",
];

/// What is wanted, and what was found of it.
#[derive(Debug)]
pub(crate) struct Functions {
    patterns: Vec<NamePattern>,
    /// The number of each name.
    numbers: BTreeMap<String, u32>,
    found: Vec<u64>,
}

impl Functions {
    pub(crate) fn new(patterns: &[String]) -> Functions {
        let patterns: Vec<_> = patterns.iter().map(|it| NamePattern::new(it)).collect();
        let found = vec![0; patterns.len()];
        Functions { patterns, numbers: BTreeMap::new(), found }
    }

    /// What goes into the description of the run.
    pub(crate) fn describe(&self) -> Vec<WantedFunctions> {
        let both = self.patterns.iter().zip(&self.found);
        both.map(|(it, &found)| WantedFunctions { pattern: it.text().to_owned(), found }).collect()
    }

    /// Answers the runtime's question, if there is one.
    pub(crate) fn answer(&mut self, arena: &Arena) {
        let inquiry = arena.inquiry();
        if inquiry.state.load(Ordering::Acquire) != state::ASKED {
            return;
        }
        let path = arena.asked_path();
        let about = inquiry.about.load(Ordering::Relaxed);
        let mut functions = Module::open(&path).map(|it| self.of(&it, about)).unwrap_or_default();
        functions.truncate(FUNCTIONS);
        arena.answer(&functions);
    }

    fn of(&mut self, module: &Module, about: u32) -> Vec<Function> {
        if !module.has_room() {
            return Vec::new();
        }
        let first = module.first_page();
        if about == about::DEFINED {
            let entries = module.entries(BEFORE as u64);
            let mut last = None;
            let named = entries.into_iter().filter_map(|it| {
                let function = self.named(&it.linkage_name, it.address.wrapping_sub(first), 0)?;
                // One that has several names is seen once.
                (last.replace(it.address) != Some(it.address)).then_some(function)
            });
            return named.collect();
        }
        let imports = module.imports().into_iter();
        let named = imports.filter_map(|it| {
            let flags = if it.protected { PROTECTED } else { 0 };
            self.named(&it.linkage_name, it.address.wrapping_sub(first), flags)
        });
        named.collect()
    }

    /// The function of this name, if somebody asked for it.
    fn named(&mut self, linkage: &str, offset: u64, flags: u32) -> Option<Function> {
        let at = self.patterns.iter().position(|it| it.matches_linkage(linkage))?;
        // A person who writes `*` does not mean the innards of libraries.
        let inner = linkage.starts_with('_') && !linkage.starts_with("_Z");
        if inner && self.patterns[at].text().starts_with(['*', '?']) {
            return None;
        }
        self.found[at] += 1;
        let name = norn_binary::source_name(linkage);
        let next = u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        let calls_only = if CALLS_ONLY.contains(&linkage) { CALL_ONLY } else { 0 };
        function(linkage, &name, offset, number, flags | calls_only)
    }
}

/// A function as the runtime reads it. A name that is too long is cut, unless the runtime must look
/// it up.
fn function(linkage: &str, name: &str, offset: u64, number: u32, flags: u32) -> Option<Function> {
    let room = NAMES.checked_sub(linkage.len() + 2)?;
    let name = &name.as_bytes()[..name.len().min(room)];
    let mut names = [0; NAMES];
    names[..name.len()].copy_from_slice(name);
    names[name.len() + 1..][..linkage.len()].copy_from_slice(linkage.as_bytes());
    let len = u16::try_from(name.len()).ok()?;
    Some(Function { offset, number, flags, registers: [0, 1, 2, 3, 4, 5], len, names })
}
