//! Sources of real programs, from the distribution's own source packages.
//!
//! Most systems have no source entries configured. We derive them from the binary entries, in a
//! folder of our own with package lists of its own, so that the system's configuration stays as
//! it is and no privileges are needed. A package that is not there yet is downloaded by new lists,
//! because an archive keeps only the versions that its newest lists name.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::workspace;

/// The folder for everything about real programs.
pub(crate) fn folder() -> PathBuf {
    workspace::target().join("realworld")
}

/// The package's description file (`.dsc`) with its archives beside it, downloaded once.
pub(crate) fn download(package: &str) -> Result<PathBuf> {
    let place = folder().join("download").join(package);
    if let Some(found) = description(&place)? {
        return Ok(found);
    }
    let lists = lists().context(HINT)?;
    eprintln!("downloading the sources of {package}");
    let mut command = apt_get(&lists);
    // The package gets its place when all of its files are there: a download may be interrupted.
    let part = folder().join("download/part").join(package);
    if part.exists() {
        fs::remove_dir_all(&part)?;
    }
    fs::create_dir_all(&part)?;
    command.args(["source", "--download-only", package]).current_dir(&part);
    workspace::output(&mut command).context(HINT)?;
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::rename(&part, &place)?;
    description(&place)?.with_context(|| format!("no sources of {package}"))
}

const HINT: &str = "cannot get sources\nhint: this needs Debian or a system derived from it, with \
                    apt-get and dpkg-source (package dpkg-dev), and the network";

/// Unpacks the package's sources, with the distribution's patches, into a new tree.
pub(crate) fn unpack(package: &str, place: &Path) -> Result<()> {
    let description = download(package)?;
    if place.exists() {
        fs::remove_dir_all(place)?;
    }
    fs::create_dir_all(place.parent().unwrap_or(place))?;
    let mut command = Command::new("dpkg-source");
    command.args(["--no-check", "--no-copy", "-x"]).arg(description).arg(place);
    workspace::output(&mut command).context(HINT).map(drop)
}

fn description(place: &Path) -> Result<Option<PathBuf>> {
    if !place.exists() {
        return Ok(None);
    }
    for entry in fs::read_dir(place)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "dsc") {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Our folder of source entries and package lists, with the newest lists.
fn lists() -> Result<PathBuf> {
    let place = folder().join("apt");
    fs::create_dir_all(place.join("lists/partial"))?;
    fs::create_dir_all(place.join("entries"))?;
    derive_entries(&place.join("entries"))?;
    eprintln!("downloading lists of source packages");
    // Some archives have no sources. If that matters, downloading the package fails later.
    if let Err(error) = workspace::output(apt_get(&place).arg("update")) {
        eprintln!("some lists are missing: {error:#}");
    }
    Ok(place)
}

fn apt_get(place: &Path) -> Command {
    let mut command = Command::new("apt-get");
    let mut option = |name: &str, value: &Path| {
        command.arg("-o").arg(format!("{name}={}", value.display()));
    };
    option("Dir::Etc::SourceList", Path::new("/dev/null"));
    option("Dir::Etc::SourceParts", &place.join("entries"));
    option("Dir::State::Lists", &place.join("lists"));
    option("Dir::Cache", place);
    // As root, apt would access these folders as an unprivileged user that has no permission.
    option("APT::Sandbox::User", Path::new("root"));
    command.arg("--quiet");
    command
}

/// Writes the source entries for all entries of the system.
fn derive_entries(place: &Path) -> Result<()> {
    for path in system_entries()? {
        let text = fs::read_to_string(&path)?;
        let name = path.file_name().unwrap_or_default();
        match path.extension().and_then(|it| it.to_str()) {
            Some("list") => fs::write(place.join(name), source_lines(&text))?,
            Some("sources") => fs::write(place.join(name), source_stanzas(&text))?,
            _ => {}
        }
    }
    Ok(())
}

/// The files that configure the system's package sources.
fn system_entries() -> Result<Vec<PathBuf>> {
    let ask =
        |query: &str| workspace::output(Command::new("apt-config").args(["shell", "IT", query]));
    let mut found = vec![shell_value(&ask("Dir::Etc::sourcelist/f")?)];
    let parts = shell_value(&ask("Dir::Etc::sourceparts/d")?);
    for entry in fs::read_dir(parts).into_iter().flatten() {
        found.push(entry?.path());
    }
    found.retain(|path| path.is_file());
    found.sort();
    Ok(found)
}

/// The value in `IT='value'`.
fn shell_value(text: &str) -> PathBuf {
    text.trim().trim_start_matches("IT=").trim_matches('\'').into()
}

/// Source entries in the one-line format: `deb [options] place suite component...`.
fn source_lines(text: &str) -> String {
    let derive = |line: &str| {
        let (kind, rest) = line.trim_start().split_once(char::is_whitespace)?;
        (kind == "deb").then(|| format!("deb-src {}\n", rest.trim()))
    };
    text.lines().filter_map(derive).collect()
}

/// Source entries in the stanza format: a field `Types` among others.
fn source_stanzas(text: &str) -> String {
    let derive = |line: &str| match line.split_once(':') {
        Some((name, _)) if name.eq_ignore_ascii_case("types") => "Types: deb-src\n".to_owned(),
        _ => format!("{line}\n"),
    };
    text.lines().map(derive).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_binaries_become_lines_of_sources() {
        let text = "# comment\ndeb http://example.org/debian stable main contrib\n\
                    deb-src http://example.org/debian stable main\n\n\
                    deb\t[signed-by=/k.gpg arch=amd64] http://example.org/security  s main\n";
        assert_eq!(
            source_lines(text),
            "deb-src http://example.org/debian stable main contrib\n\
             deb-src [signed-by=/k.gpg arch=amd64] http://example.org/security  s main\n"
        );
    }

    #[test]
    fn stanzas_of_binaries_become_stanzas_of_sources() {
        let text = "Types: deb\n# comment: here\nURIs: http://example.org/debian\nSuites: stable\n\n\
                    types: deb deb-src\nURIs: http://example.org/other\n";
        assert_eq!(
            source_stanzas(text),
            "Types: deb-src\n# comment: here\nURIs: http://example.org/debian\nSuites: stable\n\n\
             Types: deb-src\nURIs: http://example.org/other\n"
        );
    }

    #[test]
    fn shell_values() {
        assert_eq!(shell_value("IT='/etc/apt/sources.list'\n"), Path::new("/etc/apt/sources.list"));
    }
}
