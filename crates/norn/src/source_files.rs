//! Source files on disk, for reports that show them.
//!
//! Debug information names the files, and someone else may have written it: a report that is passed on must
//! not contain a private file that a program names as its source. So only regular files whose names end as
//! those of source files do are read.

use std::{env, path::Path, path::PathBuf};

use norn_report::writer::SourceFiles;
use norn_trace::file;

/// Maximum size of a source file in bytes.
const MAX_SIZE: u64 = 4 << 20;

/// Source files on disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disk;

impl SourceFiles for Disk {
    /// The folder of the repository that the command runs in, else the current folder.
    fn root(&self) -> Option<PathBuf> {
        let here = env::current_dir().ok()?;
        let repository = here.ancestors().find(|it| it.join(".git").exists());
        Some(repository.unwrap_or(&here).to_owned())
    }

    fn read(&self, name: &str) -> Result<String, String> {
        let path = Path::new(name);
        if !norn_replay::is_source_file(path) {
            return Err("its name is not that of a source file".to_owned());
        }
        let bytes = file::read_regular(path, MAX_SIZE).map_err(|it| it.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_source_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(file("a.c"), "int x;\n").unwrap();
        fs::write(file("id_rsa"), "secret\n").unwrap();
        assert_eq!(Disk.read(&file("a.c")).unwrap(), "int x;\n");
        assert_eq!(
            Disk.read(&file("id_rsa")).unwrap_err(),
            "its name is not that of a source file"
        );
        assert!(Disk.read(&file("b.c")).is_err());
    }
}
