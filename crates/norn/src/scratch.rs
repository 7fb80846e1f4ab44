//! A temporary folder, which is removed when the command ends, also when it is interrupted. A command
//! that is killed cannot remove its folder: the next command does.

use std::{
    env,
    fs::{self, DirEntry, File},
    io,
    path::Path,
    thread,
    time::Duration,
};

use norn_frontend::Interrupt;
use tempfile::TempDir;

/// How the names of these folders begin.
const PREFIX: &str = "norn-scratch-";
/// The age from which an unlocked folder is removed. A command locks its folder right after it has
/// created it.
const STALE: Duration = Duration::from_mins(1);

/// The folder. While it exists, an interrupt ends the runs but not the command, which then removes the
/// folder and ends by itself.
#[derive(Debug)]
pub(crate) struct Scratch {
    // The folder is removed while interrupts are caught.
    folder: TempDir,
    /// The folder again, locked. The kernel releases the lock when the command ends, however it ends.
    _lock: File,
    _watch: Interrupt,
}

/// How often the removal of the folder is tried: a search that was abandoned may still write to it.
const ATTEMPTS: usize = 20;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

impl Scratch {
    /// Maximum size of a trace in the folder, in bytes. Recording stops there, and the run goes on.
    pub(crate) const MOST_TRACE: u64 = 1 << 30;

    pub(crate) fn new() -> io::Result<Scratch> {
        let watch = Interrupt::watch();
        remove_stale(&env::temp_dir(), STALE);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = File::open(folder.path())?;
        lock.lock()?;
        Ok(Scratch { folder, _lock: lock, _watch: watch })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for _ in 0..ATTEMPTS {
            match fs::remove_dir_all(self.folder.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(PAUSE),
                _ => return,
            }
        }
    }
}

/// Removes the folders of commands that were killed.
fn remove_stale(parent: &Path, age: Duration) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_str().is_some_and(|it| it.starts_with(PREFIX));
        if ours && is_stale(&entry, age).unwrap_or(false) {
            // That of another user cannot be removed.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_stale(entry: &DirEntry, age: Duration) -> io::Result<bool> {
    let metadata = entry.metadata()?;
    let old = metadata.modified()?.elapsed().is_ok_and(|it| it >= age);
    Ok(metadata.is_dir() && old && File::open(entry.path())?.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_killed_command_is_removed_and_that_of_a_running_one_stays() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "content").unwrap();
            path
        };
        let killed = folder("norn-scratch-killed");
        let running = folder("norn-scratch-running");
        let other = folder("norn-cache");
        let lock = File::open(&running).unwrap();
        lock.lock().unwrap();
        remove_stale(parent.path(), STALE);
        assert!(killed.exists(), "it is too young");
        remove_stale(parent.path(), Duration::ZERO);
        assert!(!killed.exists());
        assert!(running.exists() && other.exists());
    }

    #[test]
    fn a_scratch_folder_is_locked_and_removed() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path().to_owned();
        assert!(File::open(&path).unwrap().try_lock().is_err());
        drop(scratch);
        assert!(!path.exists());
    }
}
