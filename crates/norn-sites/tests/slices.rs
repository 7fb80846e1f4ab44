//! Failure sites and their reads in code of three compilers at three levels of optimisation.
#![allow(clippy::unwrap_used, reason = "a step that fails must fail the test")]

mod compiled;

use compiled::{c, cxx, rust};
use norn_model::PotentialFailureKind::{Access, Assertion, ErrorMessage, Loop, Output};

#[test]
fn an_assertion_depends_on_what_it_compares() {
    for compiled in c() {
        let reads = compiled.reads(Assertion, "assertion");
        compiled.has(&reads, &["first", "second", "assertion"]);
        compiled.lacks(&reads, &["unrelated"]);
        assert!(reads.iter().all(|it| it.1 <= 3), "{compiled}: {reads:?}");
    }
}

#[test]
fn slices_enter_callees_and_callers() {
    for compiled in c() {
        compiled.has(&compiled.reads(Assertion, "abort after call"), &["returned"]);
        compiled.has(&compiled.reads(Assertion, "abort on argument"), &["passed"]);
        compiled.has(&compiled.reads(ErrorMessage, "message"), &["negative"]);
        compiled.has(&compiled.reads(ErrorMessage, "exit"), &["negative"]);
    }
}

#[test]
fn an_argument_that_a_recursive_function_passes_on_is_followed_to_its_origin() {
    for compiled in c() {
        let reads = compiled.reads(Assertion, "abort in recursion");
        compiled.has(&reads, &["passed to recursion"]);
    }
}

#[test]
fn output_depends_on_its_arguments() {
    for compiled in c() {
        let reads = compiled.reads(Output, "printed");
        compiled.has(&reads, &["printed"]);
        assert_eq!(reads[0].1, 1, "{compiled}");
    }
}

#[test]
fn loops_that_only_a_shared_read_ends() {
    for compiled in c() {
        compiled.has(&compiled.reads(Loop, "flag"), &["flag"]);
        compiled.has(&compiled.reads_in(Loop, "wait_for_mode"), &["mode"]);
        compiled.has(&compiled.reads_in(Loop, "jump_into_loop"), &["irreducible"]);
        assert_eq!(compiled.reads_in(Loop, "count_to_ten"), [], "{compiled}");
    }
}

#[test]
fn tables_of_switches_are_followed() {
    for compiled in c() {
        compiled.has(&compiled.reads(Assertion, "abort in case"), &["choice"]);
        compiled.has(&compiled.reads(Output, "six"), &["choice"]);
    }
}

#[test]
fn accesses_depend_on_pointers_indices_and_divisors() {
    for compiled in c() {
        let reads = compiled.reads_in(Access, "follow");
        compiled.has(&reads, &["next", "index"]);
        compiled.has(&compiled.reads(Access, "division"), &["divisor"]);
        compiled.has(&compiled.reads_in(Access, "release"), &["old"]);
    }
}

#[test]
fn values_are_followed_through_the_stack() {
    for compiled in c() {
        compiled.has(&compiled.reads(Assertion, "abort on local"), &["compared"]);
    }
}

#[test]
fn chains_lead_from_the_failure_to_the_read() {
    for compiled in c() {
        for site in &compiled.sites {
            for read in &site.reads {
                assert_eq!(read.chain.first(), Some(&site.pc), "{compiled}");
                assert!(read.distance >= 1 && read.distance <= 4, "{compiled}");
                assert!(read.chain.len() <= 64, "{compiled}");
            }
        }
    }
}

#[test]
fn main_reports_errors_by_its_status() {
    // Optimised code computes the status instead of choosing one.
    for compiled in c().iter().filter(|it| it.is_unoptimised()) {
        compiled.has(&compiled.reads_in(ErrorMessage, "main"), &["status"]);
    }
}

#[test]
fn conditions_say_which_values_fail() {
    for compiled in c() {
        let fails = |kind, line: &str, seen: &[(&str, u64)]| compiled.fails(kind, line, seen);
        let sum = |total| [("first", 2), ("second", 3), ("assertion", total)];
        assert_eq!(fails(Assertion, "assertion", &sum(5)), [Some(false)], "{compiled}");
        assert_eq!(fails(Assertion, "assertion", &sum(6)), [Some(true)], "{compiled}");
        assert_eq!(fails(Assertion, "assertion", &[("first", 2)]), [None], "{compiled}");
        assert_eq!(
            fails(Assertion, "abort after call", &[("returned", 3)]),
            [Some(false)],
            "{compiled}"
        );
        assert_eq!(
            fails(Assertion, "abort after call", &[("returned", 4)]),
            [Some(true)],
            "{compiled}"
        );
        assert_eq!(fails(ErrorMessage, "message", &[("negative", 1)]), [Some(false)], "{compiled}");
        let negative = [("negative", u64::from(u32::MAX))];
        assert_eq!(fails(ErrorMessage, "message", &negative), [Some(true)], "{compiled}");
    }
}

/// Each round ends with the branch that decides about the next one.
#[test]
fn a_condition_is_about_one_round_of_a_loop() {
    for compiled in c() {
        let line = "assertion in each round";
        let fails = |now| compiled.fails(Assertion, line, &[("in each round", now)]);
        assert!(!fails(4).contains(&Some(false)), "{compiled}");
        assert!(!fails(3).contains(&Some(true)), "{compiled}");
    }
}

#[test]
fn conditions_of_loops_and_accesses() {
    for compiled in c() {
        let fails = |kind, line: &str, seen: &[(&str, u64)]| compiled.fails(kind, line, seen);
        assert_eq!(fails(Loop, "flag", &[("flag", 0)]), [Some(true)], "{compiled}");
        assert_eq!(fails(Loop, "flag", &[("flag", 1)]), [Some(false)], "{compiled}");
        assert_eq!(fails(Access, "division", &[("divisor", 0)]), [Some(true)], "{compiled}");
        assert_eq!(fails(Access, "division", &[("divisor", 8)]), [Some(false)], "{compiled}");
    }
}

#[test]
fn exceptions_and_streams_of_cxx() {
    for compiled in cxx() {
        compiled.has(&compiled.reads(Assertion, "throw"), &["thrown"]);
        compiled.has(&compiled.reads(Assertion, "terminate"), &["terminated"]);
        compiled.has(&compiled.reads_in(ErrorMessage, "complain"), &["complaint"]);
        assert_eq!(compiled.reads_in(Output, "complain"), [], "{compiled}");
        compiled.has(&compiled.reads_in(Output, "show"), &["shown"]);
        compiled.has(&compiled.reads_in(Access, "erase"), &["erased"]);
    }
}

#[test]
fn panics_depend_on_what_they_check() {
    for compiled in rust() {
        // Without optimisation, some panics have no line, and `unwrap` is a function of its own.
        let reads = compiled.all_reads(Assertion);
        compiled.has(&reads, &["first", "second", "now", "index", "left", "divisor"]);
        compiled.has(&reads, &["found", "expected"]);
        if !compiled.is_unoptimised() {
            compiled.has(&reads, &["answer"]);
        }
        compiled.lacks(&compiled.reads_in(Assertion, "sites::compare"), &["unrelated"]);
    }
}

#[test]
fn conditions_of_panics() {
    for compiled in rust().iter().filter(|it| !it.is_unoptimised()) {
        let fails = |line: &str, seen: &[(&str, u64)]| compiled.fails(Assertion, line, seen);
        assert_eq!(fails("assertion", &[("first", 2), ("second", 2)]), [Some(false)], "{compiled}");
        assert_eq!(fails("assertion", &[("first", 2), ("second", 3)]), [Some(true)], "{compiled}");
        assert_eq!(fails("panic", &[("now", 7)]), [Some(true)], "{compiled}");
        assert_eq!(fails("panic", &[("now", 6)]), [Some(false)], "{compiled}");
        assert_eq!(fails("bounds", &[("index", 3)]), [Some(false)], "{compiled}");
        assert_eq!(fails("bounds", &[("index", 4)]), [Some(true)], "{compiled}");
    }
}
