//! Stores clips of runs, numbered in the order in which they were confirmed or observed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use norn_replay::{Clip, ReplayError};
use norn_trace::file;

/// The directory of the clips.
#[derive(Debug)]
pub(crate) struct ClipStore {
    folder: PathBuf,
    confirmed: usize,
    observed: usize,
    not_reproduced: usize,
}

impl ClipStore {
    pub(crate) fn new(folder: PathBuf) -> ClipStore {
        ClipStore { folder, confirmed: 0, observed: 0, not_reproduced: 0 }
    }

    /// Number of clips of confirmed findings.
    pub(crate) fn confirmed(&self) -> usize {
        self.confirmed
    }

    /// Stores the clip of a confirmed finding.
    pub(crate) fn save(&mut self, clip: &Clip) -> Result<PathBuf, ReplayError> {
        self.confirmed += 1;
        self.write(clip, &format!("{}.json", self.confirmed))
    }

    /// Replaces an earlier clip with one that shows more.
    pub(crate) fn replace(clip: &Clip, path: &Path) -> Result<(), ReplayError> {
        clip.write(path)
    }

    /// Stores the clip of a failure that was not predicted.
    pub(crate) fn save_observed(&mut self, clip: &Clip) -> Result<PathBuf, ReplayError> {
        self.observed += 1;
        self.write(clip, &format!("observed-{}.json", self.observed))
    }

    /// Stores the clip of what happened once and not again in a replay.
    pub(crate) fn save_not_reproduced(&mut self, clip: &Clip) -> Result<PathBuf, ReplayError> {
        self.not_reproduced += 1;
        self.write(clip, &format!("not-reproduced-{}.json", self.not_reproduced))
    }

    /// Removes all clips of failures that were not predicted.
    pub(crate) fn forget_observed(&mut self) {
        for number in 1..=std::mem::take(&mut self.observed) {
            // A file that stays is overwritten or ignored.
            let _ = fs::remove_file(self.folder.join(format!("observed-{number}.json")));
        }
    }

    fn write(&self, clip: &Clip, name: &str) -> Result<PathBuf, ReplayError> {
        let failed = |source| ReplayError::Scratch { path: self.folder.clone(), source };
        file::refuse_link(&self.folder).map_err(failed)?;
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let path = self.folder.join(name);
        clip.write(&path)?;
        Ok(path)
    }
}
