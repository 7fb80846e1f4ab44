//! The command line of the real compiler.
//!
//! Our arguments come before the user's, so that the user's win where they contradict (`-g0`,
//! `-fno-sanitize=thread`) and so that a final `-x c` does not turn the runtime into source.

#[cfg(test)]
mod tests;

use std::ffi::OsString;

use crate::{
    Compiler, Family, RuntimeDir,
    invocation::{Invocation, Linkage, Product},
    layout,
    sanitizer::Door,
};

/// The command that does what the user asks of the compiler, with Norn's part added. A call that
/// has nothing to compile or link stays as it is.
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

/// clang warns of what a call has no use for, unless it stands between these two.
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

/// By default clang takes a write to stand for the read before it (`x++`), and a volatile access
/// for any other.
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

/// A path may contain a comma, which `-Wl,` would split.
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

/// A shared library leaves the hooks to its executable, so it cannot promise to leave nothing.
/// The linkers agree on no way but this one to take that promise back.
fn undefined_hooks(invocation: &Invocation) -> Option<OsString> {
    let torn = invocation.product() == Product::SharedLibrary && invocation.forbids_undefined();
    torn.then(|| "-Wl,--unresolved-symbols=ignore-all".into())
}

/// The runtime's `operator new` stands in for that of a C++ library that is linked statically, and
/// needs this one function of it.
fn bad_alloc(compiler: &Compiler, invocation: &Invocation) -> Option<OsString> {
    let program = invocation.product() == Product::Program(Linkage::Dynamic);
    let wanted = program && invocation.has_own_cxx() && compiler.links_cxx();
    wanted.then(|| "-Wl,-u,_ZSt17__throw_bad_allocv".into())
}
