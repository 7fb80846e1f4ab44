//! Atomic operations and fences.

use crate::kit::{check, installed, is_installed, record, subject};

/// The expected events on a variable of `bits` bits.
fn operations(name: &str, bits: u32) -> String {
    let nand = u64::MAX >> (64 - bits) & !1;
    format!(
        "atomic-store {name} 100 release
         atomic-load {name} 100 acquire
         atomic-rmw {name} exchange 100 -> 5 acqrel
         atomic-rmw {name} add 5 -> 8 relaxed
         atomic-rmw {name} sub 8 -> 6 seqcst
         atomic-rmw {name} and 6 -> 2 acquire
         atomic-rmw {name} or 2 -> 10 release
         atomic-rmw {name} xor 10 -> 9 relaxed
         atomic-rmw {name} nand 9 -> {nand} relaxed
         atomic-cas {name} {nand} -> 7 acqrel
         atomic-cas-failed {name} 7 expected 1 acquire
         atomic-load {name} 7 relaxed
         atomic-load {name} 7 seqcst\n"
    )
}

#[test]
fn all_operations_of_all_widths() {
    for compiler in installed(["gcc", "clang-14", "clang-19"]) {
        for level in ["-O0", "-O2"] {
            let recorded = subject("atomics.c").compiler(compiler).flags(&[level]).record();
            let expected = [("a1", 8), ("a2", 16), ("a4", 32), ("a8", 64)]
                .map(|(name, bits)| operations(name, bits));
            check(&recorded.on(&["a1", "a2", "a4", "a8"]), &expected.concat());
        }
    }
}

/// Natively the compiler needs libatomic for some of them; with hooks it does not.
#[test]
fn sixteen_bytes() {
    for (compiler, flags) in [("gcc", &[][..]), ("clang-14", &["-mcx16"][..])] {
        if !is_installed(compiler) {
            continue;
        }
        let subject = subject("atomics_wide.c").compiler(compiler).flags(flags).not_compared();
        let recorded = subject.record();
        check(&recorded.ran.stdout, "3:100\n3:100\n5:5\n6:8\n4:6\n4:2\n12:10\n1\n0\n7:7");
        let wide = |high: u128, low: u128| high << 64 | low;
        let step = |op, from, to| format!("atomic-rmw variable {op} {from} -> {to}");
        let expected = [
            format!("atomic-store variable {} release", wide(3, 100)),
            format!("atomic-load variable {} acquire", wide(3, 100)),
            step("exchange", wide(3, 100), wide(5, 5)) + " acqrel",
            step("add", wide(5, 5), wide(6, 8)) + " relaxed",
            step("sub", wide(6, 8), wide(4, 6)) + " seqcst",
            step("and", wide(4, 6), wide(4, 2)) + " acquire",
            step("or", wide(4, 2), wide(12, 10)) + " release",
            step("xor", wide(12, 10), wide(13, 9)) + " relaxed",
            format!("atomic-cas variable {} -> {} acqrel", wide(13, 9), wide(7, 7)),
            format!("atomic-cas-failed variable {} expected 1 acquire", wide(7, 7)),
        ];
        check(&recorded.on(&["variable"]), &expected.join("\n"));
    }
}

#[test]
fn older_builtins() {
    check(
        &record("sync_builtins.c").sync("T0"),
        "begin
         atomic-rmw word add 0 -> 2 seqcst
         atomic-rmw word sub 2 -> 1 seqcst
         atomic-cas word 1 -> 5 seqcst
         atomic-cas-failed word 5 expected 4 seqcst
         atomic-rmw word exchange 5 -> 9 acquire
         atomic-store word 0 release
         fence seqcst",
    );
}

#[test]
fn fences() {
    check(
        &record("fences.c").sync("T0"),
        "begin\n fence acquire\n fence release\n fence acqrel\n fence seqcst",
    );
}

#[test]
fn annotations() {
    check(
        &record("annotations.c").sync("T0"),
        "begin
         happens-before token
         happens-after token
         acquire lock mutex
         release lock mutex
         acquire-failed lock mutex tried error 16",
    );
}
