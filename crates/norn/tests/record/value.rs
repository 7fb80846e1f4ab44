//! Recorded values are the values that the program read and wrote.

use crate::{
    event::Event,
    kit::{Subject, is_installed, subject},
};

/// A location's value at each step must follow from the counter's.
fn check(subject: Subject, times: usize) {
    let subject = subject.arguments(&[(times / 2).to_string()]);
    let events = subject.record().events();
    let steps = (1..).zip(1..=times);
    for (name, every, of) in [
        ("counter", 1, (|n| n) as fn(u128) -> u128),
        ("twice", 16, |n| 2 * n),
        ("half", 16, |n| n & 0xffff),
        ("part", 16, |n| n & 0xff),
    ] {
        let writes: Vec<&Event> = events.iter().filter(|it| it.is("write", name)).collect();
        let expected = steps.clone().filter(|(_, n)| n % every == 0).map(|(n, _)| of(n));
        assert_eq!(writes.len(), times / every, "{name} of {subject:?}");
        let wrong = writes.iter().zip(expected).find(|(it, n)| it.value.map(|it| it.0) != Some(*n));
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
    assert!(last >= times as u128 - 1);
}

#[test]
fn values_are_exact_with_gcc() {
    for (level, times) in [("-O0", 20_000), ("-O1", 20_000), ("-O2", 100_000)] {
        check(subject("values.c").flags(&[level]), times);
    }
}

#[test]
fn values_are_exact_with_clang() {
    for level in ["-O0", "-O2"] {
        if is_installed("clang-14") {
            check(subject("values.c").compiler("clang-14").flags(&[level]), 20_000);
        }
    }
}
