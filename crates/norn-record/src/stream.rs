//! Where the subject's output goes.

use std::{
    fs::File,
    io::{self, PipeReader, Read as _, Seek as _, SeekFrom, Write as _},
    os::fd::OwnedFd,
    sync::atomic::{AtomicBool, Ordering},
};

use norn_frontend::Streams;
use rustix::{
    event::{PollFd, PollFlags, poll},
    time::Timespec,
};

/// The standard input, output and error of the subject where they are not the recorder's.
pub(crate) type Standard = [Option<OwnedFd>; 3];

/// Opens the streams of the subject; returns the pipe to read from, too, if there is one.
pub(crate) fn open(streams: &Streams) -> io::Result<(Standard, Option<PipeReader>)> {
    match streams {
        Streams::Inherit => Ok(([None, None, None], None)),
        Streams::KeepErrors => {
            let (reader, writer) = io::pipe()?;
            Ok(([None, None, Some(writer.into())], Some(reader)))
        }
        Streams::Files { stdout, stderr } => {
            let (output, errors) = (File::create(stdout)?, File::create(stderr)?);
            let files = [File::open("/dev/null")?, output, errors];
            Ok((files.map(|it| Some(it.into())), None))
        }
    }
}

/// The end of the file for standard error, if there is one.
pub(crate) fn errors(streams: &Streams) -> Option<Vec<u8>> {
    let Streams::Files { stderr, .. } = streams else { return None };
    let mut file = File::open(stderr).ok()?;
    let len = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(len.saturating_sub(KEPT as u64))).ok()?;
    let mut kept = Vec::new();
    file.read_to_end(&mut kept).ok()?;
    Some(kept)
}

/// Bytes that are kept of the end of the subject's standard error.
const KEPT: usize = 64 << 10;

/// Copies a pipe to standard error until its end, and returns the last bytes. When `over` is set, it
/// ends as soon as the pipe is empty: a daemon may keep the other end open forever.
pub(crate) fn forward(mut pipe: PipeReader, over: &AtomicBool) -> Vec<u8> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let last = over.load(Ordering::Acquire);
        if is_ready(&pipe) {
            let Ok(count @ 1..) = pipe.read(&mut buffer) else { return kept };
            // If the recorder's standard error is closed, the output cannot be shown.
            let _ = io::stderr().write_all(&buffer[..count]);
            kept.extend_from_slice(&buffer[..count]);
            if kept.len() > 2 * KEPT {
                kept.drain(..kept.len() - KEPT);
            }
        } else if last {
            return kept;
        }
    }
}

fn is_ready(pipe: &PipeReader) -> bool {
    let time = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&time)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_stays_open_ends_with_the_run() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"").unwrap();
        assert_eq!(forward(reader, &AtomicBool::new(true)), b"");
        drop(writer);
    }
}
