//! The code that runs at every memory access: straight, short, and without calls.

use std::{collections::BTreeMap, fs, process::Command};

use norn_cc::RuntimeImage;

use crate::kit::run;

/// Functions of the runtime, by name: their instructions and operands.
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
            symbol.1.clone_into(&mut name);
        } else if let Some((_, code)) = line.split_once(":\t") {
            functions.entry(name.clone()).or_default().push(code.trim().to_owned());
        }
    }
    functions
}

/// Callee-saved registers: the only ones that may be pushed.
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

/// Whether a hook is for 16 bytes, which are rare and take a slower path. It jumps there without computing
/// the site's offset in the table, or is that path itself: the kind of access is in the upper bits of the
/// site's key, and its lowest bits are the size.
fn is_wide(code: &[String]) -> bool {
    if !code.iter().any(|it| it.starts_with("shl") && it.ends_with(",0x5")) {
        return true;
    }
    let constants = code.iter().filter(|it| it.starts_with("movabs"));
    let keys = constants.filter_map(|it| it.split_once(",0x")?.1.strip_suffix("000000000000"));
    keys.filter_map(|it| u64::from_str_radix(it, 16).ok()).any(|kind| kind & 7 == 4)
}

#[test]
fn access_hooks_contain_no_calls_and_no_locks() {
    let image = RuntimeImage::embedded();
    for object in [image.dynamic_object, image.static_object] {
        let functions = disassemble(object);
        let mut all_wide = 0;
        for body in ["record_values", "record_bare"] {
            // In a mangled name, `17h` and a hash follow the function's own name.
            let is_hook = |name: &str| name.contains(&format!("{body}17h"));
            let all = functions.iter().filter(|(name, _)| name.contains(body));
            let (hooks, parts): (Vec<_>, Vec<_>) = all.partition(|(name, _)| is_hook(name));
            let (wide, hooks): (Vec<_>, Vec<_>) =
                hooks.into_iter().partition(|(_, code)| is_wide(code));
            // Three classes of accesses, reads and writes, of one width and of four.
            assert_eq!(hooks.len(), 24, "{body}");
            all_wide += wide.len();
            assert!(!parts.is_empty(), "{body}");
            for (name, code) in hooks.into_iter().chain(parts) {
                check_straight(name, code);
                assert!(code.len() <= 200, "{name} has {} instructions", code.len());
            }
        }
        // Those of one width may be the same in both modes, and then exist once.
        assert!((6..=12).contains(&all_wide), "{all_wide}");
    }
}

/// What a hook does at a frequent site while patterns are collected: all but the last branches, which lead
/// to a burst and to observing, are straight.
#[test]
fn collecting_hooks_contain_no_calls_and_no_locks() {
    let image = RuntimeImage::embedded();
    for object in [image.dynamic_object, image.static_object] {
        let functions = disassemble(object);
        let hooks: Vec<_> =
            functions.iter().filter(|it| it.0.contains("collect_some17h")).collect();
        // Three classes of accesses that do the same may be one function.
        assert!(hooks.len() >= 10, "{}", hooks.len());
        for (name, code) in hooks {
            check_straight(name, code);
            assert!(code.len() <= 120, "{name} has {} instructions", code.len());
        }
    }
}

#[test]
fn hooks_are_stubs_that_jump_through_the_table() {
    let functions = disassemble(RuntimeImage::embedded().dynamic_object);
    for size in [1, 2, 4, 8] {
        for access in ["read", "write"] {
            let code = &functions[&format!("__tsan_{access}{size}")];
            // What follows the last jump fills the rest of the cache line.
            let end = code.iter().rposition(|it| it.starts_with("jmp")).unwrap();
            let words: Vec<&str> = code[..=end]
                .iter()
                .filter(|it| !it.starts_with("R_X86_64"))
                .filter_map(|it| it.split_ascii_whitespace().next())
                .collect();
            // The direct jump of the usual mode, and the jump through the table.
            let expected = ["mov", "mov", "lea", "cmp", "je", "mov", "jmp"];
            assert_eq!(words, expected, "__tsan_{access}{size}");
        }
    }
}

/// A compare-exchange in a loop would fail and repeat while other threads change the object.
#[test]
fn an_atomic_addition_is_one_instruction() {
    let functions = disassemble(RuntimeImage::embedded().dynamic_object);
    let additions: Vec<_> =
        functions.iter().filter(|it| it.0.contains("norn_rt6atomic3add17h")).collect();
    let has = |code: &[String], word: &str| code.iter().any(|it| it.contains(word));
    let direct = additions.iter().filter(|it| has(it.1, "lock xadd")).count();
    // Of 1, 2, 4 and 8 bytes; there is no such instruction for 16.
    assert_eq!(direct, 4, "{:?}", additions.iter().map(|it| it.0).collect::<Vec<_>>());
}
