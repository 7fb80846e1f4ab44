//! The files next to the runtime that tell compilers and linkers how to use it.
//!
//! **gcc** is given *specs*, additions to the rules by which its driver builds the commands of
//! the compiler proper and the linker. `-fsanitize=thread` goes to the compiler proper by
//! [`INSTRUMENT_SPECS`], so the driver never learns of it: it does not refuse `-static`, does
//! not drop `--as-needed`, does not look for libtsan. The runtime goes to the linker by another
//! file of specs, so it is not an input of the call: output names do not change, and a call that
//! turns out not to link has nothing too much. `lto1` is driven by the same specs, so link-time
//! optimisation works.
//!
//! Should the user pass `-fsanitize=thread` as well, gcc asks the linker for libtsan. It looks
//! in the directory given by `-B` first, and finds an empty one there.
//!
//! **clang** knows no specs and gets the same things as arguments, see [`crate::command`].

use std::fmt::Write as _;

/// The runtime for dynamically linked programs.
pub(crate) const DYNAMIC_OBJECT: &str = "norn-dynamic.o";
/// The runtime for statically linked programs.
pub(crate) const STATIC_OBJECT: &str = "norn-static.o";
/// What a program must export, so that libraries loaded later find the runtime.
pub(crate) const EXPORTS: &str = "norn-exports.list";
/// The linker's `--wrap` options, as a response file for a compiler driver.
pub(crate) const WRAPS: &str = "norn-wraps.rsp";
/// gcc: insert hooks.
pub(crate) const INSTRUMENT: &str = "norn-instrument.specs";
/// gcc: link the runtime into a dynamically linked program.
pub(crate) const DYNAMIC: &str = "norn-dynamic.specs";
/// gcc: link the runtime into a statically linked program.
pub(crate) const STATIC: &str = "norn-static.specs";
/// What programs can include: no other file here is a header, so that all may lie together.
pub(crate) const HEADER: &str = "norn.h";
/// Its text.
pub const HEADER_TEXT: &str = include_str!("norn.h");
/// The files that stand in for gcc's ThreadSanitizer runtime.
pub(crate) const DECOYS: [&str; 2] = ["libtsan.a", "libtsan_preinit.o"];

/// Room for calls of the runtime: 16 bytes before each function and 2 at its beginning, as
/// `norn_abi::function` says. With 16, functions stay aligned.
pub(crate) const ROOM: &str = "-fpatchable-function-entry=18,16";

/// An archive without members; linkers go by the content of a file, not by its name.
pub(crate) const EMPTY_ARCHIVE: &str = "!<arch>\n";

/// Where the linker is told to leave out what [`LEAVE_OUT_LIST`] says.
pub(crate) const LEAVE_OUT: &str = "norn-leave-out.ld";

/// The compilers list the functions with room. In the list of gcc 12 are also functions that several
/// objects have and the linker keeps once, at which it stumbles. Nobody needs the list: the room can
/// be told by its bytes.
pub(crate) const LEAVE_OUT_LIST: &str = "\
SECTIONS { /DISCARD/ : { *(__patchable_function_entries) } } INSERT AFTER .text;
";

/// Hooks for all accesses, with volatile ones told apart. `-Wtsan` warns of fences, which
/// ThreadSanitizer does not understand; Norn does.
/// Functions keep their parameters, so that calls can be told by them. Not every linker adds to its
/// rules, and rules of the user's own may have no place to add to.
pub(crate) const INSTRUMENT_SPECS: &str = "\
*cc1:
+ -fsanitize=thread --param=tsan-distinguish-volatile=1 -Wno-tsan \
-fpatchable-function-entry=18,16 -fno-ipa-sra -fno-ipa-cp

*link_libgcc:
+ %{!T*:%{!fuse-ld=gold:%{!fuse-ld=mold:-T norn-leave-out.ld%s}}}

";

/// Before glibc 2.34 `dlsym` is in a library of its own. Where it is not, and in a program that
/// needs nothing from them, neither library is linked.
pub(crate) const DYNAMIC_LIBRARIES: &[&str] =
    &["--push-state", "--as-needed", "-ldl", "-lpthread", "--pop-state"];

/// Specs that put the runtime where gcc has its own sanitizers: before all objects of the user.
/// `%s` looks a file up in the directory that `-B` names.
pub(crate) fn dynamic_specs() -> String {
    let libraries = DYNAMIC_LIBRARIES.join(" ");
    link_specs(&format!("{DYNAMIC_OBJECT}%s --dynamic-list {EXPORTS}%s {libraries}"))
}

/// The same for a static program, with its calls to `wrapped` functions led to the runtime.
pub(crate) fn static_specs(wrapped: &str) -> String {
    let wraps = wrapped.lines().fold(String::new(), |text, name| text + " --wrap=" + name);
    link_specs(&format!("{STATIC_OBJECT}%s{wraps}"))
}

/// The list of symbols for the linker's `--dynamic-list`.
pub(crate) fn exports_list(exported: &str) -> String {
    let mut text = String::from("{\n");
    for name in exported.lines() {
        let _ = writeln!(text, "  {name};");
    }
    text + "};\n"
}

/// The `--wrap` options for clang.
pub(crate) fn wraps_response(wrapped: &str) -> String {
    wrapped.lines().fold(String::new(), |text, name| text + "-Wl,--wrap=" + name + "\n")
}

fn link_specs(words: &str) -> String {
    format!("*link_libgcc:\n+ {words}\n\n")
}
