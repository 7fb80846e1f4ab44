//! Keeps two commands from using one output folder at the same time: each would overwrite the trace,
//! the program and the clips of the other.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

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
        if let Some(Err(TryLockError::WouldBlock)) = opened.as_ref().map(File::try_lock) {
            anyhow::bail!(
                "another norn writes to `{}`\nhint: choose another folder with -o, or wait until it has ended",
                folder.display()
            );
        }
        Ok(OutputLock { _folder: opened, made })
    }
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
