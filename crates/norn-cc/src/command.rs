//! Builds the command line of the real compiler.
//!
//! Norn's arguments come before the user's. Where the two contradict each other, the user's win
//! (`-g0`, `-fno-sanitize=thread`), and a final `-x c` of the user does not make the compiler
//! treat the runtime's object file as source code.

#[cfg(test)]
mod tests;

use std::ffi::OsString;

use crate::{
    Compiler, Family, RuntimeDir,
    invocation::{Invocation, Linkage, Product},
    layout,
    sanitizer::Door,
};

/// The command that does what the user asks of the compiler, with Norn's arguments added. A call
/// that has nothing to compile or link stays unchanged.
pub fn command_line(
    compiler: &Compiler,
    arguments: &[OsString],
    runtime: &RuntimeDir,
) -> Vec<OsString> {
    let invocation = Invocation::read(arguments);
    let mut command = compiler.program().to_vec();
    match (invocation.product(), compiler.family()) {
        (Product::Nothing, _) => {}
        (_, Family::Gcc) => command.extend(gcc(&invocation, runtime)),
        (_, Family::Clang) => command.extend(clang(&invocation, runtime)),
    }
    command.extend_from_slice(arguments);
    command.extend(undefined_hooks(&invocation));
    command.extend(bad_alloc(compiler, &invocation));
    command
}

fn gcc(invocation: &Invocation, runtime: &RuntimeDir) -> Vec<OsString> {
    let specs = |name| runtime.argument("-specs=", name);
    let mut words = vec!["-g".into(), runtime.argument("-B", ""), specs(layout::INSTRUMENT)];
    words.extend(["-isystem".into(), runtime.argument("", "")]);
    match invocation.product() {
        Product::Program(Linkage::Dynamic) => words.push(specs(layout::DYNAMIC)),
        Product::Program(Linkage::Static) => words.push(specs(layout::STATIC)),
        Product::Nothing | Product::Part | Product::SharedLibrary => {}
    }
    words
}

/// clang warns about arguments that a call does not use, unless they stand between
/// `--start-no-unused-arguments` and `--end-no-unused-arguments`.
fn clang(invocation: &Invocation, runtime: &RuntimeDir) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["--start-no-unused-arguments".into(), "-g".into()];
    words.extend(hooks(invocation.sanitizers().door()).iter().map(OsString::from));
    words.extend(["-isystem".into(), runtime.argument("", "")]);
    match invocation.product() {
        Product::Program(Linkage::Dynamic) => words.extend(clang_dynamic(runtime)),
        Product::Program(Linkage::Static) => words.extend(clang_static(runtime)),
        Product::Nothing | Product::Part | Product::SharedLibrary => {}
    }
    words.push("--end-no-unused-arguments".into());
    words
}

/// By default clang omits the hook for a read that a write to the same address follows (`x++`) and
/// does not distinguish volatile accesses from plain ones. Norn needs both.
fn hooks(door: Door) -> Vec<&'static str> {
    let mut words = match door {
        Door::Driver => vec!["-fsanitize=thread", "-fno-sanitize-link-runtime"],
        Door::Frontend => vec!["-Xclang", "-fsanitize=thread"],
        Door::Shut => return Vec::new(),
    };
    words.extend(["-mllvm", "-tsan-instrument-read-before-write=1"]);
    words.extend(["-mllvm", "-tsan-distinguish-volatile=1"]);
    words.push(layout::ROOM);
    words
}

/// Passes paths by `-Xlinker`: a path may contain a comma, at which `-Wl,` would split it.
fn clang_dynamic(runtime: &RuntimeDir) -> Vec<OsString> {
    vec![
        runtime.argument("", layout::DYNAMIC_OBJECT),
        "-Xlinker".into(),
        runtime.argument("--dynamic-list=", layout::EXPORTS),
        format!("-Wl,{}", layout::DYNAMIC_LIBRARIES.join(",")).into(),
    ]
}

fn clang_static(runtime: &RuntimeDir) -> Vec<OsString> {
    vec![runtime.argument("", layout::STATIC_OBJECT), runtime.argument("@", layout::WRAPS)]
}

/// A shared library leaves the hooks undefined for its executable to define, so it cannot be
/// linked with `-z defs` or `--no-undefined`. This option is the only one that cancels them in
/// all linkers.
fn undefined_hooks(invocation: &Invocation) -> Option<OsString> {
    let torn = invocation.product() == Product::SharedLibrary && invocation.forbids_undefined();
    torn.then(|| "-Wl,--unresolved-symbols=ignore-all".into())
}

/// The runtime's `operator new` replaces that of a statically linked C++ library and needs this
/// one function of the library, so the linker has to pull it in.
fn bad_alloc(compiler: &Compiler, invocation: &Invocation) -> Option<OsString> {
    let program = invocation.product() == Product::Program(Linkage::Dynamic);
    let wanted = program && invocation.has_own_cxx() && compiler.links_cxx();
    wanted.then(|| "-Wl,-u,_ZSt17__throw_bad_allocv".into())
}
