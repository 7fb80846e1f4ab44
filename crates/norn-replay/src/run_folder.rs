//! Folders for the files of runs that are not kept: the trace, and what the program printed.
//!
//! File systems create and remove files slowly: before ext4 takes an inode, it looks at all those that were removed
//! within the last seconds. So the folder of a run that is no longer needed is used for the next one, and the files of
//! its trace are overwritten. What the program printed is removed: a process that outlives its run may still write
//! there.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use norn_frontend::Streams;
use norn_trace::can_be_overwritten;

use crate::ReplayError;

/// Folders for runs, in one that is removed with all of them.
#[derive(Clone, Debug)]
pub struct RunFolders(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    parent: PathBuf,
    made: AtomicUsize,
    unused: Mutex<Vec<PathBuf>>,
}

/// The folder of a run, until its files are no longer needed.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    pool: Arc<Pool>,
}

impl RunFolders {
    /// Makes folders in this one.
    pub fn new(parent: &Path) -> RunFolders {
        let (made, unused) = (AtomicUsize::new(0), Mutex::default());
        RunFolders(Arc::new(Pool { parent: parent.to_owned(), made, unused }))
    }

    /// A folder that no other run uses.
    pub fn take(&self) -> Result<RunFolder, ReplayError> {
        let pool = Arc::clone(&self.0);
        let unused = pool.unused().pop();
        let path = unused.map_or_else(|| pool.make(), Ok)?;
        Ok(RunFolder { path, pool })
    }
}

impl Pool {
    fn make(&self) -> Result<PathBuf, ReplayError> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.parent.join(format!("run-{number}"));
        match fs::create_dir_all(&path) {
            Ok(()) => Ok(path),
            Err(source) => Err(ReplayError::Scratch { path, source }),
        }
    }

    fn unused(&self) -> MutexGuard<'_, Vec<PathBuf>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunFolder {
    /// The folder of the trace, `stdout` and `stderr`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the trace.
    pub fn trace(&self) -> PathBuf {
        self.path.join("trace")
    }

    /// The file of the standard output.
    pub fn stdout(&self) -> PathBuf {
        self.path.join("stdout")
    }

    /// The file of the standard error.
    pub fn stderr(&self) -> PathBuf {
        self.path.join("stderr")
    }

    /// Both files.
    pub fn streams(&self) -> Streams {
        Streams::Files { stdout: self.stdout(), stderr: self.stderr() }
    }

    /// Prepares the folder for the next run.
    fn clear(&self) -> io::Result<bool> {
        for printed in [self.stdout(), self.stderr()] {
            match fs::remove_file(printed) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        can_be_overwritten(&self.trace())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if self.clear().unwrap_or(false) {
            self.pool.unused().push(std::mem::take(&mut self.path));
        } else {
            // If it cannot be removed, it is removed with the folder that contains it.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_used_again_without_what_was_printed() {
        let parent = tempfile::tempdir().unwrap();
        let folders = RunFolders::new(parent.path());
        let (one, other) = (folders.take().unwrap(), folders.take().unwrap());
        assert_ne!(one.path(), other.path());
        fs::create_dir(one.trace()).unwrap();
        for file in [one.stdout(), one.trace().join("0.chunks")] {
            fs::write(file, "something").unwrap();
        }
        let path = one.path().to_owned();
        drop(one);
        let again = folders.take().unwrap();
        assert_eq!(again.path(), path);
        assert!(!again.stdout().exists() && again.trace().join("0.chunks").exists());
        fs::write(again.trace().join("1.chunks"), "of a child").unwrap();
        drop(again);
        assert!(!path.exists());
    }
}
