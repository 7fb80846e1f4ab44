//! `norn dump`: one line per event.

use std::io::{self, BufWriter, Write};

use norn_frontend::Memory;
use norn_model::{Event, Frame as Call, Location, Op, ThreadId};
use norn_report::writer::escape_json;
use serde_json::{Map, Value as Json, json};

use crate::{
    cli::{Dump, Format},
    exit::Exit,
    fact::{Extent, Fact, Known, address, fact, number},
    function, terminal,
    view::{Object, View, source},
};

pub(super) fn run(args: &Dump) -> anyhow::Result<Exit> {
    let view = View::open(&args.trace)?;
    let only = args.thread.as_deref().map(|it| view.thread_named(it)).transpose()?;
    let mut out = BufWriter::new(terminal::stdout());
    let mut memory = Memory::default();
    let columns = Columns::of(&view);
    for event in view.trace.merged() {
        memory.arrive(&event);
        if is_wanted(&event, only, args.sync) {
            let line = Line::of(&view, &memory, &event);
            match args.format {
                Format::Text => text(&mut out, &view, &line, &columns, args.stacks)?,
                Format::Json => {
                    let json = line_json(&view, &line, args.stacks).to_string();
                    writeln!(out, "{}", escape_json(&json))?;
                }
            }
        }
        memory.learn(&event);
    }
    out.flush()?;
    let damage = view.trace.damage();
    if let [first, ..] = damage {
        let mut err = terminal::stderr();
        writeln!(err, "norn: the trace is damaged in {} places: {first}", damage.len())?;
        writeln!(err, "hint: all undamaged events were printed; `norn info` lists the damage")?;
    }
    Ok(Exit::Clean)
}

fn is_wanted(event: &Event, thread: Option<ThreadId>, sync: bool) -> bool {
    let access = matches!(event.op, Op::Read { .. } | Op::Write { .. });
    thread.is_none_or(|it| it == event.id.thread) && !(sync && access)
}

/// An event with its names.
struct Line {
    event: Event,
    thread: String,
    fact: Fact,
    object: Option<Object>,
    frames: std::sync::Arc<[Location]>,
}

impl Line {
    fn of(view: &View, memory: &Memory, event: &Event) -> Line {
        let fact = fact(&event.op, view.trace.names(), |thread| view.thread(thread));
        let new = matches!(event.op, Op::Alloc { .. } | Op::Map { .. });
        let target = fact.target.filter(|_| !new);
        let size = |extent| match extent {
            Extent::Bytes(size) => size,
            Extent::Object(class) => view.symbols.object_size(class),
        };
        let object = target.and_then(|(addr, it)| view.object(memory, addr, size(it)));
        let thread = view.thread(event.id.thread);
        Line { event: *event, thread, fact, object, frames: view.frames(event) }
    }
}

fn line_json(view: &View, line: &Line, stacks: bool) -> Json {
    let mut map = Map::new();
    map.insert("thread".into(), json!(line.thread));
    map.insert("index".into(), json!(line.event.id.index));
    map.insert("op".into(), json!(line.fact.op));
    if let Some((addr, _)) = line.fact.target {
        map.insert("object".into(), json!(line.object.as_ref().map(|it| &it.name)));
        map.insert("address".into(), json!(address(addr)));
    }
    match line.fact.value {
        Known::Nothing => {}
        Known::Unknown => drop(map.insert("value".into(), Json::Null)),
        Known::Value(value) => drop(map.insert("value".into(), number(value))),
    }
    for (name, value) in &line.fact.details {
        map.insert((*name).into(), value.clone());
    }
    function::name_arguments(&mut map, &line.event.op, &view.trace);
    map.insert("site".into(), line.frames.first().map_or(Json::Null, frame_json));
    if line.frames.len() > 1 {
        map.insert("inlined".into(), line.frames[1..].iter().map(frame_json).collect());
    }
    map.insert("seq".into(), json!(line.event.seq));
    if stacks {
        map.insert(
            "stack".into(),
            calls(view, line).map(|it| it.map_or(Json::Null, |it| frame_json(&it))).collect(),
        );
    }
    Json::Object(map)
}

fn frame_json(frame: &Location) -> Json {
    json!({
        "function": frame.function.as_deref(),
        "file": frame.file.as_deref(),
        "line": frame.line,
        "column": frame.column,
    })
}

/// The call stack of an event, innermost first; none for a call that was too deep to be recorded.
fn calls(view: &View, line: &Line) -> impl Iterator<Item = Option<Location>> {
    view.trace.stack(line.event.stack).flat_map(|call| match call {
        Call::Call(pc) => view.symbols.frames(pc).iter().cloned().map(Some).collect::<Vec<_>>(),
        Call::Unknown(_) => vec![None],
    })
}

/// Widths of the columns. They are known before the first line is printed.
struct Columns {
    thread: usize,
}

impl Columns {
    fn of(view: &View) -> Columns {
        let names = view.trace.threads().iter().map(|it| it.name.0.len());
        Columns { thread: names.max().unwrap_or(0) }
    }
}

fn text(
    out: &mut impl Write,
    view: &View,
    line: &Line,
    columns: &Columns,
    stacks: bool,
) -> io::Result<()> {
    let object = match (&line.object, line.fact.target) {
        (Some(object), _) => object.name.clone(),
        (None, Some((addr, _))) => address(addr),
        (None, None) => String::new(),
    };
    let value = match line.fact.value {
        Known::Value(value) => {
            let value_type = line.object.as_ref().and_then(|it| it.value_type.as_ref());
            let shown = value_type.and_then(|it| it.text(value));
            format!(" = {}", shown.unwrap_or_else(|| readable(value)))
        }
        Known::Unknown => " = ?".to_owned(),
        Known::Nothing => String::new(),
    };
    let what = match function::words(&line.event.op, &view.trace) {
        Some(call) => call,
        None => format!("{object}{value}{}", details(&line.fact)),
    };
    let what = what.trim_start();
    let place = line.frames.first().map_or_else(String::new, place);
    let (op, width) = (line.fact.op, columns.thread);
    let row = format!("{:width$}  {op:17} {what:44} {place}", line.thread);
    terminal::line(out, row.trim_end())?;
    for call in line
        .frames
        .iter()
        .skip(1)
        .cloned()
        .map(Some)
        .chain(stacks.then(|| calls(view, line)).into_iter().flatten())
    {
        if stacks {
            let call = call.as_ref().map_or_else(|| "…".to_owned(), self::place);
            terminal::line(out, format_args!("{:width$}    called by {call}", ""))?;
        }
    }
    Ok(())
}

/// Small numbers in decimal; large ones, which are mostly pointers, in hexadecimal.
fn readable(value: u128) -> String {
    if value <= u128::from(u32::MAX) { value.to_string() } else { format!("{value:#x}") }
}

/// `function file.c:12:5`, as much of it as is known.
fn place(frame: &Location) -> String {
    let function = frame.function.as_deref().unwrap_or("?");
    source(frame).map_or_else(|| function.to_owned(), |it| format!("{function} {it}"))
}

/// The other details, except those with their usual values.
fn details(fact: &Fact) -> String {
    use std::fmt::Write as _;

    let mut text = String::new();
    for (name, value) in &fact.details {
        let value = match value {
            Json::String(it) => it.clone(),
            other => other.to_string(),
        };
        match (*name, value.as_str()) {
            ("how", "waited") | ("done", "true") | ("serial", "false") => {}
            ("mode" | "how" | "other" | "class" | "ordering" | "rmw", it) => {
                text.push(' ');
                text.push_str(it);
            }
            ("volatile", _) => text.push_str(" volatile"),
            ("size", it) if !matches!(fact.value, Known::Nothing) => {
                let _ = write!(text, " ({it})");
            }
            (name, it) => drop(write!(text, " {name} {it}")),
        }
    }
    text
}
