//! Texts of the user: properties, patterns, suppressions, baselines, configurations.

use std::{fs::OpenOptions, io, os::unix::fs::OpenOptionsExt as _, path::Path};

use norn_trace::file;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Reads a text of at most `limit` bytes, also from a pipe, such as `<(command)` of a shell. A FIFO that
/// nobody has opened for writing is empty.
pub(crate) fn read(path: &Path, limit: u64) -> io::Result<String> {
    let at_once = OFlags::NONBLOCK.bits().cast_signed();
    let text = OpenOptions::new().read(true).custom_flags(at_once).open(path)?;
    if text.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // Opening does not wait for a writer, but reading waits for what a writer has not written yet.
    fcntl_setfl(&text, fcntl_getfl(&text)? - OFlags::NONBLOCK)?;
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(file::read(text, limit)?).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _, os::fd::AsRawFd as _};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn sizes_are_limited() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "12345").unwrap();
        assert_eq!(read(&file, 5).unwrap(), "12345");
        assert_eq!(read(&file, 4).unwrap_err().to_string(), "it has more than 4 bytes");
        let endless = read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(endless.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_fifo_without_a_writer_is_an_empty_text() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(read(&fifo, 9).unwrap(), "");
    }

    #[test]
    fn a_pipe_is_read_to_its_end() {
        let (reader, mut writer) = io::pipe().unwrap();
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        let text = std::thread::spawn(move || read(Path::new(&path), 9).unwrap());
        writer.write_all(b"late").unwrap();
        drop(writer);
        assert_eq!(text.join().unwrap(), "late");
    }
}
