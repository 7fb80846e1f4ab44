//! A folder with a trace in it.

use std::{fs, path::PathBuf};

use norn_model::{Order, ThreadId, text};
use norn_trace::{End, FORMAT, Lifetime, Process, Run, Trace, Writer};
use tempfile::TempDir;

use crate::chunk::Chunk;

/// A trace on disk, deleted when this value is dropped.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// Writes chunks as the recorder does.
    pub(crate) fn write(chunks: &[Chunk]) -> Folder {
        let folder = Folder(TempDir::new().unwrap());
        let order = if chunks.iter().any(|it| it.header.options & 2 != 0) {
            Order::Global
        } else {
            Order::Local
        };
        let run = Run { order, ..run() };
        let mut writer = Writer::create(&folder.path(), Lifetime::Kept).unwrap();
        writer.begin(&run).unwrap();
        for chunk in chunks {
            writer.append(chunk.header, &chunk.bytes).unwrap();
        }
        writer.finish(&run).unwrap();
        folder
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("run.norn")
    }

    pub(crate) fn open(&self) -> Trace {
        Trace::open(&self.path(), 0).unwrap()
    }

    /// Changes the bytes of the first process's file.
    pub(crate) fn change(self, change: impl FnOnce(&mut Vec<u8>)) -> Folder {
        let file = self.path().join("0.chunks");
        let mut bytes = fs::read(&file).unwrap();
        change(&mut bytes);
        fs::write(&file, bytes).unwrap();
        self
    }
}

/// The description of a small run.
pub(crate) fn run() -> Run {
    let end = End::Exited(0);
    Run {
        format: FORMAT,
        norn: "0.1.0".to_owned(),
        command: vec!["./program".into()],
        directory: "/".into(),
        order: Order::Local,
        values: true,
        complete: true,
        stopped: None,
        processes: vec![Process {
            number: 0,
            pid: 1,
            parent: 0,
            end,
            threads: 2,
            lost: 3,
            blocked: vec![],
        }],
        unrecorded_processes: 0,
        unrecorded_threads: 0,
        late_events: 0,
        controlled: None,
        collected: None,
        functions: Vec::new(),
        refused_functions: 0,
    }
}

/// All events of chunks as text, with the damage of the trace.
pub(crate) fn read(chunks: &[Chunk]) -> String {
    show(&Folder::write(chunks).open())
}

/// All events as text, in merged order, with the damage of the trace. All access paths to the
/// events must agree.
pub(crate) fn show(trace: &Trace) -> String {
    let loaded = trace.load();
    assert!(trace.merged().eq(loaded.merged()));
    for thread in trace.threads() {
        let events = &loaded.thread(thread.id).unwrap().events;
        assert!(trace.events(thread.id).eq(events.iter().copied()));
        assert!(events.iter().all(|it| trace.event(it.id).as_ref() == Some(it)));
        assert!(events.iter().zip(0..).all(|(it, index)| it.id.index == index));
        assert_eq!(events.len() as u64, thread.events);
        assert!(events.iter().all(|it| trace.site(it.site).is_some()));
    }
    assert_eq!(loaded.len() as u64, trace.counts().events);
    // Damage may have given a thread any number.
    let is_absent = |it: &ThreadId| trace.threads().iter().all(|thread| thread.id != *it);
    let absent = (0..=u32::MAX).map(ThreadId).find(is_absent).unwrap();
    assert_eq!(trace.events(absent).count(), 0);
    let damage = trace.damage().iter().map(|it| format!("! {it}\n"));
    damage.fold(text::print(&loaded), |all, line| all + &line)
}

/// The names of the files of a trace while it is written, and at its end.
fn files(lifetime: Lifetime) -> [Vec<String>; 2] {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run.norn");
    let names = || {
        let entries = fs::read_dir(&path).unwrap();
        let names = entries.map(|it| it.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    };
    let mut writer = Writer::create(&path, lifetime).unwrap();
    writer.begin(&run()).unwrap();
    let meanwhile = names();
    writer.finish(&run()).unwrap();
    [meanwhile, names()]
}

#[test]
fn a_temporary_trace_has_the_files_of_a_trace_only_at_its_end() {
    let end = ["0.chunks", "run.json"];
    let [meanwhile, kept] = files(Lifetime::Kept);
    assert_eq!(meanwhile, ["0.chunks", "reserve", "run.json"]);
    assert_eq!(kept, end);
    let [meanwhile, kept] = files(Lifetime::Temporary);
    assert_eq!(meanwhile, ["0.chunks"]);
    assert_eq!(kept, end);
}
