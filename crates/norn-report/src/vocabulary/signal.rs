//! The names of signals.

/// The names of the signals from 1 on, as on Linux.
const STANDARD: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];
/// The first signal that programs may queue.
const SIGRTMIN: u8 = 34;

/// The name of a signal: `SIGUSR1`, `SIGRTMIN+1`.
pub fn signal_name(signal: u8) -> String {
    let standard = signal.checked_sub(1).and_then(|it| STANDARD.get(usize::from(it)));
    match (standard, signal.checked_sub(SIGRTMIN)) {
        (Some(name), _) => (*name).to_owned(),
        (None, Some(0)) => "SIGRTMIN".to_owned(),
        (None, Some(more)) => format!("SIGRTMIN+{more}"),
        (None, None) => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_the_names_of_the_manual() {
        let names = [1, 10, 15, 31, 32, 34, 35].map(signal_name);
        let expected =
            ["SIGHUP", "SIGUSR1", "SIGTERM", "SIGSYS", "signal 32", "SIGRTMIN", "SIGRTMIN+1"];
        assert_eq!(names, expected);
    }
}
