//! The threads of a trace and their names.

use std::{collections::BTreeMap, ops::Range};

use norn_abi::arena::role;
use norn_model::{Role, Start, ThreadId, ThreadName};

use crate::{
    scan::Chunk,
    survey::{self, Index},
};

/// A thread that has chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number, in order of creation.
    pub id: ThreadId,
    /// Its name, the same in every run.
    pub name: ThreadName,
    /// The kind of stream.
    pub role: Role,
    /// The thread that created it, or that it interrupts.
    pub parent: Option<ThreadId>,
    /// The kernel's id.
    pub tid: u32,
    /// Number of its events.
    pub events: u64,
    /// The last sequence number before its first chunk here; 0 if that is its very first.
    pub(crate) after: u64,
    /// Its chunks, as a range of all chunks.
    pub(crate) chunks: Range<usize>,
    /// The position of its first event in the merged order.
    pub(crate) start: Start,
}

/// The threads of these chunks, by ascending id.
pub(crate) fn threads(chunks: &[Chunk], index: &Index) -> Vec<Thread> {
    let mut names = Names::default();
    let mut at = 0;
    let threads = chunks.chunk_by(|a, b| a.thread() == b.thread());
    threads
        .map(|chunks| {
            let range = at..at + chunks.len();
            at = range.end;
            let mut thread = thread(chunks, &index.starts[range.clone()], &mut names);
            thread.start = index.start_of(thread.id, range.clone(), thread.after);
            thread.chunks = range;
            thread
        })
        .collect()
}

fn thread(chunks: &[Chunk], starts: &[survey::Start], names: &mut Names) -> Thread {
    let header = chunks[0].header;
    let id = ThreadId(header.thread);
    let role = match header.role {
        role::HANDLER => Role::Handler,
        role::FOREIGN => Role::Foreign,
        _ => Role::Thread,
    };
    let parent = (header.parent != header.thread).then_some(ThreadId(header.parent));
    Thread {
        id,
        name: names.name(id, role, parent, header.child),
        role,
        parent,
        tid: header.tid,
        events: starts.iter().map(|it| it.events).sum(),
        after: header.last_seq,
        chunks: 0..0,
        start: Start::After(0),
    }
}

/// Assigns names; parents come before their children.
#[derive(Default)]
struct Names {
    known: BTreeMap<ThreadId, String>,
    foreign: u32,
}

impl Names {
    fn name(
        &mut self,
        id: ThreadId,
        role: Role,
        parent: Option<ThreadId>,
        child: u32,
    ) -> ThreadName {
        let parent = parent.map(|it| self.known.get(&it).cloned().unwrap_or(it.to_string()));
        let name = match (role, parent) {
            (Role::Foreign, _) => {
                self.foreign += 1;
                format!("F{}", self.foreign)
            }
            (Role::Handler, parent) => parent.unwrap_or_default() + "!",
            (Role::Thread, Some(parent)) => format!("{parent}.{child}"),
            (Role::Thread, None) if id.0 == 0 => "T0".to_owned(),
            (Role::Thread, None) => id.to_string(),
        };
        self.known.insert(id, name.clone());
        ThreadName(name)
    }
}
