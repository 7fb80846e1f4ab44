//! Runs norn in a folder.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use norn_e2e::process;
pub(crate) use norn_e2e::process::Ran;
use tempfile::TempDir;

/// The program under test.
const NORN: &str = env!("CARGO_BIN_EXE_norn");

/// Two threads update a counter without a lock; the assertion fails if an update is lost.
pub(crate) const LOST_UPDATE: &str = r"
#include <assert.h>
#include <pthread.h>
static int counter;
static void *add(void *arg) { int seen = counter; counter = seen + 1; return arg; }
int main(void) {
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
    assert(counter == 2);
    return 0;
}
";

/// A schedule in which an update is lost: both threads read before one writes.
pub(crate) const SCHEDULE: &str = r#"[
    {"thread": "T0", "until": {"before": "join"}},
    {"thread": "T0.1", "until": {"before": "write"}},
    {"thread": "T0.2", "until": "end"}]"#;

/// A folder with a file.
pub(crate) fn folder(name: &str, text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(name), text).unwrap();
    folder
}

/// A folder with the program `prog`, built from a source.
pub(crate) fn program(source: &str) -> TempDir {
    let folder = folder("prog.c", source);
    let ran = norn(folder.path(), ["cc", "-g", "-pthread", "prog.c", "-o", "prog"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    folder
}

/// A command of norn in a folder.
pub(crate) fn norn<S: AsRef<OsStr>>(folder: &Path, words: impl IntoIterator<Item = S>) -> Ran {
    let mut command = process::norn(Path::new(NORN), Path::new(env!("CARGO_TARGET_TMPDIR")), words);
    command.current_dir(folder);
    process::run(command)
}

/// Fails unless the command ended with an error in this text, printed nothing else and did not panic.
#[track_caller]
pub(crate) fn assert_refused(ran: &Ran, why: &str) {
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""), "{ran:?}");
    assert!(ran.stderr.contains(why), "{why}: {ran:?}");
    assert!(!ran.stderr.contains("panicked"), "{ran:?}");
}

/// Makes a FIFO that nobody writes to.
pub(crate) fn fifo(path: &Path) -> PathBuf {
    let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
    path.to_owned()
}
