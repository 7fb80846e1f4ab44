//! `norn info`: summarises a trace.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use norn_abi::arena::PROCESSES;
use norn_frontend::{Memory, ModuleState, ModuleSummary};
use norn_model::{Object, OsText};
use norn_report::writer::escape_json;
use norn_trace::{Blocked, End, Kind, StopReason};
use serde_json::{Value as Json, json};

use crate::{
    cli::{Format, Info},
    exit::Exit,
    fact::address,
    terminal::{self, line},
    view::{View, source},
};

pub(super) fn run(args: &Info) -> anyhow::Result<Exit> {
    let view = View::open(&args.trace)?;
    let mut out = terminal::stdout();
    match args.format {
        Format::Text => text(&mut out, &view)?,
        Format::Json => writeln!(out, "{}", escape_json(&format!("{:#}", summary(&view))))?,
    }
    Ok(Exit::Clean)
}

fn summary(view: &View) -> Json {
    let (trace, run) = (&view.trace, view.trace.run());
    let losses = trace.losses();
    json!({
        "command": run.command.iter().map(OsText::lossy).collect::<Vec<_>>(),
        "directory": run.directory.lossy(),
        "norn": run.norn,
        "format": run.format,
        "order": run.order,
        "values": run.values,
        "complete": run.complete,
        "process": trace.process(),
        "end": end_of(view),
        "threads": trace.threads().iter().map(|it| json!({
            "name": it.name, "events": it.events, "tid": it.tid,
        })).collect::<Vec<_>>(),
        "events": trace.counts().events,
        "accesses": trace.counts().accesses,
        "calls": trace.counts().calls,
        "events_by_kind": by_kind(view),
        "bytes": trace.counts().bytes,
        "modules": view.symbols.modules().iter().map(module_json).collect::<Vec<_>>(),
        "lost": losses.events,
        "late": run.late_events,
        "unrecorded_processes": run.unrecorded_processes,
        "unrecorded_threads": run.unrecorded_threads,
        "stopped": run.stopped.map(|it| it.why),
        "damage": trace.damage().iter().map(ToString::to_string).collect::<Vec<_>>(),
        "processes": run.processes.iter().map(|it| json!({
            "number": it.number, "pid": it.pid, "parent": it.parent, "end": it.end, "lost": it.lost,
        })).collect::<Vec<_>>(),
        "blocked": blocked(view).iter().map(|it| json!({
            "thread": it.thread, "op": it.op, "object": it.object, "place": it.place,
        })).collect::<Vec<_>>(),
    })
}

fn end_of(view: &View) -> Option<End> {
    let number = view.trace.process();
    view.trace.run().processes.iter().find(|it| it.number == number).map(|it| it.end)
}

/// Number of events of each operation, by the names that `norn dump` uses.
fn by_kind(view: &View) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for (kind, count) in view.trace.counts().kinds() {
        if let Some(name) = operation(kind) {
            *counts.entry(name).or_default() += count;
        }
    }
    counts
}

/// The operation of a kind: `SemPost` is `sem-post`. None for records that are not events.
fn operation(kind: Kind) -> Option<String> {
    let name = match kind {
        Kind::RangeRead => "Read",
        Kind::RangeWrite => "Write",
        Kind::Enter
        | Kind::Unwind
        | Kind::Module
        | Kind::HighHalves
        | Kind::Turn
        | Kind::Futex
        | Kind::CallRest
        | Kind::Name => return None,
        other => other.name(),
    };
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.extend(letter.to_lowercase());
    }
    Some(text)
}

fn module_json(module: &ModuleSummary) -> Json {
    json!({
        "path": module.path.to_string_lossy(),
        "instrumented": module.instrumented,
        "debug": match module.state {
            ModuleState::Lines => "lines",
            ModuleState::Symbols => "symbols",
            ModuleState::Stripped => "stripped",
            ModuleState::Unreadable => "unreadable",
        },
    })
}

/// A thread that was inside a blocking operation when its process ended.
struct Waiting {
    thread: String,
    op: String,
    object: String,
    place: String,
}

fn blocked(view: &View) -> Vec<Waiting> {
    let number = view.trace.process();
    let process = view.trace.run().processes.iter().find(|it| it.number == number);
    process.map_or(&[][..], |it| &it.blocked).iter().map(|it| waiting(view, it)).collect()
}

/// The size of the object that such an operation blocks on; 1 if it is not known.
fn size_of(view: &View, kind: Kind) -> u64 {
    let class = match kind {
        Kind::Acquire => Object::Mutex,
        Kind::Wait => Object::Cond,
        Kind::BarrierEnter => Object::Barrier,
        Kind::SemWait => Object::Semaphore,
        _ => return 1,
    };
    view.symbols.object_size(class)
}

fn waiting(view: &View, blocked: &Blocked) -> Waiting {
    let kind = Kind::from_code(blocked.kind);
    let object = if kind == Some(Kind::Join) {
        view.thread(norn_model::ThreadId(u32::try_from(blocked.object).unwrap_or(u32::MAX)))
    } else {
        let size = kind.map_or(1, |it| size_of(view, it));
        let named = view.object(&Memory::default(), blocked.object, size);
        named.map_or_else(|| address(blocked.object), |it| it.name)
    };
    let frames = view.symbols.frames(blocked.pc);
    Waiting {
        thread: view.thread(norn_model::ThreadId(blocked.thread)),
        op: kind.and_then(operation).unwrap_or_default(),
        object,
        place: frames.first().and_then(source).unwrap_or_else(|| address(blocked.pc)),
    }
}

fn text(out: &mut impl Write, view: &View) -> io::Result<()> {
    let (trace, run) = (&view.trace, view.trace.run());
    let command: Vec<_> = run.command.iter().map(OsText::lossy).collect();
    line(out, format_args!("command   {}", command.join(" ")))?;
    writeln!(out, "ended     {}", ending(view))?;
    let counts = trace.counts();
    let each = if counts.events == 0 { 0.0 } else { counts.bytes as f64 / counts.events as f64 };
    let (events, bytes) = (counts.events, counts.bytes);
    writeln!(out, "trace     {events} events, {bytes} bytes ({each:.1} an event), {}", form(view))?;
    if run.processes.len() > 1 {
        writeln!(
            out,
            "process   {} of {}; --process chooses",
            trace.process(),
            run.processes.len()
        )?;
    }
    writeln!(out, "\nthreads")?;
    for thread in trace.threads() {
        line(out, format_args!("  {:12} {:>12} events", thread.name.0, thread.events))?;
    }
    for it in blocked(view) {
        let Waiting { thread, op, object, place } = it;
        line(out, format_args!("  {thread} was waiting: {op} {object} at {place}"))?;
    }
    writeln!(out, "\nevents")?;
    for (name, count) in by_kind(view) {
        writeln!(out, "  {name:18} {count:>12}")?;
    }
    if !run.functions.is_empty() {
        writeln!(out, "\nfunctions")?;
        for it in &run.functions {
            let seen = match (it.found, it.inlined) {
                (0, true) => "inlined everywhere",
                (0, false) => "not seen",
                (_, true) => "seen where it is not inlined",
                (_, false) => "seen",
            };
            line(out, format_args!("  {seen:28} {}", it.pattern))?;
        }
    }
    writeln!(out, "\nmodules")?;
    for module in view.symbols.modules() {
        let path = module.path.display();
        line(out, format_args!("  {:28} {path}", instrumentation(&module)))?;
    }
    gaps(out, view)
}

fn ending(view: &View) -> String {
    match end_of(view) {
        _ if !view.trace.run().complete => "unknown: the recorder was killed".to_owned(),
        Some(End::Exited(status)) => format!("with exit status {status}"),
        Some(End::Signaled(signal)) => format!("killed by signal {signal}{}", signal_name(signal)),
        Some(End::Exec) => "became another program".to_owned(),
        Some(End::Unknown) | None => "unknown".to_owned(),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGABRT => " (abort)",
        libc::SIGSEGV => " (segmentation fault)",
        libc::SIGBUS => " (bus error)",
        libc::SIGFPE => " (arithmetic error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGKILL => " (killed)",
        libc::SIGTERM => " (terminated)",
        libc::SIGINT => " (interrupted)",
        _ => "",
    }
}

fn form(view: &View) -> &'static str {
    let run = view.trace.run();
    match (run.order, run.values) {
        (norn_model::Order::Local, true) => "local order, with values",
        (norn_model::Order::Local, false) => "local order, without values",
        (norn_model::Order::Global, true) => "global order, with values",
        (norn_model::Order::Global, false) => "global order, without values",
    }
}

fn instrumentation(module: &ModuleSummary) -> String {
    let hooks = match module.instrumented {
        Some(true) => "recorded",
        Some(false) => "not recorded",
        None => "perhaps recorded",
    };
    match module.state {
        ModuleState::Lines => hooks.to_owned(),
        ModuleState::Symbols => format!("{hooks}, no lines"),
        ModuleState::Stripped => format!("{hooks}, stripped"),
        ModuleState::Unreadable => "cannot be read".to_owned(),
    }
}

/// Prints which events are missing in the trace, and why.
fn gaps(out: &mut impl Write, view: &View) -> io::Result<()> {
    let (losses, run) = (view.trace.losses(), view.trace.run());
    let mut lines = Vec::new();
    if losses.incomplete {
        let what = "everything after the recorder was killed, which was before the subject ended";
        lines.push(what.to_owned());
    }
    match run.stopped.map(|it| it.why) {
        Some(StopReason::Size) => lines.push("recording stopped at the largest size".to_owned()),
        Some(StopReason::Disk) => {
            lines.push("recording stopped: the trace could not be written".to_owned());
        }
        None => {}
    }
    if losses.events > 0 {
        lines.push(format!("{} events came after that", losses.events));
    }
    if run.late_events > 0 {
        lines.push(format!("{} events of threads past their end", run.late_events));
    }
    if run.unrecorded_processes > 0 {
        let number = run.unrecorded_processes;
        lines.push(format!("{number} processes after the first {PROCESSES}"));
    }
    if run.unrecorded_threads > 0 {
        let number = run.unrecorded_threads;
        lines.push(format!("{number} threads or signal handlers that were too many at once"));
    }
    lines.extend(view.trace.damage().iter().map(ToString::to_string));
    writeln!(out, "\nmissing")?;
    if lines.is_empty() {
        return writeln!(out, "  nothing");
    }
    lines.iter().try_for_each(|it| line(out, format_args!("  {it}")))
}
