//! The files next to the runtime that make compilers and linkers use it.
//!
//! **gcc** gets *specs*, additions to the rules by which its driver builds the commands of the
//! compiler proper and the linker. [`INSTRUMENT_SPECS`] passes `-fsanitize=thread` to the compiler
//! proper only. The driver never sees the option, so it does not reject `-static`, does not drop
//! `--as-needed` and does not search for libtsan. A second specs file passes the runtime to the
//! linker. The runtime is therefore not an input of the call: the names of outputs do not change,
//! and a call that turns out not to link has no unused input. The same specs apply to `lto1`, so
//! link-time optimisation works.
//!
//! If the user passes `-fsanitize=thread` as well, gcc asks the linker for libtsan. The linker
//! searches the directory given by `-B` first and finds an empty libtsan there.
//!
//! **clang** has no specs and gets the equivalent arguments, see [`crate::command`].

use std::fmt::Write as _;

/// The runtime for dynamically linked programs.
pub(crate) const DYNAMIC_OBJECT: &str = "norn-dynamic.o";
/// The runtime for statically linked programs.
pub(crate) const STATIC_OBJECT: &str = "norn-static.o";
/// The symbols that a program must export, so that libraries loaded later find the runtime.
pub(crate) const EXPORTS: &str = "norn-exports.list";
/// The linker's `--wrap` options, as a response file for a compiler driver.
pub(crate) const WRAPS: &str = "norn-wraps.rsp";
/// gcc specs: insert the hooks.
pub(crate) const INSTRUMENT: &str = "norn-instrument.specs";
/// gcc specs: link the runtime into a dynamically linked program.
pub(crate) const DYNAMIC: &str = "norn-dynamic.specs";
/// gcc specs: link the runtime into a statically linked program.
pub(crate) const STATIC: &str = "norn-static.specs";
/// The header that programs can include. It is the only header in the directory, so the directory
/// can be on the include path although it holds the other files as well.
pub(crate) const HEADER: &str = "norn.h";
/// The text of that header.
pub const HEADER_TEXT: &str = include_str!("norn.h");
/// Empty files that replace gcc's ThreadSanitizer runtime.
pub(crate) const DECOYS: [&str; 2] = ["libtsan.a", "libtsan_preinit.o"];

/// Reserves space for calls of the runtime: 16 bytes before each function and 2 at its beginning,
/// as `norn_abi::function` specifies. 16 bytes keep functions aligned.
pub(crate) const ROOM: &str = "-fpatchable-function-entry=18,16";

/// An archive without members. Linkers recognise a file by its content, not by its name, so this
/// text serves as an object file, too.
pub(crate) const EMPTY_ARCHIVE: &str = "!<arch>\n";

/// The name of the linker script with the content of [`LEAVE_OUT_LIST`].
pub(crate) const LEAVE_OUT: &str = "norn-leave-out.ld";

/// Discards the section in which the compilers list the functions with reserved space. The list of
/// gcc 12 also refers to functions that several objects define and of which the linker keeps only
/// one copy, which makes the linker fail. Norn does not need the list: it recognises the reserved
/// space by its bytes.
pub(crate) const LEAVE_OUT_LIST: &str = "\
SECTIONS { /DISCARD/ : { *(__patchable_function_entries) } } INSERT AFTER .text;
";

/// Inserts hooks for all accesses and distinguishes volatile ones. `-Wtsan` warns about fences,
/// which ThreadSanitizer does not support; Norn does, so the warning is off.
///
/// Functions keep their parameters (no IPA-SRA, no IPA-CP), because parameters distinguish calls. Loops keep their
/// loads (no LIM): gcc moves a load that only some iterations make in front of the loop, before it inserts hooks, and
/// a load that the program does not make looks like a race. Functions that set memory and that copy or compare texts are called:
/// where the length or the text is constant, gcc puts plain instructions in their place, after it has inserted hooks.
/// It does the same to copies of memory; but these are frequent, and those of one word have hooks.
///
/// [`LEAVE_OUT_LIST`] is applied only where it works: not every linker supports adding
/// to its default script, and a linker script of the user may lack the place to insert after.
pub(crate) const INSTRUMENT_SPECS: &str = "\
*cc1:
+ -fsanitize=thread --param=tsan-distinguish-volatile=1 -Wno-tsan \
-fpatchable-function-entry=18,16 -fno-ipa-sra -fno-ipa-cp -fno-tree-loop-im \
-fno-builtin-memset -fno-builtin-strcpy -fno-builtin-stpcpy -fno-builtin-strncpy -fno-builtin-strcat \
-fno-builtin-strncat -fno-builtin-strcmp -fno-builtin-strncmp -fno-builtin-sprintf

*link_libgcc:
+ %{!T*:%{!fuse-ld=gold:%{!fuse-ld=mold:-T norn-leave-out.ld%s}}}

";

/// Before glibc 2.34 `dlsym` is in a library of its own. With `--as-needed` neither library
/// becomes a dependency of a program that uses no symbol from it.
pub(crate) const DYNAMIC_LIBRARIES: &[&str] =
    &["--push-state", "--as-needed", "-ldl", "-lpthread", "--pop-state"];

/// With `--as-needed`, which some systems have by default, the linker would leave out libgomp: the
/// runtime defines the functions that the program calls, and passes the calls on.
const OPENMP: &str = "%{fopenmp:--push-state --no-as-needed -lgomp --pop-state}";

/// Specs that put the runtime where gcc puts its own sanitizers: before all objects of the user.
/// `%s` makes the driver search the directory that `-B` names for the file.
pub(crate) fn dynamic_specs() -> String {
    let libraries = DYNAMIC_LIBRARIES.join(" ");
    link_specs(&format!("{DYNAMIC_OBJECT}%s --dynamic-list {EXPORTS}%s {libraries} {OPENMP}"))
}

/// Specs that link the runtime into a static program and redirect its calls to the `wrapped`
/// functions to the runtime.
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
