//! Reports for trace viewers: the JSON trace events that Perfetto and `chrome://tracing` open.
//!
//! Each order of a finding is a process, and each of its threads a track. Time is the place of an event in the
//! order: one microsecond each, since what happened in between is not shown. Flows lead from a write to the
//! read of its value, and from the release of a lock to the thread that takes it next; held locks are
//! spans of their own, because they need not be nested. A pattern of a ranking is such an order of its accesses.

use std::io;

use serde_json::{Value, json};

use super::{
    Writer,
    dot::threads,
    entry::{Entry, access, entries},
    event_text,
    json::escape,
    timeline::{LinkKind, held, lanes, links},
};
use crate::{Access, EventRow, RankedPattern, Report, vocabulary};

/// Writes the orders of all findings, or the patterns of a ranking, as a trace.
#[derive(Clone, Copy, Debug)]
pub struct Perfetto;

impl Writer for Perfetto {
    fn write(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let mut trace = Trace::default();
        for entry in entries(report) {
            let (forced, recorded) = entry.orders();
            trace.add(&name(&entry), forced);
            trace.add(&format!("{}, as recorded", name(&entry)), recorded);
        }
        let clusters = report.localization.iter().flat_map(|it| &it.clusters);
        for (failure, cluster) in (1..).zip(clusters) {
            for (rank, pattern) in (1..).zip(&cluster.ranking) {
                let RankedPattern { title, score, .. } = pattern;
                let name = format!("failure {failure}, #{rank} ({score:.2}): {title}");
                trace.add_pattern(&name, &pattern.accesses);
            }
        }
        let trace = json!({ "displayTimeUnit": "ns", "traceEvents": trace.events });
        writeln!(out, "{}", escape(&serde_json::to_string(&trace)?))?;
        out.flush()
    }
}

fn name(entry: &Entry<'_>) -> String {
    match entry.subject {
        super::entry::Subject::Finding(crate::Finding { bug: Some(bug), .. }, _) => {
            format!("{bug}. {}", entry.headline)
        }
        _ => entry.headline.clone(),
    }
}

#[derive(Default)]
struct Trace {
    events: Vec<Value>,
    /// The number of the last process.
    process: usize,
    /// The number of the last flow or span.
    id: usize,
}

impl Trace {
    /// Begins a process with a track for each thread, from 1. Returns its number.
    fn begin<'a>(&mut self, name: &str, threads: impl Iterator<Item = &'a str>) -> usize {
        self.process += 1;
        let pid = self.process;
        let named = |what: &str, tid: usize, name: &str| json!({ "ph": "M", "pid": pid, "tid": tid, "name": what, "args": { "name": name } });
        self.events.push(named("process_name", 0, name));
        self.events.extend((1..).zip(threads).map(|(tid, it)| named("thread_name", tid, it)));
        pid
    }

    fn add_pattern(&mut self, name: &str, accesses: &[Access]) {
        let threads = threads(accesses);
        let pid = self.begin(name, threads.iter().copied());
        for (at, it) in accesses.iter().enumerate() {
            let tid = threads.iter().position(|thread| *thread == it.thread.0).unwrap_or(0) + 1;
            let stack: Vec<_> = it.stack.iter().map(vocabulary::place).collect();
            self.events.push(json!({
                "ph": "X", "pid": pid, "tid": tid, "ts": at, "dur": 1, "cat": "step",
                "name": access(it), "args": { "stack": stack },
            }));
        }
    }

    fn add(&mut self, name: &str, rows: &[EventRow]) {
        if rows.is_empty() {
            return;
        }
        let lanes = lanes(rows);
        let pid = self.begin(name, lanes.iter().map(|it| it.0.as_str()));
        let track =
            |row: &EventRow| lanes.iter().position(|it| **it == row.thread).unwrap_or(0) + 1;
        for (at, row) in rows.iter().enumerate() {
            self.events.push(slice(pid, track(row), at, row));
        }
        for link in links(rows) {
            let ends = [("s", link.from), ("f", link.to)];
            self.id += 1;
            let id = self.id;
            self.events.extend(ends.map(|(phase, at)| {
                let (name, tid) = (flow(link.kind), track(&rows[at]));
                json!({
                    "ph": phase, "bp": "e", "id": id, "pid": pid, "tid": tid, "ts": at,
                    "cat": name, "name": name,
                })
            }));
        }
        for span in held(rows) {
            self.id += 1;
            let tid = lanes.iter().position(|it| *it == span.thread).unwrap_or(0) + 1;
            let name = format!("{} holds {}", span.thread, span.lock);
            let id = self.id;
            let ends = [("b", span.from), ("e", span.to.unwrap_or(rows.len()))];
            self.events.extend(ends.map(|(phase, at)| {
                json!({
                    "ph": phase, "cat": "lock", "id": id, "pid": pid, "tid": tid, "ts": at,
                    "name": name,
                })
            }));
        }
    }
}

fn slice(pid: usize, tid: usize, at: usize, row: &EventRow) -> Value {
    let value = row.shown.clone().or_else(|| row.value.map(|it| it.to_string()));
    let all = json!({
        "event": row.event,
        "value": value,
        "place": row.at.as_ref().map(vocabulary::place),
        "file": row.at.as_ref().and_then(|it| it.file.clone()),
        "line": row.at.as_ref().and_then(|it| it.line),
        "step": row.step.map(|it| it + 1),
    });
    let known = all.as_object().into_iter().flatten().filter(|it| !it.1.is_null());
    let args: Value = known.map(|(name, value)| (name.clone(), value.clone())).collect();
    let category = if row.step.is_some() { "step" } else { "event" };
    json!({
        "ph": "X", "pid": pid, "tid": tid, "ts": at, "dur": 1, "cat": category,
        "name": event_text(row), "args": args,
    })
}

fn flow(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::ReadsFrom => "reads from",
        LinkKind::HandOver => "lock hand-over",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        Detail,
        writer::{
            sample::{finding, hunt},
            text::localization::tests::localized,
        },
    };

    fn events() -> Vec<Value> {
        let details = vec![Detail { finding: 0, also: Vec::new() }];
        let mut out = Vec::new();
        Perfetto.write(&Report { details, ..hunt(vec![finding()]) }, &mut out).unwrap();
        let trace: Value = serde_json::from_slice(&out).unwrap();
        trace["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn each_order_has_a_track_for_each_thread() {
        let name = |it: &Value| it["args"]["name"].as_str().unwrap().to_owned();
        let of = |what: &str| {
            events().iter().filter(|it| it["name"] == what).map(name).collect::<Vec<_>>()
        };
        let title = "1. atomicity violation on `till`: assertion failed: till == 3";
        assert_eq!(of("process_name"), [title.to_owned(), format!("{title}, as recorded")]);
        assert_eq!(of("thread_name"), ["T0.1", "T0.2", "T0.1", "T0.2"]);
    }

    /// What the viewer requires: known phases, a time, flows and spans with two ends on existing tracks, and
    /// slices of a track that do not overlap.
    #[test]
    fn the_trace_is_well_formed() {
        let events = events();
        let mut ends: BTreeMap<u64, Vec<(String, u64)>> = BTreeMap::new();
        let mut slices: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for it in &events {
            let phase = it["ph"].as_str().unwrap();
            let track = (it["pid"].as_u64().unwrap(), it["tid"].as_u64().unwrap());
            assert!(it["name"].is_string(), "{it}");
            match phase {
                "M" => {
                    assert!(
                        ["process_name", "thread_name"].contains(&it["name"].as_str().unwrap())
                    );
                }
                "X" => {
                    let (start, length) = (it["ts"].as_u64().unwrap(), it["dur"].as_u64().unwrap());
                    let last = slices.insert(track, start + length);
                    assert!(last.is_none_or(|it| it <= start), "{it}");
                }
                "s" | "f" | "b" | "e" => {
                    let end = (phase.to_owned(), it["ts"].as_u64().unwrap());
                    ends.entry(it["id"].as_u64().unwrap()).or_default().push(end);
                }
                other => panic!("unknown phase {other}"),
            }
        }
        assert!(!ends.is_empty());
        for both in ends.values() {
            let [(first, from), (second, to)] = &both[..] else { panic!("{both:?}") };
            assert!([("s", "f"), ("b", "e")].contains(&(first, second)), "{both:?}");
            assert!(from <= to);
        }
    }

    #[test]
    fn a_pattern_has_a_track_for_each_thread() {
        let mut out = Vec::new();
        Perfetto.write(&localized(), &mut out).unwrap();
        let trace: Value = serde_json::from_slice(&out).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let first = |phase: &str| {
            events.iter().filter(|it| it["ph"] == phase && it["pid"] == 1).collect::<Vec<_>>()
        };
        let localization = localized().localization.unwrap();
        let accesses = &localization.clusters[0].ranking[0].accesses;
        assert_eq!(first("X").len(), accesses.len());
        assert_eq!(first("M").len(), 1 + threads(accesses).len());
        assert_eq!(first("X")[1]["args"]["stack"][0], vocabulary::place(&accesses[1].stack[0]));
    }
}
