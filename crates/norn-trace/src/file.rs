//! Files that someone else may have made: reading does not block and takes no more memory than a
//! limit, and writing does not follow symbolic links.

use std::{
    fs::{self, File, FileType, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

/// `O_NONBLOCK` of Linux: a FIFO is opened at once, whether or not anyone writes to it.
const NONBLOCK: i32 = 0o4000;
/// `O_NOFOLLOW` of Linux: opening a symbolic link fails.
pub(crate) const NOFOLLOW: i32 = 0o40_0000;

/// Maximum size of the description of a run, in bytes.
pub const MAX_DESCRIPTION: u64 = 64 << 20;
/// Maximum size of a clip, or of the inputs of a run, in bytes.
pub const MAX_CLIP: u64 = 1 << 30;

/// Opens a regular file to read it. A FIFO, a device, a socket or a folder is an error: reading one of
/// these may block or never end, and opening a device may have an effect.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check_regular(fs::metadata(path)?.file_type())?;
    // Something else may have taken its place since.
    let file = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path)?;
    check_regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read(open_regular(path)?, limit)
}

/// Replaces a file as a whole. A symbolic link of that name is replaced and not followed, and readers
/// see either the old content or the new one.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    create(&new)?.write_all(bytes)?;
    fs::rename(new, path)
}

/// Creates a file, in place of one of that name that an interrupted run left, or of a link.
pub fn create(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // `O_EXCL` does not follow links either.
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Opens a file to write it from its beginning, without what was in it. A link is not followed.
pub(crate) fn overwrite(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).custom_flags(NOFOLLOW).open(path)
}

/// Empties a file, if there is one.
pub(crate) fn empty(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).truncate(true).custom_flags(NOFOLLOW).open(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether a path is a symbolic link.
pub fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink())
}

/// Refuses a folder for output that is a symbolic link: the files would be written elsewhere.
pub fn refuse_link(folder: &Path) -> io::Result<()> {
    if is_link(folder) {
        return Err(invalid("it is a symbolic link".to_owned()));
    }
    Ok(())
}

fn check_regular(kind: FileType) -> io::Result<()> {
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    } else if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(invalid(format!("it is {what}, not a regular file")))
}

/// Reads a file to its end, at most `limit` bytes.
pub fn read(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let too_large = || {
        let text = format!("it has more than {limit} bytes");
        io::Error::new(io::ErrorKind::FileTooLarge, text)
    };
    if file.metadata()?.len() > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn only_regular_files_are_opened() {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap();
        assert!(made.success());
        let _socket = UnixListener::bind(at("socket")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        symlink(at("fifo"), at("link")).unwrap();
        let why = |path: &Path| read_regular(path, 9).unwrap_err().to_string();
        assert_eq!(why(&at("fifo")), "it is a FIFO, not a regular file");
        assert_eq!(why(&at("link")), "it is a FIFO, not a regular file");
        assert_eq!(why(&at("socket")), "it is a socket, not a regular file");
        assert_eq!(why(Path::new("/dev/zero")), "it is a device, not a regular file");
        assert_eq!(why(&at("folder")), "is a directory");
        fs::write(at("file"), "text").unwrap();
        assert_eq!(read_regular(&at("file"), 4).unwrap(), b"text");
    }

    #[test]
    fn sizes_are_limited() {
        let folder = folder();
        let file = folder.path().join("file");
        fs::write(&file, "12345").unwrap();
        assert_eq!(read_regular(&file, 5).unwrap(), b"12345");
        assert_eq!(read_regular(&file, 4).unwrap_err().to_string(), "it has more than 4 bytes");
        File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read_regular(&file, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn links_are_replaced_and_not_followed() {
        let folder = folder();
        let [target, link] = ["target", "link"].map(|it| folder.path().join(it));
        fs::write(&target, "precious").unwrap();
        for name in ["link", "link.new"] {
            symlink(&target, folder.path().join(name)).unwrap();
        }
        assert!(refuse_link(&link).is_err());
        write(&link, b"new").unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"new");
        assert_eq!(fs::read(&target).unwrap(), b"precious");
        assert!(!is_link(&link));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }
}
