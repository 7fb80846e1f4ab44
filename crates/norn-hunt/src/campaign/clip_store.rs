//! Clips of what the program did, numbered in the order in which it was confirmed or seen.

use std::{
    fs,
    path::{Path, PathBuf},
};

use norn_replay::{Clip, ReplayError};

/// The folder for clips.
#[derive(Debug)]
pub(crate) struct ClipStore {
    folder: PathBuf,
    confirmed: usize,
    observed: usize,
}

impl ClipStore {
    pub(crate) fn new(folder: PathBuf) -> ClipStore {
        ClipStore { folder, confirmed: 0, observed: 0 }
    }

    /// How many clips there are of what was confirmed.
    pub(crate) fn confirmed(&self) -> usize {
        self.confirmed
    }

    /// Keeps a clip of something that was confirmed.
    pub(crate) fn save(&mut self, clip: &Clip) -> Result<PathBuf, ReplayError> {
        self.confirmed += 1;
        self.write(clip, &format!("{}.json", self.confirmed))
    }

    /// Keeps a clip in place of an earlier one, which shows less.
    pub(crate) fn replace(clip: &Clip, path: &Path) -> Result<(), ReplayError> {
        clip.write(path)
    }

    /// Keeps a clip of a failure that nobody had predicted.
    pub(crate) fn save_observed(&mut self, clip: &Clip) -> Result<PathBuf, ReplayError> {
        self.observed += 1;
        self.write(clip, &format!("observed-{}.json", self.observed))
    }

    fn write(&self, clip: &Clip, name: &str) -> Result<PathBuf, ReplayError> {
        let failed = |source| ReplayError::Scratch { path: self.folder.clone(), source };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let path = self.folder.join(name);
        clip.write(&path)?;
        Ok(path)
    }
}
