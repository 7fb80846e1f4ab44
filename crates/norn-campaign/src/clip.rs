//! Clips of failing runs.

use std::{fs, path::Path};

use norn_model::Consequence;
use norn_replay::{ReplayError, SymbolizedTrace};

/// A folder for the clips of a campaign.
#[derive(Debug)]
pub(crate) struct ClipFolder<'a> {
    folder: &'a Path,
    count: usize,
}

impl<'a> ClipFolder<'a> {
    pub(crate) fn new(folder: &'a Path) -> ClipFolder<'a> {
        ClipFolder { folder, count: 0 }
    }

    /// Writes the clip of a run. Returns its path.
    pub(crate) fn write(
        &mut self,
        symbolized: &SymbolizedTrace,
        consequence: &Consequence,
    ) -> Result<String, ReplayError> {
        let failed = |source| ReplayError::Scratch { path: self.folder.to_owned(), source };
        fs::create_dir_all(self.folder).map_err(failed)?;
        let mut clip = norn_replay::capture(symbolized);
        clip.expect = Some(consequence.clone());
        self.count += 1;
        let path = self.folder.join(format!("{}.json", self.count));
        clip.write(&path)?;
        Ok(path.display().to_string())
    }
}
