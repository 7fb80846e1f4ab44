//! Which build of a program a campaign is about.

use std::{
    env,
    ffi::OsStr,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

/// A text that is the same for the same content of a program's file, wherever that is. None if the file
/// cannot be read.
pub fn fingerprint(program: &OsStr) -> Option<String> {
    let content = fs::read(find(program)?).ok()?;
    let hash = Sha256::digest(content);
    Some(hash.iter().take(16).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// The file of a program, which is looked for as a shell does.
fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return Some(path.to_owned());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|it| it.join(path)).find(|it| it.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_apart_by_their_content() {
        let shell = fingerprint(OsStr::new("sh"));
        assert_eq!(shell.as_ref().map(String::len), Some(32));
        assert_eq!(fingerprint(find(OsStr::new("sh")).unwrap().as_os_str()), shell);
        assert_ne!(fingerprint(env::current_exe().unwrap().as_os_str()), shell);
        assert_eq!(fingerprint(OsStr::new("./no-such-program")), None);
    }
}
