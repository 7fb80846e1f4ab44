//! The identity of a process that makes runs.
//!
//! Its name says where and when it was started. So another process of the same machine can see that it
//! has died, and need not wait until its leases expire.

use std::{fs, process};

/// The name of this process: host, process number, and what makes it unique: the boot of the machine,
/// the namespace of process numbers (containers have their own), and the start of the process.
pub fn worker_name() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let started = started(process::id()).unwrap_or_default();
    format!("{host} {} {} {started}", process::id(), machine())
}

/// Whether a worker was a process of this machine that has ended.
pub fn is_dead(worker: &str) -> bool {
    let mut words = worker.rsplitn(4, ' ');
    let (Some(start), Some(there), Some(process)) = (words.next(), words.next(), words.next())
    else {
        return false;
    };
    let Ok(process) = process.parse() else { return false };
    there == machine() && started(process).as_deref() != Some(start)
}

fn machine() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let number = namespace.to_string_lossy().replace(|it: char| !it.is_ascii_digit(), "");
    format!("{}-{number}", boot.trim())
}

/// When a process was started, in ticks since the boot; none if it has ended.
fn started(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in parentheses, may contain anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    // A zombie has ended, and waits for its parent.
    let state = fields.next()?;
    if state == "Z" { None } else { fields.nth(18).map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_processes_of_this_machine_that_have_ended_are_dead() {
        let own = worker_name();
        assert!(!is_dead(&own));
        let mut child = process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let ended = own.replacen(&format!(" {} ", process::id()), &format!(" {} ", child.id()), 1);
        assert!(is_dead(&ended), "{ended}");
        // The number was given to another process.
        assert!(is_dead(&format!("{own}0")));
        // Another machine, whose processes are unknown here.
        assert!(!is_dead(&ended.replace(&machine(), "elsewhere-1")));
        assert!(!is_dead("someone"));
    }
}
