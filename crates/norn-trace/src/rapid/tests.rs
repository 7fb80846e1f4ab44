//! To RAPID and back.

use std::fmt::Write as _;

use insta::assert_snapshot;
use norn_model::text;
use proptest::{prelude::*, sample::select};

use super::{Exported, export_std, import_std};

fn export(trace: &norn_model::Trace) -> (String, Exported) {
    let mut out = Vec::new();
    let exported = export_std(trace, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), exported)
}

fn exported(text: &str) -> String {
    export(&text::parse(text).unwrap()).0
}

#[test]
fn reads_writes_locks_and_threads() {
    let text = "\
T0 fork T0.1 @ 1
T0.1 begin @ 2
T0.1 acq m @ 3
T0.1 w x 5 @ 4
T0.1 rel m @ 5
T0.1 end @ 6
T0 join T0.1 @ 7
T0 r x 5 @ 8
";
    assert_snapshot!(exported(text), @r"
    T0|fork(T0.1)|1
    T0.1|acq(m)|3
    T0.1|w(x)|4
    T0.1|rel(m)|5
    T0|join(T0.1)|7
    T0|r(x)|8
    ");
}

#[test]
fn locations_are_numbers_of_sites_if_they_are_no_numbers() {
    assert_snapshot!(exported("T0 w x @ file.c:12\nT0 w 0x7f00\nT0 w x @ file.c:12"), @r"
    T0|w(x)|0
    T0|w(V7f00)|1
    T0|w(x)|0
    ");
}

#[test]
fn overlapping_accesses_share_variables() {
    assert_snapshot!(exported("T0 w x:16\nT0 r x+4:4\nT0 r x+6:8\nT0 r y"), @r"
    T0|w(x)|0
    T0|w(x+4)|0
    T0|w(x+6)|0
    T0|w(x+8)|0
    T0|w(x+14)|0
    T0|r(x+4)|1
    T0|r(x+6)|1
    T0|r(x+6)|2
    T0|r(x+8)|2
    T0|r(y)|3
    ");
}

#[test]
fn a_lock_that_is_taken_again_is_taken_once() {
    assert_snapshot!(exported("T0 acq m\nT0 acq m\nT0 rel m\nT0 r x\nT0 rel m"), @r"
    T0|acq(m)|0
    T0|r(x)|3
    T0|rel(m)|4
    ");
}

#[test]
fn a_wait_gives_its_mutex_back() {
    assert_snapshot!(exported("T0 acq m\nT0 waitrel m\nT0 wait c m\nT0 wake c m\nT0 rel m"), @r"
    T0|acq(m)|0
    T0|rel(m)|1
    T0|acq(m)|3
    T0|rel(m)|4
    ");
}

#[test]
fn an_atomic_operation_has_a_lock_of_its_own() {
    assert_snapshot!(exported("T0 add a 0 1 relaxed\nT0 load a 1"), @r"
    T0|acq(Aa)|0
    T0|r(a)|0
    T0|w(a)|0
    T0|rel(Aa)|0
    T0|acq(Aa)|1
    T0|r(a)|1
    T0|rel(Aa)|1
    ");
}

#[test]
fn what_is_left_out_is_counted() {
    let text = "T0 acq l read\nT0 acq l write\nT0 rel l write\nT0 arrive b\nT0 pass b\nT0 rel m";
    let (lines, exported) = export(&text::parse(text).unwrap());
    assert_snapshot!(lines, @r"
    T0|acq(l)|1
    T0|rel(l)|2
    ");
    let left_out: Vec<_> = exported.left_out.into_iter().collect();
    assert_eq!(
        left_out,
        [("barriers", 2), ("read locks", 1), ("releases of locks that were not held", 1)]
    );
    assert_eq!(exported.lines, 2);
}

#[test]
fn the_sample_of_its_manual_is_read() {
    let text = "\
T0|r(V123)|345
T1|w(V234.23[0])|456
T0|fork(T2)|123
T2|acq(L34)|120
T2|rel(L34)|130
T0|join(T2)|134
";
    let imported = import_std(text).unwrap();
    assert_snapshot!(text::print(&imported.trace), @r"
    order global
    T0 r V123 @ 345
    T1 w V234.23[0] @ 456
    T0 fork T2 @ 123
    T2 acq L34 @ 120
    T2 rel L34 @ 130
    T0 join T2 @ 134
    ");
    assert_eq!(export(&imported.trace).0, text);
}

#[test]
fn transactions_are_ignored() {
    let imported = import_std("T0|begin|1\nT0|r(x)|2\n\nT0|end(0)|3\nT0|req(m)|4\n").unwrap();
    assert_eq!(imported.trace.len(), 1);
    assert_eq!(imported.ignored.values().sum::<u64>(), 3);
}

#[test]
fn errors_say_where_and_what() {
    let error = |text: &str| import_std(text).unwrap_err().to_string();
    assert_snapshot!(error("T0|r(x)|1\nT0|r(x)"), @r"
    line 2, column 9: expected three fields with `|` between them, found nothing
    hint: a line is `thread|operation(operand)|location`, as `T0|w(x)|12`
    ");
    assert_snapshot!(error("T0|lock(x)|1"), @r"
    line 1, column 4: expected one of `r`, `w`, `acq`, `rel`, `fork`, `join`, found `lock(x)`
    hint: a line is `thread|operation(operand)|location`, as `T0|w(x)|12`
    ");
    assert_snapshot!(error("T0|r(x|1"), @r"
    line 1, column 4: expected an operation with its operand, as `acq(m)`, found `r(x`
    hint: a line is `thread|operation(operand)|location`, as `T0|w(x)|12`
    ");
    assert_snapshot!(error("T0|r(x)|"), @r"
    line 1, column 9: expected a location, found nothing
    hint: a line is `thread|operation(operand)|location`, as `T0|w(x)|12`
    ");
    assert_snapshot!(error("|r(x)|1"), @r"
    line 1, column 1: expected a thread, found nothing
    hint: a line is `thread|operation(operand)|location`, as `T0|w(x)|12`
    ");
}

/// Lines as RAPID has them: no lock is taken twice or given back by who does not hold it.
fn lines() -> impl Strategy<Value = String> {
    let thread = || select(vec!["T0", "T1", "Thread-7"]);
    let op = prop_oneof![
        (select(vec!["r", "w"]), select(vec!["V1", "V234.23[0]", "x"])),
        (select(vec!["acq", "rel"]), select(vec!["L1", "x"])),
        (select(vec!["fork", "join"]), thread()),
    ];
    prop::collection::vec((thread(), op, 0..5), 0..40).prop_map(|lines| {
        let mut held = std::collections::BTreeSet::new();
        let fits = |&(thread, (op, operand), _): &(_, (_, _), _)| match op {
            "acq" => held.insert((thread, operand)),
            "rel" => held.remove(&(thread, operand)),
            _ => true,
        };
        let lines: Vec<_> = lines.into_iter().filter(fits).collect();
        let lines = lines
            .iter()
            .map(|(thread, (op, operand), at)| format!("{thread}|{op}({operand})|{at}\n"));
        lines.collect()
    })
}

proptest! {
    #[test]
    fn what_is_imported_is_exported(text in lines()) {
        let imported = import_std(&text).map_err(|it| TestCaseError::fail(it.to_string()))?;
        prop_assert_eq!(export(&imported.trace).0, text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[TV01rw(|)\n ]{0,60}") {
        let _ = import_std(&text);
    }
}

/// The exported lines of a trace whose locations are the numbers of its events.
fn locations(text: &str) -> Vec<usize> {
    exported(text).lines().map(|it| it.rsplit('|').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn a_read_comes_after_the_write_that_it_saw() {
    let text = "T0 fork T0.1 @ 0\nT0.1 begin @ 1\nT0.1 w x 5 @ 2\nT0 r x 5 @ 3\nT0.1 w x 6 @ 4";
    assert_eq!(locations(text), [0, 2, 3, 4]);
    let text = "T0 fork T0.1 @ 0\nT0.1 begin @ 1\nT0 r x 5 @ 2\nT0.1 w x 6 @ 3\nT0 r x 6 @ 4";
    assert_eq!(locations(text), [0, 2, 3, 4]);
}

#[test]
fn memory_that_is_allocated_again_is_another_variable() {
    let text =
        "T0 alloc 0x100 16\nT0 w 0x100\nT0 free 0x100\nT0 alloc 0x100 8\nT0 w 0x100\nT0 w 0x108";
    assert_snapshot!(exported(text), @r"
    T0|w(V100)|1
    T0|w(V100.1)|4
    T0|w(V108)|5
    ");
}

/// Replays exported lines on memory, and counts the reads that see another value than in the run.
/// Memory that was not written yet has the value of its first read.
fn differences(order: &[usize], run: &[(usize, bool, u64)]) -> u64 {
    let mut memory = [None; 3];
    let mut count = 0;
    for &at in order {
        let (variable, write, value) = run[at];
        let differs = !write && memory[variable].is_some_and(|it| it != value);
        count += u64::from(differs);
        memory[variable] = Some(value);
    }
    count
}

proptest! {
    /// The exported order is one in which each read sees its value, or the export says how many do not.
    #[test]
    fn exported_orders_are_possible(
        steps in prop::collection::vec((0..3_usize, 0..3_usize, any::<bool>()), 1..40)
    ) {
        let (mut memory, mut run) = ([0; 3], Vec::new());
        let mut text = String::new();
        for (at, &(thread, variable, write)) in steps.iter().enumerate() {
            if write {
                memory[variable] = at as u64 + 1;
            }
            let (value, op) = (memory[variable], if write { "w" } else { "r" });
            run.push((variable, write, value));
            let _ = writeln!(text, "T{thread} {op} v{variable} {value} @ {at}");
        }
        let trace = text::parse(&text).unwrap();
        let (lines, exported) = export(&trace);
        let location = |it: &str| it.rsplit('|').next().unwrap().parse::<usize>().unwrap();
        let order: Vec<_> = lines.lines().map(location).collect();
        prop_assert_eq!(order.len(), steps.len());
        prop_assert_eq!(differences(&order, &run), exported.unexplained, "{}", text);
        for thread in 0..3 {
            let mine = order.iter().filter(|it| steps[**it].0 == thread);
            prop_assert!(mine.is_sorted());
        }
    }
}
