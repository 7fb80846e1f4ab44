//! Keeps two commands from using one output folder at the same time: each would overwrite the trace,
//! the program and the clips of the other.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// How long to wait for a lock. A child has the locks of its parent until it executes its own program. If
/// a command is killed at that moment, its lock outlives it by the time the child needs to get there.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// A lock on a folder. The kernel releases it when the command ends, however it ends.
#[derive(Debug)]
pub(crate) struct OutputLock {
    /// The folder itself is locked, so that no file has to be added to it.
    _folder: Option<File>,
    /// The folder, if it was created to be locked.
    made: Option<PathBuf>,
}

impl OutputLock {
    /// Locks a folder, which is created if necessary. A folder that cannot be created or opened is
    /// not locked; whoever writes to it reports that.
    pub(crate) fn new(folder: &Path) -> anyhow::Result<OutputLock> {
        let made = (!folder.exists()).then(|| folder.to_owned());
        let opened = fs::create_dir_all(folder).and_then(|()| File::open(folder)).ok();
        if opened.as_ref().is_some_and(|it| !lock(it)) {
            anyhow::bail!(
                "another norn writes to `{}`\nhint: choose another folder with -o, or wait until it has ended",
                folder.display()
            );
        }
        Ok(OutputLock { _folder: opened, made })
    }
}

/// Whether the folder could be locked, or cannot be locked at all, as on some network file systems.
fn lock(folder: &File) -> bool {
    let begun = Instant::now();
    while let Err(TryLockError::WouldBlock) = folder.try_lock() {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        thread::sleep(PAUSE);
    }
    true
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // This removes only an empty folder: nothing was written to it.
        if let Some(folder) = &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("run.norn");
        let lock = OutputLock::new(&folder).unwrap();
        let refused = OutputLock::new(&folder).unwrap_err().to_string();
        assert!(refused.starts_with("another norn writes to `"), "{refused}");
        assert!(OutputLock::new(&scratch.path().join("other.norn")).is_ok());
        drop(lock);
        assert!(OutputLock::new(&folder).is_ok());
    }

    /// As of a child that has not executed its program yet.
    #[test]
    fn a_lock_that_is_about_to_be_released_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let lock = OutputLock::new(folder.path()).unwrap();
        let holder = thread::spawn(move || {
            thread::sleep(PATIENCE / 10);
            drop(lock);
        });
        assert!(OutputLock::new(folder.path()).is_ok());
        holder.join().unwrap();
    }

    #[test]
    fn an_empty_folder_is_removed_and_a_used_one_stays() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("run.norn");
        drop(OutputLock::new(&folder).unwrap());
        assert!(!folder.exists());
        let lock = OutputLock::new(&folder).unwrap();
        fs::write(folder.join("run.json"), "{}").unwrap();
        drop(lock);
        assert!(folder.exists());
    }
}
