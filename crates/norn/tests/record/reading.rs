//! Text output formats values by their types; JSON has the bits.

use crate::kit::{installed, subject};

#[test]
fn values_are_formatted_by_their_types() {
    for compiler in installed(["gcc", "clang-14"]) {
        let recorded = subject("reading.c").compiler(compiler).record();
        let text = recorded.norn(&["dump", "--thread", "T0"]).stdout;
        let said = |what: &str| text.lines().any(|it| it.contains(&format!(" {what} ")));
        for what in [
            "number = -1",
            "count = 4000000000",
            "letter = 'n'",
            "tiny = -2",
            "half = 1.5",
            "quarter = 2.25",
            "flag = true",
            "door = CLOSED",
            "door = 7",
        ] {
            assert!(said(what), "{compiler}: no `{what}` in\n{text}");
        }
        assert!(text.contains("pointer = 0x"), "{text}");
        assert_eq!(recorded.written("number"), [0xffff_ffff]);
        assert_eq!(recorded.written("door"), [1, 7]);
    }
}
