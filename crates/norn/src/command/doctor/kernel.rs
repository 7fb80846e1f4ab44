//! The system: processor, kernel and its settings, C library.

use std::{env::consts, fs, process::Command};

use rustix::fs::{MemfdFlags, memfd_create};

use super::{Check, Level};

/// Default maximum number of mappings of a process in Linux.
const USUAL_MAPPINGS: u64 = 65_530;

pub(super) fn checks() -> Vec<Check> {
    vec![platform(), libc(), memfd(), address_layout(), ptrace(), mappings()]
}

fn check(name: &'static str, found: impl Into<String>) -> Check {
    Check::ok("system", name, found)
}

/// A setting of the kernel.
fn setting(path: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/sys/{path}")).ok().map(|it| it.trim().to_owned())
}

fn platform() -> Check {
    let release = setting("kernel/osrelease").unwrap_or_else(|| "unknown release".to_owned());
    let check = check("platform", format!("{} {release}, {}", consts::OS, consts::ARCH));
    if (consts::OS, consts::ARCH) == ("linux", "x86_64") {
        return check;
    }
    check.bad(Level::Problem, "norn works on Linux on x86-64")
}

fn libc() -> Check {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok();
    let version = output.filter(|it| it.status.success());
    match version.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned()) {
        Some(version) if !version.is_empty() => check("C library", version),
        _ => check("C library", "not the GNU C library, or unknown")
            .bad(Level::Warning, "norn is tested with glibc only"),
    }
}

/// Checks memory files, through which recorder and program share memory.
fn memfd() -> Check {
    match memfd_create("norn-doctor", MemfdFlags::CLOEXEC) {
        Ok(_) => check("memfd", "available"),
        Err(error) => check("memfd", error.to_string())
            .bad(Level::Problem, "memfd_create is not allowed here: is this a sandbox?"),
    }
}

/// Reports address space randomization. The self-test checks whether norn can turn it off.
fn address_layout() -> Check {
    let value = setting("kernel/randomize_va_space");
    let found = match value.as_deref() {
        Some("0") => "not randomised",
        Some(_) => "randomised; norn switches that off for the programs it runs",
        None => "unknown",
    };
    check("address layout", found)
}

fn ptrace() -> Check {
    match setting("kernel/yama/ptrace_scope") {
        Some(scope) if scope == "3" => check("ptrace", "forbidden (ptrace_scope is 3)")
            .bad(Level::Warning, "`norn replay --gdb` needs kernel.yama.ptrace_scope below 3"),
        Some(scope) => check("ptrace", format!("ptrace_scope is {scope}")),
        None => check("ptrace", "not restricted"),
    }
}

fn mappings() -> Check {
    let Some(count) = setting("vm/max_map_count").and_then(|it| it.parse::<u64>().ok()) else {
        return check("mappings", "unknown");
    };
    let check = check("mappings", format!("at most {count} (vm.max_map_count)"));
    if count >= USUAL_MAPPINGS {
        return check;
    }
    let hint =
        format!("programs with many threads need more: sysctl vm.max_map_count={USUAL_MAPPINGS}");
    check.bad(Level::Warning, hint)
}
