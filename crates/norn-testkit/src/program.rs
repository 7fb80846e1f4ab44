//! Random tiny traces: random programs, run by the [machine](Machine) in a random order.

use std::collections::BTreeMap;

use norn_model::{Trace, text};
use proptest::{prelude::*, sample::select};

/// The shape of random programs.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Shape {
    /// Number of threads besides the main thread.
    pub threads: usize,
    /// Number of pieces per thread.
    pub pieces: usize,
    /// Whether locks are released in the reverse order of acquisition.
    pub nested: bool,
    /// Whether threads wait for conditions, semaphores and barriers.
    pub waits: bool,
    /// Whether threads send and receive through a channel.
    pub channels: bool,
    /// Whether signal handlers interrupt the first of these threads.
    pub handlers: bool,
    /// The weight of nested locks, and of waits under locks if there are waits; all other pieces
    /// together weigh about 8.
    pub nests: u32,
    /// Whether there is memory that threads free.
    pub frees: bool,
    /// Whether there are a descriptor and a lock that threads close and destroy.
    pub objects: bool,
    /// Whether there are atomic operations, accesses of several sizes, unknown values, failed lock
    /// requests, barriers and once-only initialisations.
    pub rich: bool,
    /// Whether there are atomic operations with all memory orders, and fences.
    pub weak: bool,
    /// Maximum number of events.
    pub events: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            threads: 2,
            pieces: 3,
            nested: true,
            waits: false,
            channels: false,
            handlers: false,
            nests: 0,
            frees: false,
            objects: false,
            rich: false,
            weak: false,
            events: 14,
        }
    }
}

/// A piece of a program: lines without the thread.
type Piece = Vec<String>;

fn variable() -> impl Strategy<Value = &'static str> {
    select(vec!["x", "y"])
}

fn access() -> impl Strategy<Value = Piece> {
    (variable(), any::<bool>(), 1..3u8).prop_map(|(variable, write, value)| {
        vec![if write { format!("w {variable} {value}") } else { format!("r {variable}") }]
    })
}

fn locked(body: impl Strategy<Value = Piece> + 'static) -> BoxedStrategy<Piece> {
    let mode = select(vec!["a", "b", "rw read", "rw read queued", "rw write"]);
    (mode, body)
        .prop_map(|(lock, body)| {
            // A mutex may be recursive; a thread that acquires a read-write lock twice blocks
            // itself, unless it only reads.
            let again = |it: &String| it.starts_with("acq rw") && lock.starts_with("rw");
            let reads = |it: &str| it.contains("read");
            if body.iter().any(|it| again(it) && !(reads(it) && reads(lock))) {
                return body;
            }
            let take = std::iter::once(format!("acq {lock}"));
            let mode = lock.trim_end_matches(" queued");
            take.chain(body).chain([format!("rel {mode}")]).collect()
        })
        .boxed()
}

/// Two locks, the first one released first.
fn crossed() -> impl Strategy<Value = Piece> {
    (access(), access()).prop_map(|(one, other)| {
        let lines = |it: &str| std::iter::once(it.to_owned()).collect::<Piece>();
        [lines("acq a"), one, lines("acq b"), lines("rel a"), other, lines("rel b")].concat()
    })
}

fn waiting() -> impl Strategy<Value = Piece> {
    let lines = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Piece>();
    select(vec![
        lines(&["acq a", "waitrel a", "wait c a", "wake c a any 1", "rel a"]),
        lines(&["signal c"]),
        lines(&["broadcast c"]),
        lines(&["post s"]),
        lines(&["down s"]),
        lines(&["before o"]),
        lines(&["after o"]),
    ])
}

/// Sends to the channel and receives from it. The positions are added when the line is run: what was not
/// sent before it is received comes from outside.
fn channel() -> impl Strategy<Value = Piece> {
    let lines = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Piece>();
    select(vec![
        lines(&["send p"]),
        lines(&["send p two"]),
        lines(&["receive p"]),
        lines(&["receive p"]),
        lines(&["ready p"]),
    ])
}

/// One run of a signal handler.
fn handler() -> impl Strategy<Value = Piece> {
    prop::collection::vec(access(), 1..3).prop_map(|body| {
        let begin = std::iter::once("handler 10".to_owned());
        begin.chain(body.concat()).chain(["return".to_owned()]).collect()
    })
}

/// Uses or frees memory that the main thread has allocated.
fn heap() -> impl Strategy<Value = Piece> {
    let lines = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Piece>();
    select(vec![lines(&["r p"]), lines(&["w p+4 1"]), lines(&["signal p"]), lines(&["free p"])])
}

/// Uses or closes a descriptor, or a lock that the main thread may destroy.
fn objects() -> impl Strategy<Value = Piece> {
    let lines = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Piece>();
    select(vec![
        lines(&["use f descriptor"]),
        lines(&["use f descriptor"]),
        lines(&["destroy f descriptor"]),
        lines(&["acq m", "rel m"]),
        lines(&["acq m", "r x", "rel m"]),
        lines(&["destroy m mutex"]),
    ])
}

/// Less frequent operations.
fn rare() -> impl Strategy<Value = Piece> {
    let lines = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Piece>();
    select(vec![
        lines(&["add x"]),
        lines(&["exchange y 1"]),
        lines(&["cas x 1 2"]),
        lines(&["store x 1"]),
        lines(&["load y"]),
        lines(&["w x:2 1"]),
        lines(&["w x+2:2 1"]),
        lines(&["r x:2"]),
        lines(&["r x:1"]),
        lines(&["r x+2:2"]),
        lines(&["w x:8 2"]),
        lines(&["r x:8"]),
        lines(&["w y ?"]),
        lines(&["r y ?"]),
        lines(&["acqfail a mutex tried 16"]),
        lines(&["acqfail rw read tried 16"]),
        lines(&["downfail s 11"]),
        lines(&["arrive bar", "pass bar"]),
        lines(&["oncebegin once", "w x 1", "onceend once"]),
        lines(&["oncebegin once", "onceend once failed"]),
        lines(&["oncedone once"]),
        lines(&["acq a", "waitrel a", "wait c a", "wake c a timeout", "rel a"]),
        lines(&["acq rw read", "r x", "acq rw read", "rel rw read", "rel rw read"]),
    ])
}

/// Atomic operations with some memory order, fences, and accesses that they may order.
fn weak() -> impl Strategy<Value = Piece> {
    let order = || select(vec!["relaxed", "relaxed", "acquire", "release", "acqrel", "seqcst"]);
    let load = select(vec!["relaxed", "acquire", "seqcst"]).prop_map(|it| format!("load f {it}"));
    let store = (1..3u8, select(vec!["relaxed", "release", "seqcst"]))
        .prop_map(|(value, it)| format!("store f {value} {it}"));
    let update = order().prop_map(|it| format!("add f {it}"));
    let fence = order().prop_map(|it| format!("fence {it}"));
    let atomic = prop_oneof![3 => load, 3 => store, 1 => update, 2 => fence];
    let plain = || prop_oneof![Just(Piece::new()), access()];
    (plain(), prop::collection::vec(atomic, 1..3), plain())
        .prop_map(|(before, atomics, after)| [before, atomics, after].concat())
}

fn piece(shape: Shape) -> BoxedStrategy<Piece> {
    let inner = prop_oneof![access(), locked(access())];
    let body = prop::collection::vec(inner, 1..3).prop_map(|it| it.concat());
    let mut pieces = vec![(3, access().boxed()), (3, locked(body))];
    if !shape.nested {
        pieces.push((2, crossed().boxed()));
    }
    if shape.waits {
        pieces.push((2, waiting().boxed()));
    }
    if shape.channels {
        pieces.push((4, channel().boxed()));
    }
    if shape.nests > 0 {
        pieces.push((shape.nests, locked(locked(Just(Piece::new())))));
    }
    if shape.nests > 0 && shape.waits {
        pieces.push((shape.nests, locked(waiting())));
    }
    if shape.rich {
        pieces.push((6, rare().boxed()));
    }
    if shape.weak {
        pieces.push((12, weak().boxed()));
    }
    if shape.objects {
        pieces.extend([(5, objects().boxed()), (2, locked(objects()))]);
    }
    if shape.frees {
        pieces.extend([(3, heap().boxed()), (2, locked(heap()))]);
    }
    prop::strategy::Union::new_weighted(pieces).boxed()
}

/// Random traces with consistent values.
pub fn traces(shape: Shape) -> impl Strategy<Value = Trace> {
    let program = move |least| {
        prop::collection::vec(piece(shape), least..=shape.pieces).prop_map(|it| it.concat())
    };
    let others = prop::collection::vec(program(1), shape.threads..=shape.threads);
    let choices = prop::collection::vec(any::<u8>(), shape.events);
    let late = any::<bool>();
    let handlers = prop::collection::vec(handler(), 1..3).prop_map(|it| it.concat());
    let threads = (program(0), others, handlers);
    (threads, late, choices).prop_map(move |((first, others, handlers), late, choices)| {
        let mut programs = BTreeMap::new();
        let names: Vec<_> = (1..=others.len()).map(|it| format!("T0.{it}")).collect();
        let forks = names.iter().map(|it| format!("fork {it}"));
        let joins = names.iter().filter(|_| late).map(|it| format!("join {it}"));
        let heap = shape.frees.then(|| "alloc p 8".to_owned());
        let barrier = shape.rich.then(|| "init bar barrier 2".to_owned());
        let all: Piece =
            heap.into_iter().chain(barrier).chain(forks).chain(first).chain(joins).collect();
        programs.insert("T0".to_owned(), all);
        programs.extend(names.iter().cloned().zip(others));
        if let Some(host) = names.first().filter(|_| shape.handlers) {
            programs.insert(format!("{host}!"), handlers);
            // Handlers run between the begin and the end of their thread.
            programs.entry(host.clone()).and_modify(|it| {
                it.insert(0, "begin".to_owned());
                it.push("end".to_owned());
            });
        }
        run(&programs, &choices)
    })
}

/// Runs programs in the order that the choices determine, until none can continue.
fn run(programs: &BTreeMap<String, Piece>, choices: &[u8]) -> Trace {
    let mut lines = vec!["order global".to_owned()];
    let mut done: BTreeMap<&String, usize> = programs.keys().map(|it| (it, 0)).collect();
    let mut memory = Visible::default();
    for choice in choices {
        let next: Vec<_> = programs
            .iter()
            .filter_map(|(thread, program)| {
                let line = program.get(done[thread])?;
                let line = format!("{thread} {}", memory.with_value(line));
                can_follow(programs, &done, &lines, thread, &line).then_some((thread, line))
            })
            .collect();
        let Some((thread, line)) = next.get(usize::from(*choice) % next.len().max(1)) else {
            break;
        };
        memory.follow(line);
        *done.entry(thread).or_default() += 1;
        lines.push(line.clone());
    }
    parse(&lines)
}

fn parse(lines: &[String]) -> Trace {
    text::parse(&lines.join("\n")).unwrap_or_default()
}

/// Whether the machine allows this line after the others. Joins are checked here, since the machine
/// sees only the lines so far and not whether the joined thread has more.
fn can_follow(
    programs: &BTreeMap<String, Piece>,
    done: &BTreeMap<&String, usize>,
    lines: &[String],
    thread: &str,
    line: &str,
) -> bool {
    let joined = line.split_once("join ").map(|(_, it)| it.to_owned());
    if joined.is_some_and(|it| done[&it] < programs[&it].len()) {
        return false;
    }
    let host = thread.trim_end_matches('!');
    let forked = lines.iter().any(|it| it.ends_with(&format!("fork {host}")));
    if thread != "T0" && !forked {
        return false;
    }
    let begun = lines.iter().any(|it| *it == format!("{host} begin"));
    if thread != host && !begun {
        return false;
    }
    let all: Vec<_> = lines.iter().cloned().chain([line.to_owned()]).collect();
    let trace = parse(&all);
    let order: Vec<_> = trace.merged().map(|it| it.id).collect();
    // Semaphores start at zero here, regardless of what the machine infers.
    crate::Oracle::new(&trace).allows(&order) && !sinks(&all) && is_denied(&trace, &order)
}

/// Whether a semaphore becomes negative.
fn sinks(lines: &[String]) -> bool {
    let count = |word: &str| lines.iter().filter(|it| it.contains(word)).count();
    count(" down s") > count(" post s")
}

/// Whether the last event, if it is a failed request, fails for a reason.
fn is_denied(trace: &Trace, order: &[norn_model::EventId]) -> bool {
    let machine = crate::Machine::new(trace);
    let mut state = machine.start();
    let mut succeeds = false;
    for id in order {
        let Some(thread) = trace.threads.iter().position(|it| it.id == id.thread) else { break };
        succeeds = machine.would_succeed(&state, thread);
        let Some(next) = machine.step(&state, thread).pop() else { break };
        state = next;
    }
    !succeeds
}

/// What a program can see while it runs: the content of memory by variable and byte, and how far its
/// channel is.
#[derive(Clone, Default)]
pub(crate) struct Visible {
    bytes: BTreeMap<(String, usize), u8>,
    /// How much was sent through the channel, and received from it.
    sent: u64,
    received: u64,
}

/// A variable, its first byte, its size.
fn place(word: &str) -> (String, usize, usize) {
    let (word, size) = word.split_once(':').unwrap_or((word, "4"));
    let (name, offset) = word.split_once('+').unwrap_or((word, "0"));
    (name.to_owned(), offset.parse().unwrap_or(0), size.parse().unwrap_or(4))
}

impl Visible {
    fn get(&self, word: &str) -> u64 {
        let (name, from, size) = place(word);
        let byte = |at: usize| self.bytes.get(&(name.clone(), from + at)).copied().unwrap_or(0);
        (0..size).rev().fold(0, |value, at| value << 8 | u64::from(byte(at)))
    }

    fn set(&mut self, word: &str, value: &str) {
        let (name, from, size) = place(word);
        let value: u64 = value.parse().unwrap_or(7);
        for at in 0..size {
            let byte = u8::try_from(value >> (8 * at) & 0xff).unwrap_or(0);
            self.bytes.insert((name.clone(), from + at), byte);
        }
    }

    /// Completes a read with the current value.
    pub(crate) fn with_value(&self, line: &str) -> String {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["r" | "load", variable] => format!("{line} {}", self.get(variable)),
            ["load", variable, order] => {
                format!("load {variable} {} {order}", self.get(variable))
            }
            ["add", variable, order] => {
                let old = self.get(variable);
                format!("add {variable} {old} {} {order}", (old + 1) % 4)
            }
            ["r" | "w", variable, "?"] => format!("{} {variable}", &line[..1]),
            ["add", variable] => {
                let old = self.get(variable);
                format!("{line} {old} {}", (old + 1) % 4)
            }
            ["exchange", variable, new] => {
                format!("exchange {variable} {} {new}", self.get(variable))
            }
            ["cas", variable, old, new] if self.get(variable).to_string() == old => {
                format!("cas {variable} {old} {new}")
            }
            ["cas", variable, expected, _] => {
                format!("casfail {variable} {} {expected}", self.get(variable))
            }
            ["send", _] => format!("{line} {} {}", self.sent, self.sent + 1),
            ["send", channel, "two"] => format!("send {channel} {} {}", self.sent, self.sent + 2),
            ["receive" | "ready", _] => {
                format!("{line} {} {}", self.received, self.received + 1)
            }
            _ => line.to_owned(),
        }
    }

    /// Performs a write. A write without a value gets one that no other operation writes.
    pub(crate) fn follow(&mut self, line: &str) {
        match line.split(' ').collect::<Vec<_>>()[..] {
            [_, "w" | "store", variable, value]
            | [_, "store", variable, value, _]
            | [_, "add" | "exchange" | "cas", variable, _, value]
            | [_, "add", variable, _, value, _] => self.set(variable, value),
            [_, "w", variable] => self.set(variable, "7"),
            [_, "send", _, _, to] => self.sent = to.parse().unwrap_or(0),
            [_, "receive", _, _, to] => self.received = to.parse().unwrap_or(0),
            _ => {}
        }
    }
}
