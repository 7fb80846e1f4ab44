//! Paths of the workspace, and running cargo there.

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};

/// The root of the source tree.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Cargo's target directory, which also holds temporary files of chores.
pub(crate) fn target() -> PathBuf {
    let chosen = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target"));
    root().join(chosen)
}

/// A `cargo` command in the root of the source tree.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command; anything but success is an error.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// The output of a command; anything but success is an error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {}\n{errors}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Whether two files have the same bytes. They are never read as a whole: a child's memory peak
/// starts at ours, so ours must stay small.
pub(crate) fn same_bytes(left: &Path, right: &Path) -> Result<bool> {
    let mut left = BufReader::new(File::open(left)?);
    let mut right = BufReader::new(File::open(right)?);
    loop {
        let (a, b) = (left.fill_buf()?, right.fill_buf()?);
        let count = a.len().min(b.len());
        if a[..count] != b[..count] || (count == 0 && a.len() != b.len()) {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
        left.consume(count);
        right.consume(count);
    }
}

/// Writes one of the generated documents, without paths of this machine.
pub(crate) fn write_document(name: &str, text: &str) -> Result<()> {
    let path = root().join("docs").join(name);
    let text = text.replace(&*target().to_string_lossy(), "target");
    let text = text.replace(&format!("{}/", root().display()), "");
    fs::create_dir_all(root().join("docs"))?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote docs/{name}");
    Ok(())
}

/// The end of a generated section of a document.
const SECTION_END: &str = "<!-- end -->\n";

/// Replaces a section of a document, which begins with this line.
pub(crate) fn replace_section(document: &str, begin: &str, section: &str) -> Result<()> {
    let path = root().join(document);
    let text = fs::read_to_string(&path)?;
    let (before, rest) =
        text.split_once(begin).with_context(|| format!("{document} lacks `{}`", begin.trim()))?;
    let (_, after) = rest.split_once(SECTION_END).context("a generated section has no end")?;
    fs::write(&path, format!("{before}{begin}{section}{SECTION_END}{after}"))?;
    println!("wrote {document}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(left: &[u8], right: &[u8]) -> bool {
        let folder = target().join("xtask-test");
        let name = |side| folder.join(format!("{side}-{}-{}", left.len(), right.len()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(name("left"), left).unwrap();
        fs::write(name("right"), right).unwrap();
        same_bytes(&name("left"), &name("right")).unwrap()
    }

    #[test]
    fn files_are_compared_to_their_ends() {
        let long = vec![7; 100_000];
        assert!(same(b"", b""));
        assert!(same(&long, &long));
        assert!(!same(b"", b"a"));
        assert!(!same(&long, &long[..99_999]));
        assert!(!same(b"abc", b"abd"));
    }
}
