//! Determines what one call of the compiler is going to produce.
//!
//! The runtime belongs into executables only, so every rule here helps to decide whether a call
//! links, and what. The compilers decide this from a small set of options and from whether there
//! is any input; this file applies the same rules.

use std::ffi::OsString;

use crate::{
    argument::{Argument, arguments},
    response::expand,
    sanitizer::Sanitizers,
};

/// The result of a call of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    /// No input and no output: a query such as `--version`.
    Nothing,
    /// A piece of a program: an object, assembler, preprocessed text, dependencies, a
    /// precompiled header, the result of `-r`, or a program that has no libc.
    Part,
    /// A shared library. Its hooks stay undefined until it is loaded into an executable, whose
    /// runtime defines them.
    SharedLibrary,
    /// An executable. It gets the runtime.
    Program(Linkage),
}

/// How an executable is linked with libc, which decides how the runtime intercepts calls to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    /// At run time: the runtime defines the same names and precedes libc in symbol lookup.
    Dynamic,
    /// At link time: the linker redirects calls to the runtime (`--wrap`).
    Static,
}

/// The properties of a call of the compiler that matter to Norn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    product: Product,
    forbids_undefined: bool,
    has_own_cxx: bool,
    sanitizers: Sanitizers,
}

impl Invocation {
    /// Parses the arguments of a compiler, including the response files among them.
    pub(crate) fn read(arguments: &[OsString]) -> Self {
        let words = expand(arguments);
        let seen = Seen::new(&words);
        Self {
            product: seen.product(),
            forbids_undefined: seen.forbids_undefined(),
            has_own_cxx: seen.has_option(&["-static-libstdc++"]),
            sanitizers: seen.sanitizers,
        }
    }

    /// The result of the call.
    pub(crate) fn product(&self) -> Product {
        self.product
    }

    /// Whether an option makes the linker reject undefined symbols.
    pub(crate) fn forbids_undefined(&self) -> bool {
        self.forbids_undefined
    }

    /// Whether the C++ library is linked statically into the program.
    pub(crate) fn has_own_cxx(&self) -> bool {
        self.has_own_cxx
    }

    /// The sanitizers that the user asks for.
    pub(crate) fn sanitizers(&self) -> &Sanitizers {
        &self.sanitizers
    }
}

/// Options that make the compiler stop before linking.
const STOPS: [&str; 18] = [
    "-c",
    "-S",
    "-E",
    "-M",
    "-MM",
    "-fsyntax-only",
    "-emit-ast",
    "-extract-api",
    "-module-file-info",
    "-rewrite-objc",
    "-verify-pch",
    "--analyze",
    "--assemble",
    "--compile",
    "--dependencies",
    "--precompile",
    "--preprocess",
    "--user-dependencies",
];

/// Extensions of files that the compilers turn into precompiled headers.
const HEADERS: [&str; 9] = ["h", "H", "hh", "hp", "hpp", "HPP", "hxx", "h++", "tcc"];

/// The arguments, grouped by kind.
#[derive(Debug, Default)]
struct Seen<'a> {
    first: &'a str,
    options: Vec<&'a str>,
    /// Names after `-l`.
    libraries: Vec<&'a str>,
    /// Arguments that the driver passes to the linker: from `-Wl,`, `-Xlinker` and `-z`.
    linker: Vec<&'a str>,
    headers: Vec<&'a str>,
    /// All inputs except headers.
    files: Vec<&'a str>,
    /// The language that `-x` sets for the inputs after it.
    language: Option<&'a str>,
    sanitizers: Sanitizers,
}

impl<'a> Seen<'a> {
    fn new(words: &'a [String]) -> Self {
        let first = words.first().map_or("", String::as_str);
        let mut seen = Self { first, ..Self::default() };
        for argument in arguments(words) {
            match argument {
                Argument::Input(file) => seen.input(file),
                Argument::Option { name, value } => seen.option(name, value),
            }
        }
        seen
    }

    fn input(&mut self, file: &'a str) {
        if self.is_header(file) { self.headers.push(file) } else { self.files.push(file) }
    }

    fn option(&mut self, name: &'a str, value: &'a str) {
        match name {
            "-l" => self.libraries.push(value),
            "-x" | "--language" => self.language = Some(value).filter(|name| *name != "none"),
            "-z" => self.linker.extend(["-z", value]),
            "-Xlinker" | "--for-linker" => self.linker.push(value),
            _ if name.starts_with("-Wl,") => self.linker.extend(name.split(',').skip(1)),
            _ => {
                self.sanitizers.read(name);
                self.options.push(name);
            }
        }
    }

    fn is_header(&self, file: &str) -> bool {
        match self.language {
            Some(language) => language.ends_with("-header"),
            None => file.rsplit_once('.').is_some_and(|(_, ending)| HEADERS.contains(&ending)),
        }
    }

    fn product(&self) -> Product {
        if self.is_question() || self.first.starts_with("-cc1") {
            Product::Nothing
        } else if self.stops_early() {
            Product::Part
        } else if self.is_shared() {
            Product::SharedLibrary
        } else if self.lacks_libc() {
            Product::Part
        } else {
            Product::Program(self.linkage())
        }
    }

    /// Both compilers treat `-l` and `-Wl,` as inputs: one of them alone makes the compiler link.
    fn is_question(&self) -> bool {
        self.files.is_empty()
            && self.headers.is_empty()
            && self.libraries.is_empty()
            && self.linker.is_empty()
    }

    fn stops_early(&self) -> bool {
        let only_headers = self.files.is_empty() && !self.headers.is_empty();
        only_headers
            || self.has_option(&STOPS)
            || self.has("-r")
            || self.tells_linker(&["--relocatable"])
    }

    fn is_shared(&self) -> bool {
        self.has_option(&["--shared"]) || self.has("-shared") || self.tells_linker(&["-Bshareable"])
    }

    /// The runtime calls libc and cannot be linked without one. Programs that run on bare metal are
    /// out of scope.
    fn lacks_libc(&self) -> bool {
        let dropped = ["-nostdlib", "-nodefaultlibs", "-nolibc", "--no-standard-libraries"];
        let is_libc = |file: &&str| file.ends_with("/libc.a") || file.ends_with("/libc.so");
        self.has_option(&dropped)
            && !self.libraries.contains(&"c")
            && !self.files.iter().any(is_libc)
    }

    fn linkage(&self) -> Linkage {
        if self.has_option(&["-static", "--static", "-static-pie", "--static-pie"]) {
            Linkage::Static
        } else {
            Linkage::Dynamic
        }
    }

    fn forbids_undefined(&self) -> bool {
        let words =
            ["--no-undefined", "-no-undefined", "-zdefs", "--unresolved-symbols=report-all"];
        self.tells_linker(&words) || self.linker.windows(2).any(|pair| pair == ["-z", "defs"])
    }

    /// Whether the linker will see an option, given either to it or to the driver.
    fn has(&self, option: &str) -> bool {
        self.has_option(&[option]) || self.tells_linker(&[option])
    }

    fn has_option(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| names.contains(option))
    }

    fn tells_linker(&self, words: &[&str]) -> bool {
        self.linker.iter().any(|word| words.contains(word))
    }
}
