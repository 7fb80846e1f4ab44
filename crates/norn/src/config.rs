//! `norn.toml`: defaults of a project.
//!
//! The nearest file counts: in the current folder or in a folder above it. [`crate::cli::parse`] turns
//! its values into defaults of options.

mod file;

use std::{
    env,
    ffi::OsString,
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::Context as _;

use crate::{text_file, verbosity};

/// The name of the file.
const NAME: &str = "norn.toml";

/// Maximum size of the file in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Values of a variable that mean no, as clap reads them.
const FALSE: [&str; 6] = ["0", "f", "false", "n", "no", "off"];

/// The source that this process used, for compilers that it starts.
static USED: OnceLock<Source> = OnceLock::new();

/// Where the configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// `norn.toml` in the current folder or above it, if there is one.
    Nearest,
    /// This file.
    File(PathBuf),
    /// No configuration.
    Nothing,
}

/// Defaults of a project. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Config {
    /// The program of `norn hunt` and `norn check`, and its arguments.
    pub(crate) command: Vec<String>,
    /// The properties of `norn check`.
    pub(crate) properties: Vec<String>,
    /// When to use colors.
    pub(crate) color: Option<String>,
    /// The compilers behind `norn cc` and `norn c++`.
    pub(crate) cc: Option<String>,
    pub(crate) cxx: Option<String>,
    /// Values of other options, by their long names.
    options: Vec<(&'static str, Vec<String>)>,
}

impl Config {
    pub(crate) fn load(source: &Source) -> anyhow::Result<Config> {
        // Only the first call counts; a second one would have the same source.
        let _ = USED.set(source.clone());
        let path = match source {
            Source::Nothing => return Ok(Config::default()),
            Source::File(path) => path.clone(),
            Source::Nearest => match nearest(&env::current_dir()?)? {
                Some(path) => path,
                None => return Ok(Config::default()),
            },
        };
        let text = text_file::read(&path, MAX_SIZE)
            .with_context(|| format!("cannot read the configuration `{}`", path.display()))?;
        let folder = std::path::absolute(&path)?;
        Config::parse(&text, &path, folder.parent().unwrap_or(Path::new("/")))
    }

    /// Parses the text of a file, whose relative paths start from `folder`.
    pub(crate) fn parse(text: &str, path: &Path, folder: &Path) -> anyhow::Result<Config> {
        file::parse(text, path, folder)
    }

    /// The default values of an option, by its long name.
    pub(crate) fn option(&self, long: &str) -> &[String] {
        self.options.iter().find(|it| it.0 == long).map_or(&[], |it| &it.1)
    }
}

/// The source of a compiler's configuration: the environment, because compilers have no options of norn.
pub(crate) fn environment() -> Source {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty());
    let off = set("NORN_NO_CONFIG").is_some_and(|it| !FALSE.iter().any(|word| it == *word));
    match set("NORN_CONFIG") {
        _ if off => Source::Nothing,
        Some(path) => Source::File(path.into()),
        None => Source::Nearest,
    }
}

/// Environment variables by which a compiler that this process starts finds the same configuration.
pub(crate) fn for_compilers() -> Vec<(&'static str, OsString)> {
    match USED.get() {
        Some(Source::Nothing) => vec![("NORN_NO_CONFIG", "1".into())],
        Some(Source::File(path)) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            vec![("NORN_CONFIG", path.into()), ("NORN_NO_CONFIG", "0".into())]
        }
        Some(Source::Nearest) | None => Vec::new(),
    }
}

/// The nearest file. It names programs to run, so a file that another user has put into a shared folder
/// such as /tmp is not read.
fn nearest(folder: &Path) -> anyhow::Result<Option<PathBuf>> {
    for path in folder.ancestors().map(|it| it.join(NAME)) {
        match fs::metadata(&path) {
            Ok(it) if !it.is_file() => {}
            Ok(it) if is_trusted(it.uid()) => return Ok(Some(path)),
            Ok(_) => {
                let path = path.display();
                verbosity::note(format_args!(
                    "norn: `{path}` belongs to another user and is ignored"
                ))?;
                verbosity::note(format_args!("hint: --config {path} reads it"))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
            }
        }
    }
    Ok(None)
}

/// Whether norn runs programs that a file of this user names: only of the current user and of root.
fn is_trusted(owner: u32) -> bool {
    owner == 0 || fs::metadata("/proc/self").is_ok_and(|it| it.uid() == owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_is_used() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(nearest(&inner).unwrap(), None);
        let outer = root.path().join(NAME);
        fs::write(&outer, "").unwrap();
        assert_eq!(nearest(&inner).unwrap(), Some(outer));
        let near = root.path().join("a").join(NAME);
        fs::write(&near, "").unwrap();
        assert_eq!(nearest(&inner).unwrap(), Some(near));
    }
}
