//! The inputs of the subject: decodes those that the runtime recorded, and encodes those that it feeds
//! back.

use std::{
    fs::File,
    io::{self, Seek as _, Write as _},
    sync::atomic::Ordering,
};

use norn_abi::input::{self, Asked, Input};
use norn_frontend::Launch;
use norn_trace::{Bytes, Fed, Got, Inputs, Parted, Request};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::{Control, arena::Arena};

/// An input that is fed back to a thread.
#[derive(Clone, Debug)]
pub struct Feed {
    /// The thread's entry among the names of the schedule.
    pub thread: u32,
    /// The result of the call.
    pub got: Got,
}

/// A file that holds standard input, at its start.
pub(crate) fn file(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Encodes inputs for the runtime. Calls that it does not know are omitted.
pub(crate) fn encode(fed: &[Feed]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Feed { thread, got } in fed {
        let Some(Asked { call, file, size }) = got.asked.code() else { continue };
        let data = &got.bytes.0;
        let len = u32::try_from(data.len()).unwrap_or(0);
        bytes.extend([call.to_le_bytes(), file.to_le_bytes()].concat());
        bytes.extend(size.to_le_bytes());
        bytes.extend([0, *thread].map(u32::to_le_bytes).concat());
        bytes.extend(got.result.to_le_bytes());
        bytes.extend([got.error, len].map(u32::to_le_bytes).concat());
        bytes.extend([got.steps, got.told, got.clock].map(u64::to_le_bytes).concat());
        bytes.extend_from_slice(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes
}

/// Decodes the inputs that the runtime wrote, up to the first damaged one.
fn decode(mut bytes: &[u8]) -> Vec<norn_trace::Input> {
    let mut inputs = Vec::new();
    while let Some((input, rest)) = first(bytes) {
        inputs.push(input);
        bytes = rest;
    }
    inputs
}

fn first(bytes: &[u8]) -> Option<(norn_trace::Input, &[u8])> {
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let asked = Asked { call: word(0)?, file: word(4)?.cast_signed(), size: long(8)? };
    let len = word(36)? as usize;
    let data = bytes.get(size_of::<Input>()..)?.get(..len)?.to_vec();
    let got = Got {
        asked: Request::new(asked)?,
        result: long(24)?.cast_signed(),
        error: word(32)?,
        steps: long(40)?,
        told: long(48)?,
        clock: long(56)?,
        bytes: Bytes(data),
    };
    let input = norn_trace::Input { process: word(16)?, thread: word(20)?, got };
    Some((input, bytes.get(input::size(len)..).unwrap_or_default()))
}

/// The recorded inputs of a run; none if recording them was not requested.
pub(crate) fn kept(arena: &Arena, launch: &Launch) -> Option<Inputs> {
    let stdin = launch.stdin.clone().map(Bytes);
    launch.keep_inputs.then(|| Inputs { stdin, calls: decode(arena.kept_inputs()) })
}

/// The counts of recorded and fed inputs; none if neither was requested.
pub(crate) fn fed(arena: &Arena, launch: &Launch, control: Option<&Control>) -> Option<Fed> {
    let given = control.map_or(0, |it| it.inputs.len()) as u64;
    if given == 0 && !launch.keep_inputs {
        return None;
    }
    let inputs = arena.inputs();
    let parted = inputs.parted.load(Ordering::Acquire) == 2;
    Some(Fed {
        kept: decode(arena.kept_inputs()).len() as u64,
        lost: inputs.lost.load(Ordering::Relaxed),
        used: inputs.used.load(Ordering::Relaxed),
        given,
        parted: parted.then(|| Parted {
            thread: name(control, inputs.thread.load(Ordering::Relaxed)),
            index: inputs.index.load(Ordering::Relaxed),
            expected: Request::new(inputs.expected),
            actual: Request::new(inputs.actual),
        }),
    })
}

/// The name of a thread, by its entry in the table of names.
fn name(control: Option<&Control>, entry: u32) -> Option<String> {
    let names = &control?.names;
    let (mut at, mut children) = (entry, Vec::new());
    while at != 0 {
        let name = names.get(at as usize).filter(|it| it.parent < at)?;
        children.push(name.child);
        at = name.parent;
    }
    let path = children.iter().rev().map(|it| format!(".{it}"));
    Some(["T0".to_owned()].into_iter().chain(path).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(call: &str, bytes: &[u8]) -> Got {
        Got {
            asked: Request { call: call.to_owned(), file: 7, asked: 64 },
            result: -1,
            error: 11,
            steps: 1 << 40,
            told: 3,
            clock: 5,
            bytes: Bytes(bytes.to_vec()),
        }
    }

    #[test]
    fn encoded_inputs_decode_unchanged() {
        let all = [got("read", b"12345"), got("poll", b""), got("nonsense", b""), got("recv", b"")];
        let fed: Vec<_> = all.iter().map(|it| Feed { thread: 2, got: it.clone() }).collect();
        let bytes = encode(&fed);
        assert_eq!(bytes.len(), input::size(5) + 2 * input::size(0));
        let back: Vec<_> = decode(&bytes).into_iter().map(|it| (it.thread, it.got)).collect();
        let known = all.into_iter().filter(|it| it.asked.call != "nonsense").map(|it| (2, it));
        assert_eq!(back, known.collect::<Vec<_>>());
    }

    #[test]
    fn decoding_ends_at_damaged_bytes() {
        let bytes = encode(&[Feed { thread: 0, got: got("read", b"1234567890") }]);
        for len in 0..size_of::<Input>() + 10 {
            assert_eq!(decode(&bytes[..len]), []);
        }
        assert_eq!(decode(&[0; 256]), []);
    }
}
