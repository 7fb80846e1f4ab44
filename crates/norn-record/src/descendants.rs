//! Finds and kills the processes that a run has started.
//!
//! The shared memory lists processes, but the subject may have overwritten it, and not every process
//! that it starts is recorded, so `/proc` is read instead. Orphans become children of the recorder
//! (see [`adopt_orphans`]), so that every process of a run descends from it.
#![expect(
    unsafe_code,
    reason = "adopts orphans and interrupts threads by calls that Rust cannot check"
)]

use std::{collections::BTreeSet, fs};

use rustix::process::{
    Pid, Signal, WaitOptions, kill_process, test_kill_process, test_kill_process_group, waitpid,
};

/// From now on, a process whose parent has ended becomes a child of the recorder.
pub(crate) fn adopt_orphans() {
    // SAFETY: only sets a flag of this process. If it cannot be set, orphans are not found.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// A process as `/proc` describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessInfo {
    pid: i32,
    parent: i32,
    group: i32,
}

/// Kills the subject, its descendants, the processes of its group if it has its own, and those of
/// `recorded`, but only processes that descend from the recorder. Returns their number.
pub(crate) fn kill(
    subject: i32,
    own_group: bool,
    recorded: impl Iterator<Item = i32> + Clone,
) -> usize {
    if own_group && !any_alive(subject, recorded.clone()) {
        return 0;
    }
    let all = all();
    let ours = descendants(&all, own_pid());
    let mut targets = descendants(&all, subject);
    targets.insert(subject);
    targets.extend(recorded);
    targets.extend(all.iter().filter(|it| own_group && it.group == subject).map(|it| it.pid));
    targets.retain(|it| ours.contains(it));
    for pid in targets.iter().copied().filter_map(Pid::from_raw) {
        // The process may have ended by itself.
        let _ = kill_process(pid, Signal::KILL);
        if pid.as_raw_nonzero().get() != subject {
            // `launch` waits for the subject; of the others, only orphans are children of the recorder.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
    targets.len()
}

/// Whether there may be processes to kill: a quick check, since most runs leave none behind. The
/// children of an ended subject are children of the recorder, so only their process group and the
/// records identify them.
fn any_alive(subject: i32, recorded: impl Iterator<Item = i32>) -> bool {
    let group = Pid::from_raw(subject).is_some_and(|it| test_kill_process_group(it).is_ok());
    let alive = |pid| Pid::from_raw(pid).is_some_and(|it| test_kill_process(it).is_ok());
    group || recorded.into_iter().any(alive)
}

/// Interrupts a process that a debugger has started, in the given thread if there is one. A process
/// that is not a traced descendant of the debugger is left alone. Returns whether it is one.
pub(crate) fn interrupt(debugger: i32, pid: i32, thread: Option<i32>) -> bool {
    if !descendants(&all(), debugger).contains(&pid) || !is_traced(pid) {
        return false;
    }
    // SAFETY: the debugger intercepts the signal; a thread that does not exist is an error.
    unsafe { libc::syscall(libc::SYS_tgkill, pid, thread.unwrap_or(pid), libc::SIGINT) == 0 }
}

/// Whether a process has ended, reaped or not.
pub(crate) fn is_gone(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rfind(')').and_then(|at| stat[at + 1..].trim_start().chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

fn is_traced(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|it| it.strip_prefix("TracerPid:"));
    tracer.is_some_and(|it| it.trim() != "0")
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

fn all() -> Vec<ProcessInfo> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|it| it.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?))
        .collect()
}

/// A line of `/proc/PID/stat`: `12 (name) S parent group …`. The name may contain anything.
fn parse(pid: i32, stat: &str) -> Option<ProcessInfo> {
    let mut words = stat.get(stat.rfind(')')? + 1..)?.split_whitespace().skip(1);
    let parent = words.next()?.parse().ok()?;
    Some(ProcessInfo { pid, parent, group: words.next()?.parse().ok()? })
}

fn descendants(all: &[ProcessInfo], ancestor: i32) -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    let mut open = vec![ancestor];
    while let Some(parent) = open.pop() {
        let children = all.iter().filter(|it| it.parent == parent).map(|it| it.pid);
        open.extend(children.filter(|&it| found.insert(it)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32) -> ProcessInfo {
        ProcessInfo { pid, parent, group: 0 }
    }

    #[test]
    fn names_may_contain_anything() {
        let found = parse(7, "7 (a) S 1 2) R 5 6 7 0 -1");
        assert_eq!(found, Some(ProcessInfo { pid: 7, parent: 5, group: 6 }));
        assert_eq!(parse(7, "7 (a"), None);
    }

    #[test]
    fn descendants_are_transitive() {
        let all = [process(2, 1), process(3, 2), process(4, 3), process(5, 1), process(1, 1)];
        assert_eq!(descendants(&all, 2), BTreeSet::from([3, 4]));
    }
}
