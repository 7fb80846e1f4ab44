//! The orders of events that the page shows side by side.

use norn_model::ThreadName;
use serde::Serialize;

use super::source::Sources;
use crate::{
    EventRow,
    vocabulary::{self, source},
    writer::timeline::{LinkKind, held, links},
};

/// Events in their order, and the lines between them.
#[derive(Serialize)]
pub(super) struct Order {
    rows: Vec<Row>,
    /// From which event to which, and what the link is.
    links: Vec<(usize, usize, &'static str)>,
    /// In which lane, from which event to which, and the number of the lock.
    held: Vec<(usize, usize, usize, usize)>,
}

/// One event. Fields without a value are left out: a page may have many thousands.
#[derive(Serialize)]
struct Row {
    lane: usize,
    /// What the event does.
    text: &'static str,
    /// What it does it to.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The value in the recorded order, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    /// The same event in the recorded order.
    #[serde(skip_serializing_if = "Option::is_none")]
    twin: Option<usize>,
    #[serde(skip_serializing_if = "is_one")]
    times: u64,
    /// Why another thread continues after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    switch: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(times: &u64) -> bool {
    *times == 1
}

/// The failing order, and the recorded one if there is one.
pub(super) fn orders(
    forced: &[EventRow],
    recorded: &[EventRow],
    lanes: &[&ThreadName],
    sources: &Sources,
) -> (Order, Option<Order>) {
    let twins = twins(forced, recorded);
    let mut failing = order(forced, lanes, sources);
    for (row, twin) in failing.rows.iter_mut().zip(twins) {
        row.twin = twin;
        let other = twin.and_then(|it| shown(&recorded[it]));
        row.other = other.filter(|it| row.value.as_ref().is_some_and(|value| value != it));
    }
    let recorded = Some(recorded).filter(|it| !it.is_empty());
    (failing, recorded.map(|it| order(it, lanes, sources)))
}

/// For each event, the same one in the recorded order: the same step, or the same event of the thread.
fn twins(forced: &[EventRow], recorded: &[EventRow]) -> Vec<Option<usize>> {
    let key = |it: &EventRow| match it.step {
        Some(step) => (Some(step), None),
        None => (None, Some((it.thread.0.clone(), it.event))),
    };
    let places: std::collections::BTreeMap<_, _> =
        recorded.iter().enumerate().map(|(at, it)| (key(it), at)).collect();
    let same = |it: &EventRow| {
        let twin = places.get(&key(it)).copied()?;
        (recorded[twin].action == it.action).then_some(twin)
    };
    forced.iter().map(same).collect()
}

fn order(rows: &[EventRow], lanes: &[&ThreadName], sources: &Sources) -> Order {
    let lane = |thread: &ThreadName| lanes.iter().position(|it| *it == thread).unwrap_or(0);
    let row = |it: &EventRow| {
        let (file, line) = sources.place(it.at.as_ref());
        let size = it.size.map_or_else(String::new, |it| format!(" {it} bytes"));
        let object = it.object.as_ref().map(|it| format!("{it}{size}"));
        Row {
            lane: lane(&it.thread),
            text: it.action.noun(),
            object,
            value: shown(it),
            other: None,
            place: it.at.as_ref().map(|it| source(it).unwrap_or_else(|| vocabulary::place(it))),
            file,
            line,
            step: it.step,
            twin: None,
            times: it.times,
            switch: it.switch.as_ref().map(vocabulary::switch),
        }
    };
    let link = |it: crate::writer::timeline::Link| {
        let kind = match it.kind {
            LinkKind::ReadsFrom => "read",
            LinkKind::HandOver => "hand",
        };
        (it.from, it.to, kind)
    };
    let spans = held(rows);
    let mut locks: Vec<_> = spans.iter().map(|it| it.lock).collect();
    locks.sort_unstable();
    locks.dedup();
    let held = spans.iter().map(|it| {
        let number = locks.binary_search(&it.lock).unwrap_or(0);
        (lane(it.thread), it.from, it.to.unwrap_or(rows.len()), number)
    });
    Order {
        rows: rows.iter().map(row).collect(),
        links: links(rows).into_iter().map(link).collect(),
        held: held.collect(),
    }
}

fn shown(row: &EventRow) -> Option<String> {
    row.shown.clone().or_else(|| row.value.map(|it| it.to_string()))
}
