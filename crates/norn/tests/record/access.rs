//! Plain memory accesses.

use crate::{
    event::{Event, lines},
    kit::{Subject, check, installed, record, subject},
};

#[test]
fn widths() {
    for compiler in installed(["gcc", "clang-14", "clang-19"]) {
        let recorded = subject("widths.c").compiler(compiler).record();
        let all = ["u1", "s1", "u2", "s2", "u4", "s4", "u8", "s8", "f4", "f8", "pointer", "flag"];
        check(
            &recorded.on(&all),
            "write u1 1 165
             read u1 1 165
             write s1 1 254
             read s1 1 254
             write u2 2 42330
             read u2 2 42330
             write s2 2 65236
             read s2 2 65236
             write u4 4 3735928559
             read u4 4 3735928559
             write s4 4 4294897296
             read s4 4 4294897296
             write u8 8 81985529216486895
             read u8 8 81985529216486895
             write s8 8 18446744073709551611
             read s8 8 18446744073709551611
             write f4 4 1069547520
             read f4 4 1069547520
             write f8 8 13821547256400052224
             read f8 8 13821547256400052224
             write pointer 8 4096
             read pointer 8 4096
             write flag 1 1
             read flag 1 1",
        );
    }
}

#[test]
fn no_values_records_no_values() {
    let recorded = subject("widths.c").options(&["--no-values"]).record();
    let on = ["u1", "u8"];
    check(&recorded.on(&on), "write u1 1\n read u1 1\n write u8 8\n read u8 8");
}

#[test]
fn unaligned() {
    for compiler in installed(["gcc", "clang-14"]) {
        let recorded = subject("unaligned.c").compiler(compiler).record();
        check(
            &recorded.on(&["odd"]),
            "write odd.two 2 4660
             read odd.two 2 4660
             write odd.four 4 2309737967
             read odd.four 4 2309737967
             write odd.eight 8 1234605616436508552
             read odd.eight 8 1234605616436508552",
        );
        let events = recorded.events();
        let across: Vec<&Event> = events.iter().filter(|it| it.variable() == "edge").collect();
        let shape: Vec<_> = across.iter().map(|it| (&*it.op, it.size)).collect();
        assert_eq!(shape, [("write", Some(8)), ("read", Some(8))]);
        let right = |it: &&Event| it.value.is_none_or(|it| it.0 == 0x99aa_bbcc_ddee_ff00);
        assert!(across.iter().all(right), "{across:?}");
    }
}

#[test]
fn sixteen_bytes() {
    for compiler in installed(["gcc", "clang-14"]) {
        let recorded = subject("wide.c").compiler(compiler).record();
        let events = recorded.events();
        let of = |name: &'static str| events.iter().filter(move |it| it.variable() == name);
        let number = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff_u128;
        check(&lines(of("number")), &format!("write number 16 {number}\n read number 16 {number}"));
        let vector = 0x0102_0304_0506_0708_1112_1314_1516_1718_u128;
        check(&lines(of("vector")), &format!("write vector 16 {vector}\n read vector 16 {vector}"));
        if compiler.starts_with("clang") {
            // clang has no hook for a long double.
            continue;
        }
        let real: Vec<_> = of("real").map(|it| (&*it.op, it.size)).collect();
        assert_eq!(real, [("write", Some(16)), ("read", Some(16))], "{compiler}");
    }
}

#[test]
fn volatile() {
    for compiler in installed(["gcc", "clang-14"]) {
        let recorded = subject("volatile.c").compiler(compiler).record();
        check(
            &recorded.on(&["one", "two", "four", "eight", "plain"]),
            "write one 1 17 volatile
             read one 1 17 volatile
             write two 2 8738 volatile
             read two 2 8738 volatile
             write four 4 1145324612 volatile
             read four 4 1145324612 volatile
             write eight 8 9838263505978427528 volatile
             read eight 8 9838263505978427528 volatile
             write plain 4 7
             read plain 4 7",
        );
    }
}

#[test]
fn bitfields() {
    for compiler in installed(["gcc", "clang-14"]) {
        let events = subject("bitfield.c").compiler(compiler).record().events();
        let fields = || events.iter().filter(|it| it.variable() == "fields");
        assert!(fields().filter(|it| it.op == "write").count() >= 3, "{compiler}");
        let last = fields().rfind(|it| it.op == "write").unwrap();
        let mask = if last.size == Some(8) {
            u128::from(u64::MAX)
        } else {
            (1 << (8 * last.size.unwrap())) - 1
        };
        let start = u32::from_str_radix(&last.address.as_ref().unwrap()[2..][8..], 16).unwrap() & 3;
        assert_eq!(
            last.value.unwrap().0,
            0xabcd_ef4d >> (8 * start) & mask,
            "{compiler}: {last:?}"
        );
    }
}

/// Number of bytes of a variable that were read and written before the program prints.
fn bytes(events: &[Event], op: &str, variable: &str) -> u64 {
    let copies = events.iter().filter(|it| it.is(op, variable) && it.site_function() == "main");
    copies.filter_map(|it| it.size).sum()
}

fn check_struct_copy(subject: &Subject) {
    let events = subject.record().events();
    for (name, size) in [("small", 8), ("middle", 24), ("large", 200)] {
        let read = bytes(&events, "read", &format!("{name}_from"));
        let written = bytes(&events, "write", &format!("{name}_to"));
        assert_eq!((read, written), (size, size), "{name} of {subject:?}");
    }
}

#[test]
fn struct_copies() {
    for compiler in installed(["gcc", "clang-14"]) {
        for level in ["-O0", "-O2"] {
            check_struct_copy(&subject("struct_copy.c").compiler(compiler).flags(&[level]));
        }
    }
}

/// Ranges of variables, as `op variable+offset size`.
fn ranges(events: &[Event], variables: &[&str]) -> String {
    let mut first = std::collections::BTreeMap::new();
    let address = |it: &Event| u64::from_str_radix(&it.address.as_ref().unwrap()[2..], 16).unwrap();
    let mut text = String::new();
    for event in events.iter().filter(|it| variables.contains(&it.variable())) {
        let start = *first.entry(event.variable()).or_insert_with(|| address(event));
        let offset = address(event) - start;
        let line = format!("{} {}+{offset} {}\n", event.op, event.variable(), event.size.unwrap());
        text += &line;
    }
    text
}

#[test]
fn memory_functions() {
    for compiler in installed(["gcc", "clang-14", "clang-19"]) {
        let events = subject("memory.c").compiler(compiler).record().events();
        check(
            &ranges(&events, &["from", "to"]),
            "write to+0 100
             read from+0 100
             write to+0 100
             read to+0 50
             write to+10 50
             read from+0 11
             read to+0 11
             read to+0 20",
        );
    }
}

#[test]
fn texts() {
    let events = record("strings.c").events();
    check(
        &ranges(&events, &["from", "to", "more", "part"]),
        "read from+0 6
         read from+0 6
         write to+0 6
         read to+0 6
         read more+0 3
         write to+5 3
         read from+0 6
         write part+0 10
         read from+0 6
         read to+0 6
         read from+0 3
         read to+0 3
         read to+0 8
         read part+0 6",
    );
}

#[test]
fn fortified_functions() {
    for link in [&[][..], &["-static"]] {
        let flags = [&["-O2", "-D_FORTIFY_SOURCE=2"], link].concat();
        let recording = subject("fortified.c").flags(&flags).record();
        check(
            &ranges(&recording.events(), &["from", "to"]),
            "write to+0 20
             read from+0 6
             write to+0 6
             read to+0 6
             write to+2 6
             read from+0 6
             write to+0 6
             read from+0 3
             write to+0 3",
        );
        // libc ends the program in the same way in all three runs.
        let ran = subject("fortified.c").flags(&flags).arguments(&["too much"]).record().ran;
        assert!(ran.stderr.contains("buffer overflow detected"), "{ran:?}");
    }
}

#[test]
fn more_texts() {
    for flags in [&[][..], &["-static"]] {
        let events = subject("strings_more.c").flags(flags).record().events();
        let own: Vec<Event> =
            events.iter().filter(|it| it.site_function() == "main").cloned().collect();
        check(
            &ranges(&own, &["from", "to", "more", "part"]),
            "read to+0 6
             read more+0 2
             write to+5 3
             read to+0 8
             read more+0 4
             write to+7 4
             read more+0 4
             write part+0 4
             read from+0 3
             read from+0 4
             read from+0 3
             read from+0 6
             read from+0 6
             read from+0 6
             read from+0 2
             read from+0 6
             read to+0 11
             read part+0 4
             read from+2 4
             read from+2 4
             read from+3 3",
        );
        let blocks: Vec<&Event> = own.iter().filter(|it| it.op == "alloc").collect();
        assert_eq!(blocks.iter().map(|it| it.size).collect::<Vec<_>>(), [6, 3, 6].map(Some));
        for block in blocks {
            let same = |it: &&Event| it.address == block.address && it.op == "write";
            assert_eq!(own.iter().filter(same).map(|it| it.size).collect::<Vec<_>>(), [block.size]);
            // Neither the allocation nor the copy is recorded a second time inside libc.
            let same = |it: &&Event| it.address == block.address && it.op != "read";
            assert_eq!(events.iter().filter(same).count(), 3, "{block:?}");
        }
    }
}

#[test]
fn virtual_tables() {
    for compiler in installed(["gcc", "clang-14"]) {
        let events = subject("vptr.cc").compiler(compiler).record().events();
        let block =
            events.iter().find(|it| it.op == "alloc" && it.site_function() == "main").unwrap();
        let on = |op: &str| {
            let fits =
                |it: &&Event| it.op == op && it.address == block.address && it.size == Some(8);
            events.iter().filter(fits).count()
        };
        // The destructor of the derived class writes the value that is there, which is no event.
        assert_eq!(on("write"), 3, "{compiler}");
        assert!(on("read") >= 2, "{compiler}");
    }
}
