//! The code that runs at every memory access: straight, short, and without calls.

use std::{collections::BTreeMap, fs, process::Command};

use norn_cc::RuntimeImage;

use crate::kit::run;

/// Functions of the runtime, by name: their instructions and what these refer to.
fn disassemble(object: &[u8]) -> BTreeMap<String, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("runtime.o");
    fs::write(&file, object).unwrap();
    let mut objdump = Command::new("objdump");
    objdump.args(["-dr", "-M", "intel", "--no-show-raw-insn"]).arg(&file);
    let listing = run(objdump);
    assert!(listing.status.success(), "{}", listing.stderr);
    let mut functions = BTreeMap::<String, Vec<String>>::new();
    let mut name = String::new();
    for line in listing.stdout.lines() {
        if let Some(symbol) = line.strip_suffix(">:").and_then(|it| it.split_once('<')) {
            name = symbol.1.to_owned();
        } else if let Some((_, code)) = line.split_once(":\t") {
            functions.entry(name.clone()).or_default().push(code.trim().to_owned());
        }
    }
    functions
}

/// Saved and restored by whoever uses them: the only ones that may be pushed.
const CALLEE_SAVED: [&str; 6] = ["rbx", "rbp", "r12", "r13", "r14", "r15"];

fn check_straight(name: &str, code: &[String]) {
    for instruction in code {
        let (word, operand) = instruction.split_once(' ').unwrap_or((instruction, ""));
        let saved = CALLEE_SAVED.contains(&operand.trim());
        let allowed = match word {
            "call" | "lock" | "xchg" | "syscall" | "rdtsc" | "mfence" | "cmpxchg" => false,
            "push" | "pop" => saved,
            _ => !word.starts_with("rep"),
        };
        assert!(allowed, "{name} contains `{instruction}`:\n{}", code.join("\n"));
    }
}

#[test]
fn access_hooks_contain_no_calls_and_no_locks() {
    let image = RuntimeImage::embedded();
    for object in [image.dynamic_object, image.static_object] {
        let functions = disassemble(object);
        for body in ["record_values", "record_bare"] {
            let found: Vec<_> = functions.iter().filter(|(name, _)| name.contains(body)).collect();
            assert!(found.len() >= 24, "{body}: {}", found.len());
            for (name, code) in found {
                check_straight(name, code);
                assert!(code.len() <= 200, "{name} has {} instructions", code.len());
            }
        }
    }
}

#[test]
fn hooks_are_stubs_that_jump_through_the_table() {
    let functions = disassemble(RuntimeImage::embedded().dynamic_object);
    for size in [1, 2, 4, 8] {
        for access in ["read", "write"] {
            let code = &functions[&format!("__tsan_{access}{size}")];
            let words: Vec<&str> = code
                .iter()
                .filter(|it| !it.starts_with("R_X86_64"))
                .filter_map(|it| it.split_ascii_whitespace().next())
                .collect();
            assert_eq!(words, ["mov", "mov", "mov", "jmp"], "__tsan_{access}{size}");
        }
    }
}

#[test]
fn function_hooks_contain_no_calls_and_no_locks() {
    let functions = disassemble(RuntimeImage::embedded().dynamic_object);
    for (name, code) in &functions {
        let hook = ["4hook5enter17h", "4hook5leave17h"].iter().any(|it| name.contains(it));
        if hook || ["__tsan_func_entry", "__tsan_func_exit"].contains(&&**name) {
            check_straight(name, code);
        }
    }
}
