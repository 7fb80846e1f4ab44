//! Limits of this process, and room for temporary files.

use std::{env, fs, path::Path};

use norn_record::ADDRESS_SPACE;
use rustix::fs::statvfs;

use super::{Check, Level};

/// Size of the trace of a long run in bytes.
const ROOM: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

pub(super) fn checks() -> Vec<Check> {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    vec![address_space(&limits), file_size(&limits), room(&env::temp_dir())]
}

fn check(name: &'static str, found: impl Into<String>) -> Check {
    Check::ok("limits", name, found)
}

/// The soft limit of this name in `/proc/self/limits`; none if it is unlimited.
fn soft(limits: &str, name: &str) -> Option<u64> {
    let line = limits.lines().find_map(|it| it.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

fn address_space(limits: &str) -> Check {
    let Some(limit) = soft(limits, "Max address space") else {
        return check("address space", "unlimited");
    };
    let check = check("address space", format!("{} MiB", limit / MIB));
    let needed = ADDRESS_SPACE as u64;
    if limit > needed {
        return check;
    }
    let hint =
        format!("recording needs {} MiB, most of it unused: ulimit -v unlimited", needed / MIB);
    check.bad(Level::Problem, hint)
}

fn file_size(limits: &str) -> Check {
    let Some(limit) = soft(limits, "Max file size") else { return check("file size", "unlimited") };
    let check = check("file size", format!("{} MiB", limit / MIB));
    // The memory that recorder and program share is a file to the kernel.
    if limit <= ADDRESS_SPACE as u64 {
        let needed = ADDRESS_SPACE as u64 / MIB;
        let hint = format!("recording needs files of {needed} MiB: ulimit -f unlimited");
        return check.bad(Level::Problem, hint);
    }
    check.bad(Level::Warning, "traces end at this size: ulimit -f unlimited")
}

fn room(folder: &Path) -> Check {
    let found = folder.display();
    match statvfs(folder) {
        Ok(it) => {
            let free = it.f_bavail * it.f_frsize;
            let check = check("temporary files", format!("{} MiB free in {found}", free / MIB));
            if free >= ROOM {
                return check;
            }
            check.bad(Level::Warning, "traces of long runs need more; set TMPDIR to another folder")
        }
        Err(error) => check("temporary files", format!("{found}: {error}"))
            .bad(Level::Problem, "norn needs a folder for temporary files; TMPDIR names one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max file size             4096                 unlimited            bytes
Max address space         unlimited            unlimited            bytes
";

    #[test]
    fn soft_limits_are_parsed() {
        assert_eq!(soft(LIMITS, "Max file size"), Some(4096));
        assert_eq!(soft(LIMITS, "Max address space"), None);
        assert_eq!(soft(LIMITS, "Max open files"), None);
    }

    #[test]
    fn low_limits_are_reported() {
        assert_eq!(file_size(LIMITS).level, Level::Problem);
        assert_eq!(address_space(LIMITS).level, Level::Ok);
        let low = "Max address space         1048576              unlimited            bytes\n";
        assert_eq!(address_space(low).level, Level::Problem);
    }
}
