//! Answers the runtime's inquiry which functions of a module to instrument.
//!
//! The user names functions by patterns. A loaded module is known only at run time, so the runtime asks
//! about each one through the arena, and the recorder reads its symbols and debug information.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError, atomic::Ordering},
    time::SystemTime,
};

use norn_abi::function::{
    BEFORE, CALL_ONLY, FUNCTIONS, Function, NAMES, NOWHERE, PROTECTED, about, state,
};
use norn_abi::rust_std::Redirect;
use norn_binary::{Module, Parameter, is_named, recorded_name};
use norn_model::FunctionPattern;
use norn_trace::WantedFunctions;

use crate::{
    arena::Arena,
    rust_std,
    unseen::{add, unseen},
};

/// Functions that return twice or never, or that inspect their return address. The runtime must not
/// replace their return address, so only their calls are recorded.
const CALLS_ONLY: &str = "setjmp _setjmp __sigsetjmp sigsetjmp longjmp _longjmp siglongjmp \
    __longjmp_chk vfork getcontext setcontext swapcontext dlopen dlmopen dlsym dlvsym pthread_exit \
    exit _exit _Exit quick_exit abort __cxa_throw __cxa_rethrow __stack_chk_fail";

/// The patterns of the user, and what was found for each.
#[derive(Debug)]
pub(crate) struct Functions {
    patterns: Vec<FunctionPattern>,
    /// The number of each name with its parameters.
    numbers: BTreeMap<Vec<u8>, u32>,
    found: Vec<WantedFunctions>,
    /// Functions that did not fit into an answer.
    pub(crate) left_out: u64,
}

/// The functions of a module that patterns select, and those whose calls cannot be recorded.
#[derive(Debug, Default)]
struct Answer {
    named: Vec<Named>,
    /// By pattern.
    unseen: Vec<WantedFunctions>,
}

/// A function that a pattern selects.
#[derive(Debug)]
struct Named {
    /// The patterns that select it.
    patterns: Vec<usize>,
    linkage: String,
    /// Its name and the names of its parameters, separated by zeros.
    text: Vec<u8>,
    offset: u64,
    flags: u32,
    registers: [u8; 6],
}

/// The key of a cached answer: a file with its modification time, the kind of question, the patterns.
type Question = (PathBuf, Option<SystemTime>, u32, Vec<String>);

/// Cached answers, since a campaign runs the same program many times.
static CACHE: LazyLock<Mutex<BTreeMap<Question, Arc<Answer>>>> = LazyLock::new(Mutex::default);

impl Functions {
    pub(crate) fn new(patterns: &[String]) -> Functions {
        let wanted =
            |it: &String| WantedFunctions { pattern: it.clone(), ..WantedFunctions::default() };
        Functions {
            patterns: patterns.iter().map(|it| FunctionPattern::new(it)).collect(),
            numbers: BTreeMap::new(),
            found: patterns.iter().map(wanted).collect(),
            left_out: 0,
        }
    }

    /// The part of the description of the run that is about functions.
    pub(crate) fn describe(&self) -> Vec<WantedFunctions> {
        self.found.clone()
    }

    /// Answers the runtime's inquiry, if there is one.
    pub(crate) fn answer(&mut self, arena: &Arena) {
        let inquiry = arena.inquiry();
        if inquiry.state.load(Ordering::Acquire) != state::ASKED {
            return;
        }
        let about = inquiry.about.load(Ordering::Relaxed);
        if about == about::RUST_STD {
            return arena.answer_redirects(&redirects_in(&arena.asked_path()));
        }
        let answer = self.answer_about(&arena.asked_path(), about);
        let both = self.found.iter_mut().zip(&answer.unseen);
        both.for_each(|(wanted, unseen)| add(wanted, unseen));
        self.left_out += answer.named.len().saturating_sub(FUNCTIONS) as u64;
        let named = answer.named.iter().take(FUNCTIONS);
        let functions: Vec<_> = named.filter_map(|it| self.number(it)).collect();
        arena.answer(&functions);
    }

    /// The answer about a file, from the cache if it is there.
    fn answer_about(&self, path: &Path, about: u32) -> Arc<Answer> {
        let changed = fs::metadata(path).and_then(|it| it.modified()).ok();
        let patterns = self.patterns.iter().map(|it| it.as_str().to_owned()).collect();
        let question = (path.to_owned(), changed, about, patterns);
        let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = cache().get(&question) {
            return Arc::clone(answer);
        }
        let answer = Module::open(path).map(|it| search(&it, about, &self.patterns));
        let answer = Arc::new(answer.unwrap_or_default());
        cache().insert(question, Arc::clone(&answer));
        answer
    }

    /// A function as the runtime reads it. A source name that is too long is truncated; a linkage name
    /// cannot be, since the runtime looks it up.
    fn number(&mut self, named: &Named) -> Option<Function> {
        let Named { linkage, text, offset, flags, registers, .. } = named;
        let room = NAMES.checked_sub(linkage.len() + 2)?;
        let text = &text[..text.len().min(room)];
        let mut names = [0; NAMES];
        names[..text.len()].copy_from_slice(text);
        names[text.len() + 1..][..linkage.len()].copy_from_slice(linkage.as_bytes());
        let next = u32::try_from(self.numbers.len() + 1).ok()?;
        let number = *self.numbers.entry(text.to_vec()).or_insert(next);
        named.patterns.iter().for_each(|it| self.found[*it].found += 1);
        let len = u16::try_from(text.len()).ok()?;
        Some(Function { offset: *offset, number, flags: *flags, registers: *registers, len, names })
    }
}

/// The calls of Rust's standard library in a file, from the cache if they are there.
fn redirects_in(path: &Path) -> Arc<[Redirect]> {
    type Version = (PathBuf, Option<SystemTime>);
    static CACHE: LazyLock<Mutex<BTreeMap<Version, Arc<[Redirect]>>>> =
        LazyLock::new(Mutex::default);
    let changed = fs::metadata(path).and_then(|it| it.modified()).ok();
    let version = (path.to_owned(), changed);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(cache.entry(version).or_insert_with(|| rust_std::redirects(path).into()))
}

fn search(module: &Module, about: u32, patterns: &[FunctionPattern]) -> Answer {
    if !module.has_room(BEFORE) {
        return Answer::default();
    }
    if about == about::DEFINED {
        return defined(module, patterns);
    }
    let first = module.first_page();
    let imports = module.imports().into_iter();
    let named = imports.filter_map(|it| {
        let selected = wanted(patterns, &it.linkage_name)?;
        let protected = if it.protected { PROTECTED } else { 0 };
        Some(Named {
            text: recorded(patterns, &selected, &it.linkage_name).into_bytes(),
            patterns: selected,
            offset: it.address.wrapping_sub(first),
            flags: protected | flags(&it.linkage_name),
            registers: [0, 1, 2, 3, 4, 5],
            linkage: it.linkage_name,
        })
    });
    Answer { named: named.collect(), unseen: Vec::new() }
}

fn defined(module: &Module, patterns: &[FunctionPattern]) -> Answer {
    let first = module.first_page();
    let entries = module.entries(BEFORE as u64).into_iter();
    let entries = entries.filter_map(|it| Some((wanted(patterns, &it.linkage_name)?, it)));
    let mut entries: Vec<_> = entries.collect();
    // A function with several names is instrumented once.
    entries.dedup_by_key(|(_, it)| it.address);
    let addresses: Vec<_> = entries.iter().map(|(_, it)| it.address).collect();
    let signatures = module.signatures(&addresses);
    let unseen = unseen(module, patterns, &entries, &signatures);
    let named = entries.into_iter().map(|(selected, it)| {
        let signature = signatures.get(&it.address).map(Vec::as_slice);
        let name = recorded(patterns, &selected, &it.linkage_name);
        Named {
            patterns: selected,
            text: text(name, signature.unwrap_or_default()),
            offset: it.address.wrapping_sub(first),
            flags: flags(&it.linkage_name),
            registers: signature.map_or([0, 1, 2, 3, 4, 5], registers),
            linkage: it.linkage_name,
        }
    });
    Answer { named: named.collect(), unseen }
}

/// The patterns that select a function, if any does. A leading wildcard does not select the internal
/// functions of libraries, whose names begin with an underscore.
fn wanted(patterns: &[FunctionPattern], linkage: &str) -> Option<Vec<usize>> {
    let internal = linkage.starts_with('_') && !linkage.starts_with("_Z");
    let selects = |it: &FunctionPattern| {
        is_named(it, linkage) && !(internal && it.as_str().starts_with(['*', '?']))
    };
    let all: Vec<_> = (0..patterns.len()).filter(|it| selects(&patterns[*it])).collect();
    (!all.is_empty()).then_some(all)
}

fn flags(linkage: &str) -> u32 {
    if CALLS_ONLY.split_whitespace().any(|it| it == linkage) { CALL_ONLY } else { 0 }
}

/// The name under which calls are recorded, of a function that these patterns have selected.
fn recorded(patterns: &[FunctionPattern], selected: &[usize], linkage: &str) -> String {
    let selected: Vec<_> = selected.iter().map(|it| &patterns[*it]).collect();
    recorded_name(&selected, linkage)
}

fn text(name: String, signature: &[Parameter]) -> Vec<u8> {
    let mut text = name;
    for parameter in signature {
        text.push('\0');
        text.push_str(&parameter.name);
    }
    text.into_bytes()
}

fn registers(signature: &[Parameter]) -> [u8; 6] {
    let mut registers = [NOWHERE; 6];
    for (register, parameter) in registers.iter_mut().zip(signature) {
        *register = parameter.register.unwrap_or(NOWHERE);
    }
    registers
}
