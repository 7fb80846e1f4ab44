//! Moves chunks from shared memory to disk while the subject runs, and tracks its processes and what
//! could not be written.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    process::ExitStatus,
    sync::atomic::Ordering,
};

use norn_abi::arena::{ChunkHeader, NO_PROCESS, STOP_DISK, STOP_NO, STOP_SIZE, state};
use norn_frontend::Launch;
use norn_trace::{Blocked, Collected, Controlled, End, Process, Run, Stop, StopReason, Writer};
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Pid, PidfdFlags, pidfd_open, test_kill_process},
    time::Timespec,
};

use crate::{
    arena::{Arena, Slot},
    function::Functions,
    signals::Signals,
};

/// Moves chunks to disk and tracks processes.
#[derive(Debug)]
pub(crate) struct Collector<'a> {
    arena: &'a Arena,
    writer: Writer,
    run: Run,
    max_size: u64,
    /// Whether the recorder's child is a debugger, and the subject the debugger's child.
    debugged: bool,
    watched: Vec<Watched>,
    /// The functions whose calls are recorded.
    functions: Functions,
    /// Threads of which a chunk could not be written completely. Nothing more of them is written, since
    /// a reader could not see the gap.
    cut: Vec<(u32, u32)>,
    /// Why the trace could not be written.
    refused: Option<io::Error>,
}

/// A running process.
#[derive(Debug)]
struct Watched {
    pid: Option<Pid>,
    handle: Option<OwnedFd>,
    ended: bool,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(arena: &'a Arena, writer: Writer, run: Run, launch: &Launch) -> Self {
        let (watched, cut, refused) = (Vec::new(), Vec::new(), None);
        let (max_size, debugged) = (launch.max_size, !launch.debugger.is_empty());
        let functions = Functions::new(&launch.functions);
        Collector { arena, writer, run, max_size, debugged, watched, functions, cut, refused }
    }

    /// Whether there was anything to record.
    pub(crate) fn recorded(&self) -> bool {
        !self.run.processes.is_empty()
    }

    /// Why the trace could not be written to its end, if so.
    pub(crate) fn refused(&mut self) -> Option<io::Error> {
        self.refused.take()
    }

    /// Collects until `status` says that the subject has ended, and its children have, too.
    pub(crate) fn collect(
        &mut self,
        mut status: impl FnMut() -> Option<ExitStatus>,
        signals: &Signals,
    ) {
        loop {
            let bell = self.arena.control().bell.load(Ordering::SeqCst);
            let ended = status();
            self.functions.answer(self.arena);
            self.add_processes();
            let busy = self.sweep();
            if let Some(status) = ended {
                self.first_ended(status);
                if self.watched.iter().all(|it| it.ended) {
                    return;
                }
                self.forward(signals);
            }
            if !busy {
                self.arena.sleep(bell);
            }
        }
    }

    /// Signals that arrive after the subject has ended are forwarded to its children that still run.
    fn forward(&self, signals: &Signals) {
        while let Some(sent) = signals.next(|it| self.arena.has_process(it)) {
            let running = self.watched.iter().filter_map(|it| it.handle.as_ref());
            running.for_each(|it| sent.send(it.as_fd()));
        }
    }

    /// Removes the trace of a subject that could not be started.
    pub(crate) fn abandon(self) {
        self.writer.abandon();
    }

    /// Writes the final description.
    pub(crate) fn finish(
        mut self,
        controlled: Option<Controlled>,
        collected: Option<Collected>,
    ) -> io::Result<Run> {
        let control = self.arena.control();
        self.run.complete = true;
        self.run.controlled = controlled;
        self.run.collected = collected;
        self.run.functions = self.functions.describe();
        let refused = self.arena.inquiry().refused.load(Ordering::Relaxed);
        self.run.refused_functions = u64::from(refused) + self.functions.left_out;
        self.run.late_events = control.late.load(Ordering::Relaxed);
        self.run.unrecorded_processes = u64::from(control.unentered.load(Ordering::Relaxed));
        self.run.unrecorded_threads = u64::from(control.unslotted.load(Ordering::Relaxed));
        for (process, entry) in self.run.processes.iter_mut().zip(self.arena.processes()) {
            process.threads = entry.threads.load(Ordering::Relaxed);
        }
        let run = self.run;
        self.writer.finish(&run)?;
        Ok(run)
    }

    fn add_processes(&mut self) {
        for entry in &self.arena.processes()[self.watched.len()..] {
            let pid = entry.pid.load(Ordering::Acquire);
            if pid == 0 {
                // The entry is reserved for a fork that has not happened yet: check again later.
                break;
            }
            if self.watched.is_empty() {
                self.begin();
            }
            let number = u32::try_from(self.watched.len()).unwrap_or(u32::MAX);
            let replaced = self.run.processes.iter().rposition(|it| it.pid == pid);
            if let Some(previous) = replaced.filter(|&it| !self.watched[it].ended) {
                self.ended(previous, End::Exec);
            }
            self.watched.push(Watched::new(pid));
            let end = End::Unknown;
            let parent = entry.parent;
            self.run.processes.push(Process {
                number,
                pid,
                parent,
                end,
                threads: 0,
                lost: 0,
                blocked: Vec::new(),
            });
        }
    }

    fn begin(&mut self) {
        if let Err(error) = self.writer.begin(&self.run) {
            self.refuse(error);
        }
    }

    /// Moves every full chunk. Returns whether there was one.
    fn sweep(&mut self) -> bool {
        let mut busy = false;
        for slot in self.arena.slots() {
            let state = slot.head().state.load(Ordering::Acquire);
            if state == state::LIVE || state == state::DONE {
                busy |= self.drain(slot);
            }
            if state == state::DONE {
                self.account(slot);
                slot.free();
            }
        }
        let watched = self.watched.iter().enumerate();
        let gone: Vec<_> =
            watched.filter_map(|(at, it)| (!it.ended && it.is_gone()).then_some(at)).collect();
        if !gone.is_empty() {
            // Another program may have replaced it before it was gone.
            self.add_processes();
        }
        for number in gone {
            if !self.watched[number].ended {
                self.ended(number, End::Unknown);
            }
        }
        busy
    }

    fn drain(&mut self, slot: Slot<'_>) -> bool {
        let head = slot.head();
        let mut taken = head.taken.load(Ordering::Relaxed);
        let filled = head.filled.load(Ordering::Acquire);
        let busy = taken != filled;
        while taken != filled {
            self.write(slot.chunk(taken, None));
            slot.take();
            taken = taken.wrapping_add(1);
        }
        busy
    }

    /// Completes the trace of an ended process with the partly filled chunks of its threads.
    fn ended(&mut self, number: usize, end: End) {
        for slot in self.arena.slots() {
            let head = slot.head();
            let state = head.state.load(Ordering::Acquire);
            if head.process as usize != number || state == state::FREE {
                continue;
            }
            self.drain(slot);
            let index = head.filled.load(Ordering::Acquire);
            if let (state::LIVE, Some(len)) = (state, slot.partial(index)) {
                self.write(slot.chunk(index, Some(len)));
            }
            self.account(slot);
            self.note_blocked(slot);
            slot.free();
        }
        self.watched[number] = Watched { pid: None, handle: None, ended: true };
        self.writer.close(self.run.processes[number].number);
        let exiting = self.arena.processes()[number].exiting.load(Ordering::Acquire);
        self.run.processes[number].end = match (end, exiting) {
            (End::Unknown, 1..) => End::Exited((exiting - 1).cast_signed()),
            _ => end,
        };
    }

    /// Sets the end of the subject from its exit status, which is known because the subject is a child of
    /// the recorder. In a debugger it is not, and is tracked like its own children.
    fn first_ended(&mut self, status: ExitStatus) {
        use std::os::unix::process::ExitStatusExt as _;
        if self.debugged {
            return;
        }
        let first = self.run.processes.first().map(|it| it.pid);
        let Some(last) = self.run.processes.iter().rposition(|it| Some(it.pid) == first) else {
            return;
        };
        if !self.watched[last].ended {
            self.ended(last, End::Unknown);
        }
        let signaled = status.signal().map(End::Signaled);
        self.run.processes[last].end =
            signaled.or(status.code().map(End::Exited)).unwrap_or(End::Unknown);
    }

    fn account(&mut self, slot: Slot<'_>) {
        let lost = slot.head().lost.swap(0, Ordering::Relaxed);
        if let Some(process) = self.run.processes.get_mut(slot.head().process as usize) {
            process.lost += lost;
        }
    }

    fn note_blocked(&mut self, slot: Slot<'_>) {
        let head = slot.head();
        let kind = u16::try_from(head.blocked.load(Ordering::Acquire)).unwrap_or(0);
        if let (1.., Some(process)) = (kind, self.run.processes.get_mut(head.process as usize)) {
            let object = head.blocked_on.load(Ordering::Relaxed);
            let pc = head.blocked_at.load(Ordering::Relaxed);
            process.blocked.push(Blocked { thread: head.thread, kind, object, pc });
        }
    }

    fn write(&mut self, (header, bytes): (ChunkHeader, &[u8])) {
        let thread = (header.process, header.thread);
        if self.cut.contains(&thread) {
            return;
        }
        if let Err(error) = self.writer.append(header, bytes) {
            self.cut.push(thread);
            self.refuse(error);
        } else if self.writer.written() >= self.max_size {
            self.stop(StopReason::Size);
        }
    }

    fn refuse(&mut self, error: io::Error) {
        self.refused.get_or_insert(error);
        self.stop(StopReason::Disk);
    }

    /// Makes the subject stop recording.
    fn stop(&mut self, why: StopReason) {
        let control = self.arena.control();
        let code = if why == StopReason::Size { STOP_SIZE } else { STOP_DISK };
        let seq = control.seq.0.load(Ordering::SeqCst);
        if control.stop.swap(code, Ordering::SeqCst) == STOP_NO && self.run.stopped.is_none() {
            self.run.stopped = Some(Stop { why, seq });
        }
    }
}

impl Watched {
    fn new(pid: u32) -> Watched {
        let ended = pid == NO_PROCESS;
        let pid = Pid::from_raw(pid.cast_signed()).filter(|_| !ended);
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        Watched { pid, handle, ended }
    }

    /// Whether the process has ended. There is no handle if it had ended before, or if too many files
    /// are open.
    fn is_gone(&self) -> bool {
        let Some(handle) = &self.handle else {
            return self.pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH));
        };
        let mut polled = [PollFd::new(handle, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut polled, Some(&now)).is_ok_and(|ready| ready > 0)
    }
}
