//! Litmus tests: all runs of a tiny program on a machine that is sequentially consistent, and what
//! happens before what in each.

use std::collections::BTreeSet;

use norn_model::{EventId, Op, Trace, text};

use crate::program::Visible;

/// All runs of a program. A line is a thread and an operation without the value that it reads:
/// `T1 load f acquire @ name`. The lines of a thread are in its order.
pub fn runs(program: &str) -> Vec<Trace> {
    let mut threads: Vec<(&str, Vec<&str>)> = Vec::new();
    for (thread, line) in program.lines().filter_map(|it| it.trim().split_once(' ')) {
        match threads.iter_mut().find(|it| it.0 == thread) {
            Some((_, lines)) => lines.push(line),
            None => threads.push((thread, vec![line])),
        }
    }
    let mut runs = Vec::new();
    let mut open =
        vec![(vec![0; threads.len()], Visible::default(), String::from("order global\n"))];
    while let Some((done, memory, run)) = open.pop() {
        let mut ended = true;
        for (at, (thread, lines)) in threads.iter().enumerate() {
            let Some(line) = lines.get(done[at]) else { continue };
            ended = false;
            let (operation, name) = line.split_once(" @ ").unwrap_or((line, ""));
            let performed = format!("{thread} {}", memory.with_value(operation));
            let mut memory = memory.clone();
            memory.follow(&performed);
            let mut done = done.clone();
            done[at] += 1;
            let name = if name.is_empty() { String::new() } else { format!(" @ {name}") };
            open.push((done, memory, format!("{run}{performed}{name}\n")));
        }
        if ended {
            runs.extend(text::parse(&run));
        }
    }
    runs
}

/// The different outcomes of all runs of a program, one a line, sorted: the values that the named
/// reads see, and the pairs of named events of different threads of which one happens before the other.
pub fn outcomes(program: &str, is_before: impl Fn(&Trace, EventId, EventId) -> bool) -> String {
    let all: BTreeSet<_> = runs(program).iter().map(|run| outcome(run, &is_before)).collect();
    all.into_iter().collect::<Vec<_>>().join("\n")
}

fn outcome(run: &Trace, is_before: impl Fn(&Trace, EventId, EventId) -> bool) -> String {
    let named = run.threads.iter().flat_map(|it| &it.events);
    let mut named: Vec<_> =
        named.filter_map(|it| Some((run.site(it.site)?.place.clone()?, it.id, it.op))).collect();
    named.sort_by(|one, other| one.0.cmp(&other.0));
    let value = |op: &Op| op.access().and_then(|it| it.read).flatten();
    let values = named.iter().filter_map(|it| Some(format!("{}={}", it.0, value(&it.2)?)));
    let pairs = named.iter().flat_map(|one| named.iter().map(move |other| (one, other)));
    let ordered = pairs
        .filter(|(one, other)| one.1.thread != other.1.thread && is_before(run, one.1, other.1));
    let ordered = ordered.map(|(one, other)| format!("{}<{}", one.0, other.0));
    let words: Vec<_> = values.chain(ordered).collect();
    words.join(" ")
}
