//! Recorded values are the ones that were read and written.

use crate::{
    event::Event,
    kit::{Subject, is_there, subject},
};

/// A location's value at each step must follow from the counter's.
fn check(subject: &Subject) {
    let events = subject.record().events();
    for (name, of) in [
        ("counter", (|n| n) as fn(u128) -> u128),
        ("twice", |n| 2 * n),
        ("half", |n| n & 0xffff),
        ("part", |n| n & 0xff),
    ] {
        let writes: Vec<&Event> = events.iter().filter(|it| it.is("write", name)).collect();
        assert_eq!(writes.len(), 100_000, "{name} of {subject:?}");
        let wrong = writes.iter().zip(1..).find(|(it, n)| it.value.map(|it| it.0) != Some(of(*n)));
        assert!(wrong.is_none(), "{name} of {subject:?}: {wrong:?}");
    }
    let reads =
        events.iter().filter(|it| it.is("read", "counter") && it.site_function() == "count");
    let mut last = 0;
    for read in reads {
        let value = read.value.unwrap().0;
        assert!(value == last || value == last + 1, "{read:?} after {last}");
        last = value;
    }
    assert!(last >= 99_999);
}

#[test]
fn gcc() {
    for level in ["-O0", "-O1", "-O2"] {
        check(&subject("values.c").flags(&[level]));
    }
}

#[test]
fn clang() {
    for level in ["-O0", "-O2"] {
        if is_there("clang-14") {
            check(&subject("values.c").compiler("clang-14").flags(&[level]));
        }
    }
}
