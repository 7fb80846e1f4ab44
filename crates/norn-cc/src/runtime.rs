//! Installs the runtime on disk, where compilers can link it.
//!
//! The runtime is embedded in the `norn` program and unpacked into a cache on first use, into a
//! directory named after its content. Different versions therefore never share a directory, and
//! an old directory is never overwritten. Each file appears complete or not at all (it is written
//! under a temporary name and renamed), and every process checks all files before it continues.
//! So any number of compilers may start at the same time, and a cache of which some files were
//! deleted is repaired.

use std::{
    borrow::Cow,
    ffi::OsString,
    fs::{self, Permissions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{self, Path, PathBuf},
};

use crate::{CcError, layout};

/// The runtime and its symbol lists, as input of an installation.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeImage<'a> {
    /// An identifier that changes whenever any other field changes.
    pub id: &'a str,
    /// The relocatable object for dynamically linked programs.
    pub dynamic_object: &'a [u8],
    /// The relocatable object for statically linked programs.
    pub static_object: &'a [u8],
    /// The symbols of the dynamic object that programs must export, one per line.
    pub exported: &'a str,
    /// The functions that the static object wraps, one per line.
    pub wrapped: &'a str,
}

/// A directory that holds the runtime and the files that accompany it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeDir {
    path: PathBuf,
}

impl RuntimeImage<'static> {
    /// The runtime that this program was built with.
    pub fn embedded() -> Self {
        Self {
            id: env!("NORN_RUNTIME_ID"),
            dynamic_object: include_bytes!(concat!(env!("OUT_DIR"), "/dynamic.o")),
            static_object: include_bytes!(concat!(env!("OUT_DIR"), "/static.o")),
            exported: include_str!(concat!(env!("OUT_DIR"), "/exported.txt")),
            wrapped: include_str!(concat!(env!("OUT_DIR"), "/wrapped.txt")),
        }
    }
}

impl<'a> RuntimeImage<'a> {
    /// Makes sure that the runtime is complete in a directory of its own below `cache_root`.
    pub fn install(&self, cache_root: &Path) -> Result<RuntimeDir, CcError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| CcError::Install { path, source }
        };
        let root = path::absolute(cache_root).map_err(failed(cache_root))?;
        let directory = root.join(self.id);
        for (name, content) in self.files() {
            let file = directory.join(name);
            if !has_size(&file, content.len()) {
                write(&directory, &file, &content).map_err(failed(&file))?;
            }
        }
        Ok(RuntimeDir { path: directory })
    }

    fn files(&self) -> Vec<(&'static str, Cow<'a, [u8]>)> {
        let text = |text: String| Cow::Owned(text.into_bytes());
        let mut files = vec![
            (layout::DYNAMIC_OBJECT, Cow::Borrowed(self.dynamic_object)),
            (layout::STATIC_OBJECT, Cow::Borrowed(self.static_object)),
            (layout::EXPORTS, text(layout::exports_list(self.exported))),
            (layout::WRAPS, text(layout::wraps_response(self.wrapped))),
            (layout::INSTRUMENT, Cow::Borrowed(layout::INSTRUMENT_SPECS.as_bytes())),
            (layout::LEAVE_OUT, Cow::Borrowed(layout::LEAVE_OUT_LIST.as_bytes())),
            (layout::DYNAMIC, text(layout::dynamic_specs())),
            (layout::HEADER, Cow::Borrowed(layout::HEADER_TEXT.as_bytes())),
            (layout::STATIC, text(layout::static_specs(self.wrapped))),
        ];
        let decoy = |name| (name, Cow::Borrowed(layout::EMPTY_ARCHIVE.as_bytes()));
        files.extend(layout::DECOYS.map(decoy));
        files
    }
}

impl RuntimeDir {
    /// Makes sure that the runtime of this program is complete below `cache_root`.
    pub fn install(cache_root: &Path) -> Result<Self, CcError> {
        RuntimeImage::embedded().install(cache_root)
    }

    /// The absolute path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A directory that does not exist, for tests of command lines.
    #[cfg(test)]
    pub(crate) fn imaginary(path: &str) -> Self {
        Self { path: path.into() }
    }

    /// An argument made of `before` and the path of one of the files; the name `""` denotes the
    /// directory itself.
    pub(crate) fn argument(&self, before: &str, name: &str) -> OsString {
        let mut argument = OsString::from(before);
        argument.push(self.path.join(name));
        argument
    }
}

fn has_size(file: &Path, size: usize) -> bool {
    fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() == size as u64)
}

/// The cache may be shared by all users of a system, so the files must be readable by everyone.
fn write(directory: &Path, file: &Path, content: &[u8]) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let mut aside = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(directory)?;
    aside.write_all(content)?;
    aside.persist(file)?;
    Ok(())
}
