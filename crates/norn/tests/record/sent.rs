//! Signals to the recorder are forwarded to the subject.

use std::{
    fs,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use crate::kit::{Ran, Recorded, finish, is_installed, kill, record, run, start, subject};

/// Waits until the subject has printed a number of lines, and returns the last.
fn line(folder: &Path, number: usize) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(folder.join("came")).unwrap_or_default();
        if text.lines().count() >= number && text.ends_with('\n') {
            return text.lines().last().unwrap_or_default().to_owned();
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "line {number} does not come: {text}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Records `signal_sent.c`, sends signals to the recorder one after another, and then one to end.
fn send(arguments: &[&str], signals: &[(&[&str], i32, i32)]) -> Recorded {
    let subject = subject("signal_sent.c").arguments(arguments);
    let folder = tempfile::tempdir().unwrap();
    let recorder = start(subject.recorder(&subject.build(), folder.path()));
    line(folder.path(), 1);
    for (index, (words, signal, value)) in signals.iter().enumerate() {
        let mut command = Command::new("kill");
        command.args(*words).arg("--").arg(recorder.id().to_string());
        assert!(run(command).status.success(), "kill {words:?}");
        assert_eq!(line(folder.path(), index + 2), format!("came {signal} {value}"));
    }
    kill("-TERM", &recorder.id().to_string());
    Recorded::new(finish("norn record signal_sent.c", recorder), folder)
}

fn count(recorded: &Recorded) -> usize {
    fs::read_to_string(recorded.folder.path().join("came")).unwrap().lines().count()
}

#[test]
fn signals_are_forwarded() {
    let recorded = send(
        &[],
        &[
            (&["-INT"], 2, 0),
            (&["-QUIT"], 3, 0),
            (&["-HUP"], 1, 0),
            (&["-ABRT"], 6, 0),
            (&["-USR1"], 10, 0),
            (&["-USR2"], 12, 0),
            (&["-ALRM"], 14, 0),
            (&["-WINCH"], 28, 0),
            (&["-40"], 40, 0),
            (&["-q", "1234", "-USR1"], 10, 1234),
        ],
    );
    assert_eq!(recorded.ran.status.code(), Some(3));
    assert_eq!(count(&recorded), 12, "each comes once");
    assert_eq!(recorded.info()["complete"], true);
}

/// When the subject has ended, but a child of it has not.
#[test]
fn signals_are_forwarded_to_remaining_children() {
    let recorded = send(&["later"], &[(&["-INT"], 2, 0), (&["-USR1"], 10, 0)]);
    assert_eq!(recorded.ran.status.code(), Some(5));
    assert_eq!(count(&recorded), 4, "each comes once");
    let info = recorded.info();
    assert_eq!(info["complete"], true);
    assert_eq!(info["processes"][1]["end"]["exited"], 3);
}

#[test]
fn an_unhandled_signal_ends_the_subject() {
    for (signal, number) in [("-INT", 2), ("-USR1", 10)] {
        let subject = subject("killed.c").arguments(&["kept"]);
        let folder = tempfile::tempdir().unwrap();
        let recorder = start(subject.recorder(&subject.build(), folder.path()));
        let begun = Instant::now();
        while !fs::read(folder.path().join("kept")).is_ok_and(|it| it.iter().any(|&it| it != 0)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "the subject does not begin");
            thread::sleep(Duration::from_millis(1));
        }
        kill(signal, &recorder.id().to_string());
        let recorded = Recorded::new(finish("norn record killed.c", recorder), folder);
        let status = recorded.ran.status;
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(number));
        let info = recorded.info();
        assert_eq!((&info["complete"], &info["end"]["signaled"]), (&true.into(), &number.into()));
    }
}

#[test]
fn a_signal_of_the_subject_to_its_group_arrives_once() {
    assert_eq!(record("signal_group.c").ran.stdout, "3\n");
}

/// On a terminal: the key interrupts the subject, once, and the recorder not at all. No shell stays
/// between them and the terminal, since some end by the key themselves.
#[test]
fn a_key_of_the_terminal_interrupts_the_subject_once() {
    if !is_installed("script") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let subject = subject("interrupt_key.c");
    let recorder = subject.recorder(&subject.build(), folder.path());
    let words = [recorder.get_program()].into_iter().chain(recorder.get_args());
    let words: Vec<String> = words.map(|it| format!("'{}'", it.display())).collect();
    let typing = "while ! grep -q ready screen; do sleep 0.01; done; printf '\\003'; sleep 2";
    let line =
        format!("touch screen; ({typing}) | script -qefc \"exec {}\" screen", words.join(" "));
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(folder.path());
    let ran: Ran = run(shell);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert!(ran.stdout.ends_with("1\r\n"), "{ran:?}");
    assert_eq!(Recorded::new(ran, folder).info()["complete"], true);
}

/// The dispositions that it inherits reach the subject as they are.
#[test]
fn ignored_signals_stay_ignored() {
    let subject = subject("signal_state.c");
    let folder = tempfile::tempdir().unwrap();
    let program = subject.build();
    let recorder = subject.recorder(&program, folder.path());
    let ignoring = |command: Command| {
        let mut shell = Command::new("sh");
        let script = "trap '' HUP INT PIPE USR1 XFSZ; exec \"$@\"";
        shell.args(["-c", script, "sh"]).arg(command.get_program()).args(command.get_args());
        run(shell)
    };
    let native = ignoring(Command::new(&program));
    assert_eq!(native.stdout.lines().count(), 5, "{native:?}");
    assert_eq!(native, ignoring(recorder));
}
