//! What calls of known functions mean: failures, messages, output, the end of the program.

use norn_binary::{is_named, source_name};
use norn_model::FunctionPattern;
use rustc_hash::FxHashMap;

use crate::{hook::Hook, option::Options};

/// What a called function is to the search, as its name says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Callee {
    /// The hook that it is.
    pub(crate) hook: Option<Hook>,
    /// What a call does.
    pub(crate) role: Role,
    /// Whether it never returns.
    pub(crate) ends: bool,
    /// Whether its calls are recorded as reads of the memory that its arguments point to.
    pub(crate) reads: bool,
}

/// What a call does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing of interest.
    #[default]
    None,
    /// It fails an assertion, aborts, throws or panics.
    Assertion,
    /// It reports an error.
    Error,
    /// It prints or writes.
    Output,
    /// It prints to the stream in this argument.
    Stream(u8),
    /// It writes to the descriptor in its first argument.
    Descriptor,
    /// It ends the program with the status in its first argument.
    Exit,
    /// It frees its first argument.
    Free,
    /// It accesses the memory that its first arguments point to. The number is that of these arguments.
    Memory(u8),
}

const ASSERTION: [&str; 14] = [
    "__assert_fail",
    "__assert",
    "__assert_perror_fail",
    "abort",
    "__stack_chk_fail",
    "__fortify_fail",
    "__chk_fail",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_pure_virtual",
    "__cxa_bad_cast",
    "__cxa_throw_bad_array_new_length",
    "_ZSt9terminatev",
    "__clang_call_terminate",
];
/// The beginnings of the names of Rust's panics.
const PANIC: [&str; 8] = [
    "core::panicking::",
    "std::panicking::begin_panic",
    "core::option::unwrap_failed",
    "core::option::expect_failed",
    "core::result::unwrap_failed",
    "core::slice::index::slice_",
    "core::cell::panic_already",
    "std::process::abort",
];
const ERROR: [&str; 18] = [
    "perror",
    "psignal",
    "psiginfo",
    "syslog",
    "vsyslog",
    "warn",
    "warnx",
    "vwarn",
    "vwarnx",
    "err",
    "errx",
    "verr",
    "verrx",
    "error",
    "error_at_line",
    "err_sys",
    "herror",
    "std::io::stdio::_eprint",
];
const OUTPUT: [&str; 8] =
    ["printf", "vprintf", "puts", "putchar", "writev", "pwrite", "std::io::stdio::_print", "putw"];
/// The linkage names of output of C++ streams begin with one of these.
const OPERATOR: [&str; 7] = [
    "_ZStls",
    "_ZNSolsE",
    "_ZSt16__ostream_insert",
    "_ZNSo9_M_insert",
    "_ZNSo3putEc",
    "_ZNSo5writeEPKc",
    "_ZNSt3__1ls",
];
/// Functions that print to a stream, with the position of the stream among their arguments.
const STREAM: [(&str, u8); 9] = [
    ("fprintf", 0),
    ("vfprintf", 0),
    ("fputs", 1),
    ("fputc", 1),
    ("putc", 1),
    ("_IO_putc", 1),
    ("fwrite", 3),
    ("fputs_unlocked", 1),
    ("fwrite_unlocked", 3),
];
const DESCRIPTOR: [&str; 5] = ["write", "dprintf", "vdprintf", "send", "__write"];
const EXIT: [&str; 5] = ["exit", "_exit", "_Exit", "quick_exit", "std::process::exit"];
const FREE: [&str; 5] = ["free", "realloc", "cfree", "reallocarray", "munmap"];
/// Functions that read memory to compute their result, with the number of pointers that they get.
const MEMORY: [(&str, u8); 14] = [
    ("strlen", 1),
    ("strnlen", 1),
    ("strcmp", 2),
    ("strncmp", 2),
    ("strcasecmp", 2),
    ("strchr", 1),
    ("strrchr", 1),
    ("strstr", 2),
    ("memcmp", 2),
    ("bcmp", 2),
    ("memchr", 1),
    ("memcpy", 2),
    ("memmove", 2),
    ("memset", 1),
];
/// Functions that do not return and are no failures by themselves.
const ENDS: [&str; 9] = [
    "pthread_exit",
    "longjmp",
    "siglongjmp",
    "_longjmp",
    "__longjmp_chk",
    "_Unwind_Resume",
    "__cxa_end_catch_and_exit",
    "alloc::alloc::handle_alloc_error",
    "execv",
];
const ENDS_WITH_ERROR: [&str; 4] = ["err", "errx", "verr", "verrx"];

/// Classifies functions by their names.
#[derive(Debug)]
pub(crate) struct Callees {
    by_name: FxHashMap<Box<str>, Callee>,
}

impl Callees {
    /// Classifies all these names.
    pub(crate) fn new<'a>(names: impl Iterator<Item = &'a str>, options: &Options) -> Callees {
        let mut by_name: FxHashMap<Box<str>, Callee> = FxHashMap::default();
        for name in names {
            if !by_name.contains_key(name) {
                by_name.insert(name.into(), classify(name, options));
            }
        }
        Callees { by_name }
    }

    /// What a function with a linkage name is.
    pub(crate) fn get(&self, name: Option<&str>) -> Callee {
        name.and_then(|it| self.by_name.get(it)).copied().unwrap_or_default()
    }
}

fn classify(linkage: &str, options: &Options) -> Callee {
    if let Some(hook) = Hook::named(linkage) {
        return Callee { hook: Some(hook), ..Callee::default() };
    }
    let listed = |patterns: &[FunctionPattern]| patterns.iter().any(|it| is_named(it, linkage));
    let name = plain(linkage);
    let is_rust = linkage.starts_with("_ZN") || linkage.starts_with("_R");
    let source = if is_rust { source_name(linkage) } else { name.to_owned() };
    let role = match role(name, &source) {
        _ if listed(&options.error_functions) => Role::Error,
        _ if listed(&options.output_functions) => Role::Output,
        role => role,
    };
    let ends = role == Role::Assertion
        || role == Role::Exit
        || ENDS.contains(&source.as_str())
        || ENDS_WITH_ERROR.contains(&name);
    let reads = matches!(role, Role::Memory(_)) && !matches!(name, "memset" | "memcpy" | "memmove");
    Callee { hook: None, role, ends, reads }
}

fn role(name: &str, source: &str) -> Role {
    let is = |list: &[&str]| list.contains(&name) || list.contains(&source);
    let throws = name.starts_with("_ZSt") && name.contains("__throw_");
    if is(&ASSERTION) || throws || PANIC.iter().any(|it| source.starts_with(it)) {
        Role::Assertion
    } else if is(&ERROR) {
        Role::Error
    } else if is(&OUTPUT) {
        Role::Output
    } else if OPERATOR.iter().any(|it| name.starts_with(it)) {
        Role::Stream(0)
    } else if let Some((_, argument)) = STREAM.iter().find(|it| it.0 == name) {
        Role::Stream(*argument)
    } else if is(&DESCRIPTOR) {
        Role::Descriptor
    } else if is(&EXIT) {
        Role::Exit
    } else if is(&FREE) || name.starts_with("_ZdlPv") || name.starts_with("_ZdaPv") {
        Role::Free
    } else if let Some((_, pointers)) = MEMORY.iter().find(|it| it.0 == name) {
        Role::Memory(*pointers)
    } else {
        Role::None
    }
}

/// The name without what linkers and fortified headers add: `__printf_chk`, `__wrap_exit`.
fn plain(linkage: &str) -> &str {
    let name = linkage.strip_prefix("__wrap_").unwrap_or(linkage);
    let checked = name.strip_suffix("_chk").and_then(|it| it.strip_prefix("__"));
    checked.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role_of(name: &str) -> Role {
        classify(name, &Options::default()).role
    }

    #[test]
    fn functions_are_known_by_their_names() {
        assert_eq!(role_of("__assert_fail"), Role::Assertion);
        assert_eq!(role_of("_ZSt20__throw_length_errorPKc"), Role::Assertion);
        assert_eq!(role_of("_ZN4core9panicking5panic17h0123456789abcdefE"), Role::Assertion);
        assert_eq!(role_of("__fprintf_chk"), Role::Stream(0));
        assert_eq!(role_of("__wrap_exit"), Role::Exit);
        assert_eq!(role_of("_ZNSolsEi"), Role::Stream(0));
        assert_eq!(role_of("_ZdlPvm"), Role::Free);
        assert_eq!(role_of("__printf_chk"), Role::Output);
        assert_eq!(role_of("printer"), Role::None);
    }

    #[test]
    fn listed_functions_report_errors_or_print() {
        let options = Options {
            error_functions: vec![FunctionPattern::new("log::fail")],
            output_functions: vec![FunctionPattern::new("emit")],
            ..Options::default()
        };
        assert_eq!(classify("_ZN3log4failEi", &options).role, Role::Error);
        assert_eq!(classify("emit", &options).role, Role::Output);
    }
}
