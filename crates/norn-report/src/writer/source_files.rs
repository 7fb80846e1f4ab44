//! The source files of the program, which the caller reads: writers do not touch the disk.

use std::{
    fmt::Debug,
    path::{Path, PathBuf},
};

/// Gives the text of source files.
pub trait SourceFiles: Debug + Sync {
    /// The folder that paths in a report for other tools are relative to, such as that of the repository.
    fn root(&self) -> Option<PathBuf>;

    /// The text of a file, or why there is none.
    fn read(&self, file: &str) -> Result<String, String>;
}

/// No source files.
#[derive(Clone, Copy, Debug)]
pub struct NoSourceFiles;

impl SourceFiles for NoSourceFiles {
    fn root(&self) -> Option<PathBuf> {
        None
    }

    fn read(&self, _: &str) -> Result<String, String> {
        Err("sources were not read".to_owned())
    }
}

/// The path of a file below a folder, if it is there.
pub(super) fn below<'a>(file: &'a str, root: Option<&Path>) -> Option<&'a str> {
    let path = Path::new(file);
    if path.is_relative() {
        return Some(file.strip_prefix("./").unwrap_or(file)).filter(|_| !leaves(path));
    }
    let inside = path.strip_prefix(root?).ok()?;
    inside.to_str().filter(|_| !leaves(inside))
}

/// Whether a path leads out of the folder that it begins in.
fn leaves(path: &Path) -> bool {
    path.components().any(|it| it == std::path::Component::ParentDir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root_where_they_are_below_it() {
        let root = Some(Path::new("/src/me/bank"));
        assert_eq!(below("/src/me/bank/src/a.c", root), Some("src/a.c"));
        assert_eq!(below("/usr/include/a.h", root), None);
        assert_eq!(below("/src/me/bank/../other/a.c", root), None);
        assert_eq!(below("./src/a.c", root), Some("src/a.c"));
        assert_eq!(below("../a.c", root), None);
        assert_eq!(below("/src/me/bank/a.c", None), None);
    }
}
