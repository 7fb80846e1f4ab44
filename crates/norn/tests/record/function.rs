//! Recorded calls of named functions, and marks that programs set with `norn.h`.

use std::fs;

use serde_json::Value;

use crate::event::Event;
use crate::kit::{
    Recorded, Subject, check, installed, is_installed, norn, run, subject, subjects, written,
};

/// All compilers, with and without optimization.
const BUILDS: [(&str, &str); 4] =
    [("gcc", "-O0"), ("gcc", "-O2"), ("clang-14", "-O0"), ("clang-14", "-O2")];

fn named(subject: Subject, functions: &[&str]) -> Subject {
    functions.iter().fold(subject, |it, name| it.options(&["--function", name]))
}

/// The calls, returns, marks and regions of a thread, a line for each; addresses are hidden.
fn calls(recorded: &Recorded, thread: &str, process: u32) -> String {
    let number = process.to_string();
    let ran = recorded.norn(&["dump", "--sync", "--format", "json", "--process", &number]);
    assert!(ran.status.success(), "{}", ran.stderr);
    let events = ran.stdout.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
    events.filter(|it| it["thread"] == thread).filter_map(|it| words(&it)).collect()
}

fn words(event: &Value) -> Option<String> {
    let text = |name: &str| event[name].as_str().unwrap_or("?").to_owned();
    Some(match event["op"].as_str()? {
        "call" => {
            let values: Vec<_> = event["arguments"].as_array()?.iter().map(number).collect();
            let given = match event["parameters"].as_array() {
                Some(names) => names
                    .iter()
                    .zip(values)
                    .map(|(name, value)| format!("{}={value}", name.as_str().unwrap()))
                    .collect::<Vec<_>>()
                    .join(", "),
                None => values[0].clone(),
            };
            format!("call {}({given})\n", text("function"))
        }
        "return" => match &event["result"] {
            Value::Null => format!("left {}\n", text("function")),
            value => format!("return {} {}\n", text("function"), number(value)),
        },
        "mark" => {
            format!("mark {} {}\n", text("name"), text("object").replace('?', &text("address")))
        }
        op @ ("region-begin" | "region-end") => format!("{op}\n"),
        _ => return None,
    })
}

/// Small and negative numbers in decimal, addresses as dots.
fn number(value: &Value) -> String {
    let value = value.as_u64().unwrap();
    match (value, u32::try_from(value).map(u32::cast_signed)) {
        (0..100_000, _) => value.to_string(),
        (_, Ok(negative @ -1000..0)) => negative.to_string(),
        _ if value == 1 << 40 => value.to_string(),
        _ => "…".to_owned(),
    }
}

#[test]
fn calls_of_c_functions_are_recorded() {
    for (compiler, level) in BUILDS.into_iter().filter(|it| is_installed(it.0)) {
        let subject = subject("function.c").compiler(compiler).flags(&[level]);
        let names =
            ["add", "tail", "factorial", "jumps", "around", "six", "leaves", "wait?", "h*ed"];
        let recorded = named(subject.not_compared(), &names).record();
        assert_eq!(recorded.ran.stderr, "");
        let main = calls(&recorded, "T0", 0);
        let factorial = "call factorial(n=3)
             call factorial(n=2)
             call factorial(n=1)
             return factorial 1
             return factorial 2
             return factorial 6";
        // clang makes a loop of it.
        let loops = "call factorial(n=3)\nreturn factorial 6";
        let is_loop = compiler != "gcc" && level == "-O2";
        check(
            &main,
            &format!(
                "call add(a=1, b=2)
                 return add 3
                 call tail(a=3)
                 call add(a=4, b=2)
                 return add 6
                 return tail 6
                 {}
                 call around(n=7)
                 call jumps(n=7)
                 left jumps
                 left around
                 call six(a=-1, b=…, c=97, d=1099511627776, e=7, f=9)
                 return six …",
                if is_loop { loops } else { factorial }
            ),
        );
        check(&calls(&recorded, "T0.1", 0), "call leaves(n=1)\nleft leaves");
        check(&calls(&recorded, "T0.2", 0), "call waits(n=1000)\nleft waits");
        check(&calls(&recorded, "T0!", 0), "call handled(n=10)\nreturn handled 10");
        check(&calls(&recorded, "T0", 1), "call add(a=4, b=5)\nreturn add 9");
    }
}

/// The caller of a function whose return address was replaced is still known.
#[test]
fn call_stacks_are_complete() {
    for (compiler, level) in BUILDS.into_iter().filter(|it| is_installed(it.0)) {
        let subject = subject("function.c").compiler(compiler).flags(&[level]).not_compared();
        let recorded = named(subject, &["around", "jumps"]).record();
        let events = recorded.events_with_stacks();
        let inside = |it: &&Event| it.is("write", "shared") && it.functions()[0] == "jumps";
        let functions = events.iter().find(inside).unwrap().functions();
        assert_eq!(functions[..3], ["jumps", "around", "main"], "{compiler} {level}");
    }
}

/// With all functions named, programs still behave as they did.
#[test]
fn programs_behave_as_before() {
    for (compiler, level) in BUILDS.into_iter().filter(|it| is_installed(it.0)) {
        for source in ["function.c", "function.cc", "exception.cc", "longjmp.c"] {
            let subject =
                subject(source).compiler(compiler).flags(&[level]).options(&["--function", "*"]);
            let recorded = subject.clone().not_compared().record();
            let native = subject.run_native();
            assert_eq!(recorded.ran.stdout, native.stdout, "{source} {compiler} {level}");
            assert_eq!(recorded.ran.status, native.status, "{source} {compiler} {level}");
        }
    }
}

/// Compilers remove parameters of functions that are local to a file. The values of the others are
/// correct.
#[test]
fn removed_parameters_have_no_values() {
    for (compiler, level) in BUILDS.into_iter().filter(|it| is_installed(it.0)) {
        let subject = subject("function.c").compiler(compiler).flags(&[level]).not_compared();
        let recorded = named(subject, &["inner", "half"]).record();
        let main = calls(&recorded, "T0", 0);
        let line = main.lines().find(|it| it.starts_with("call inner")).unwrap();
        let whole = "call inner(unused=1, used=21, gone=2)";
        let parts =
            ["call inner(unused=0, used=21, gone=0)", "call inner(unused=0, used=0, gone=0)"];
        let optimised = level == "-O2" && parts.contains(&line);
        assert!(line == whole || optimised, "{compiler} {level}: {line}");
        assert!(optimised || main.contains("return inner 42"), "{main}");
        assert!(main.contains("call half(x=0, n=1)"), "{main}");
    }
}

#[test]
fn calls_of_cxx_functions_are_recorded() {
    for (compiler, level) in BUILDS.into_iter().filter(|it| is_installed(it.0)) {
        let subject = subject("function.cc").compiler(compiler).flags(&[level]).not_compared();
        let names = [
            "Log::open",
            "Log::write(*)",
            "Box<*>::get",
            "twice",
            "big",
            "throws",
            "passes",
            "catches",
            "Cleaner::~Cleaner",
        ];
        let recorded = named(subject, &names).record();
        let caught = "call catches(number=1)
             call passes(number=1)
             call throws(number=1)
             left throws
             call Cleaner::~Cleaner(this=…)
             return Cleaner::~Cleaner …
             left passes
             return catches 6";
        let main = calls(&recorded, "T0", 0);
        let main: String = main.lines().map(hide_destructors_result).collect();
        check(
            &main,
            &format!(
                "call Log::open(this=…, mode=3)
                 return Log::open 3
                 call Log::write(char const*, double, long)(this=…, text=…, weight=0, count=40)
                 return Log::write(char const*, double, long) 139
                 call Log::open(this=…, mode=2)
                 return Log::open 5
                 call Box<int>::get(this=…, more=4)
                 return Box<int>::get 5
                 call Box<long>::get(this=…, more=5)
                 return Box<long>::get 7
                 call twice<int>(it=21)
                 return twice<int> 42
                 call big(first=7)
                 return big …
                 {caught}
                 call catches(number=0)
                 call passes(number=0)
                 call throws(number=0)
                 return throws …
                 call Cleaner::~Cleaner(this=…)
                 return Cleaner::~Cleaner …
                 return passes 1
                 return catches 1"
            ),
        );
        let thread: String =
            calls(&recorded, "T0.1", 0).lines().map(hide_destructors_result).collect();
        check(&thread, &format!("{caught}\ncall twice<int>(it=2)\nreturn twice<int> 4"));
    }
}

/// Functions without a result leave whatever is in the register.
fn hide_destructors_result(line: &str) -> String {
    let nothing = ["return Cleaner::~Cleaner", "return throws", "return big"];
    let nothing = nothing.iter().find(|it| line.starts_with(**it));
    nothing.map_or_else(|| format!("{line}\n"), |it| format!("{it} …\n"))
}

#[test]
fn calls_into_libraries_are_recorded() {
    let links: [&[&str]; 3] =
        [&["-Wl,-z,lazy"], &["-Wl,-z,relro,-z,now"], &["-fno-plt", "-no-pie"]];
    for compiler in installed(["gcc", "clang-14"]) {
        for flags in links {
            let subject = subject("function_library.c").compiler(compiler).flags(flags);
            let recorded = named(subject, &["atoi", "getuid", "lfind", "_setjmp"]).record();
            let main = calls(&recorded, "T0", 0);
            // The arguments of `getuid` and the result of `lfind`, an address, say nothing.
            let shown = main.lines().map(|it| {
                match it.split_once("getuid").or(it.split_once("return lfind")) {
                    Some(_) => it.split(['(', ' ']).take(2).collect::<Vec<_>>().join(" "),
                    None => it.to_owned(),
                }
            });
            check(
                &shown.collect::<Vec<_>>().join("\n"),
                "call atoi(…)
                 return atoi 17
                 call atoi(…)
                 return atoi 42
                 call getuid
                 return getuid
                 call lfind(…)
                 return lfind
                 call _setjmp(…)",
            );
        }
    }
}

/// In a static program, calls into the library cannot be intercepted.
#[test]
fn functions_that_cannot_be_recorded_are_reported() {
    let subject = subject("function_library.c").flags(&["-static"]).not_compared();
    let recorded = named(subject, &["atoi"]).record();
    assert!(
        recorded.ran.stderr.contains("norn: `atoi` is not seen: no such function"),
        "{:?}",
        recorded.ran
    );
    let info = recorded.norn(&["info"]).stdout;
    assert!(info.contains("not seen                     atoi"), "{info}");
}

#[test]
fn an_inlined_function_is_reported() {
    let subject = subject("exception.cc").flags(&["-O2"]).not_compared();
    let recorded = named(subject, &["note"]).record();
    assert!(
        recorded.ran.stderr.contains("`note` is inlined everywhere: not seen"),
        "{:?}",
        recorded.ran
    );
}

#[test]
fn calls_of_a_library_loaded_at_run_time_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("plugin.so");
    let mut build = norn(["cc", "-g", "-shared", "-fPIC"]);
    build.arg(subjects().join("plugin.c")).arg("-o").arg(&plugin).env("NORN_CC", "gcc");
    assert!(run(build).status.success());
    let subject = subject("plugin_host.c").arguments(&[&plugin]).not_compared();
    let recorded = named(subject, &["plugin_run"]).record();
    check(
        &calls(&recorded, "T0", 0),
        "call plugin_run(by=2)
         return plugin_run 3
         call plugin_run(by=3)
         return plugin_run 4",
    );
}

/// `norn.h` is found by `norn cc`, and changes nothing in a program that is built without.
#[test]
fn marks_are_recorded() {
    let header = run(norn(["header"])).stdout;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("norn.h"), header).unwrap();
    let include: &'static str = format!("-I{}", folder.path().display()).leak();
    for (compiler, level) in BUILDS.into_iter().filter(|it| is_installed(it.0)) {
        for source in ["mark.c", "mark.cc"] {
            let subject = subject(source).compiler(compiler);
            let native = subject.clone().flags(&[level, "-Wall", "-Werror", include]).run_native();
            assert_eq!(native.stdout, "3\n");
            for linkage in [&[][..], &["-static"]] {
                let recorded =
                    subject.clone().flags(&[level]).flags(linkage).not_compared().record();
                assert_eq!(recorded.ran, native);
                check(
                    &calls(&recorded, "T0", 0),
                    "mark auth 0x7
                     mark use user
                     mark use user
                     region-begin
                     region-begin
                     region-end
                     region-end
                     region-begin
                     region-end",
                );
                assert_eq!(written(&recorded.events(), "shared"), [1, 2, 3]);
            }
        }
    }
}

/// A controlled run has the same events each time, and a clip knows which functions it is about.
#[test]
fn controlled_runs_record_the_same_calls() {
    let program = subject("function.cc").build();
    let folder = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut command = norn(["run", "--seed", "5", "--save", "clip.json", "-o", "trace"]);
        command.args(["--function", "passes", "--function", "Box<*>::get", "--"]);
        let ran = run({
            command.arg(&program).current_dir(folder.path());
            command
        });
        assert!(ran.status.success(), "{ran:?}");
        let mut dump = norn(["dump", "--format", "json", "trace"]);
        dump.current_dir(folder.path());
        runs.push(run(dump).stdout);
    }
    assert!(runs[0] == runs[1], "two runs with one seed differ");
    let mut replay = norn(["replay", "-o", "again", "clip.json"]);
    replay.current_dir(folder.path());
    let replayed = run(replay);
    assert!(replayed.stderr.contains("followed"), "{replayed:?}");
    let mut dump = norn(["dump", "--format", "json", "again"]);
    dump.current_dir(folder.path());
    let again = run(dump).stdout;
    let calls = |text: &str| text.lines().filter(|it| it.contains("\"op\":\"call\"")).count();
    assert_eq!(calls(&again), calls(&runs[0]));
    assert_eq!(calls(&again), 5);
}
