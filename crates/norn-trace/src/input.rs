//! Recorded input of a program: `inputs.json`, next to the chunks of a trace.

use std::{io, path::Path};

use norn_abi::input::{Asked, call};
use serde::{Deserialize, Serialize};

use crate::file::{self, MAX_CLIP};

/// The file's name.
pub const FILE: &str = "inputs.json";

/// The input of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// The whole standard input, unless it was a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<Bytes>,
    /// The results of calls.
    pub calls: Vec<Input>,
}

/// The result of one call.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Input {
    /// The number of the process.
    pub process: u32,
    /// The number of the thread.
    pub thread: u32,
    /// The request and the result.
    #[serde(flatten)]
    pub got: Got,
}

/// The request and the result of a call.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Got {
    /// The request.
    #[serde(flatten)]
    pub asked: Request,
    /// The return value.
    pub result: i64,
    /// `errno`, if the call failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub error: u32,
    /// Number of events of all threads before the call returned.
    pub steps: u64,
    /// Number of output calls of the program before it.
    pub told: u64,
    /// Time since the start of the run, in nanoseconds.
    pub clock: u64,
    /// The bytes that it wrote into the program's memory.
    #[serde(flatten)]
    pub bytes: Bytes,
}

/// A request of the program.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Request {
    /// The function's name.
    pub call: String,
    /// The file descriptor; -1 for several.
    pub file: i32,
    /// Maximum number of bytes, descriptors or events; or the call's flags, if it has no size.
    pub asked: u64,
}

/// Bytes, written as text if they are valid text, otherwise in hexadecimal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Bytes(pub Vec<u8>);

/// The serialized form of bytes.
#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

impl From<Bytes> for Written {
    fn from(Bytes(bytes): Bytes) -> Self {
        let plain = |it: char| !it.is_control() || matches!(it, '\n' | '\r' | '\t');
        match String::from_utf8(bytes) {
            Ok(text) if text.is_empty() => Written { text: None, hex: None },
            Ok(text) if text.chars().all(plain) => Written { text: Some(text), hex: None },
            Ok(text) => Written { text: None, hex: Some(digits(text.as_bytes())) },
            Err(error) => Written { text: None, hex: Some(digits(error.as_bytes())) },
        }
    }
}

fn digits(bytes: &[u8]) -> String {
    let digit = |it: u8| char::from_digit(it.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|it| [digit(it >> 4), digit(it & 15)]).collect()
}

impl TryFrom<Written> for Bytes {
    type Error = String;

    fn try_from(Written { text, hex }: Written) -> Result<Self, String> {
        let Some(hex) = hex else { return Ok(Bytes(text.unwrap_or_default().into_bytes())) };
        let digits: Option<Vec<_>> = hex.chars().map(|it| it.to_digit(16)).collect();
        let digits = digits.filter(|it| it.len() % 2 == 0);
        let digits = digits.ok_or_else(|| format!("`{hex}` are no hexadecimal digits"))?;
        let byte = |it: &[u32]| u8::try_from(it[0] << 4 | it[1]).unwrap_or(0);
        Ok(Bytes(digits.chunks_exact(2).map(byte).collect()))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(error: &u32) -> bool {
    *error == 0
}

impl Request {
    /// Converts the runtime's form; `None` if there is no request.
    pub fn new(asked: Asked) -> Option<Request> {
        let name = call::NAMES.iter().find(|it| it.0 == asked.call)?.1;
        Some(Request { call: name.to_owned(), file: asked.file, asked: asked.size })
    }

    /// Converts to the runtime's form; `None` if the call is unknown.
    pub fn code(&self) -> Option<Asked> {
        let call = call::NAMES.iter().find(|it| it.1 == self.call)?.0;
        Some(Asked { call, file: self.file, size: self.asked })
    }
}

/// Statistics of recorded and replayed inputs.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Fed {
    /// Number of recorded inputs.
    pub kept: u64,
    /// Number of inputs for which the buffer had no room.
    pub lost: u64,
    /// Number of replayed inputs.
    pub used: u64,
    /// Number of inputs that were available for replay.
    pub given: u64,
    /// The first request that differed from the recorded one.
    pub parted: Option<Parted>,
}

/// A request of the program that differs from the recorded one.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Parted {
    /// The thread's name; `None` if it has no recorded inputs.
    pub thread: Option<String>,
    /// The index of the input among those of the thread, from 0.
    pub index: u64,
    /// The recorded request; `None` if there are no more.
    pub expected: Option<Request>,
    /// The actual request.
    pub actual: Option<Request>,
}

impl Inputs {
    /// Reads the input in the folder of a trace; `None` if none was recorded.
    pub fn open(folder: &Path) -> io::Result<Option<Inputs>> {
        match file::read_regular(&folder.join(FILE), MAX_CLIP) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the input to the folder of a trace.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        file::write(&folder.join(FILE), &serde_json::to_vec(self)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(bytes: &[u8]) -> Input {
        let asked = Request { call: "read".to_owned(), file: 4, asked: 64 };
        let bytes = Bytes(bytes.to_vec());
        let got = Got { asked, result: 5, steps: 12, clock: 3400, bytes, ..Got::default() };
        Input { process: 0, thread: 1, got }
    }

    #[test]
    fn inputs_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Inputs::open(folder.path()).unwrap(), None);
        for bytes in [&b""[..], b"hello\n", b"\0\xff\x10", "h\u{e9}".as_bytes()] {
            let inputs = Inputs { stdin: Some(Bytes(bytes.to_vec())), calls: vec![input(bytes)] };
            inputs.write(folder.path()).unwrap();
            assert_eq!(Inputs::open(folder.path()).unwrap(), Some(inputs));
        }
    }

    #[test]
    fn text_is_readable_and_the_rest_is_hexadecimal() {
        let line = |bytes| serde_json::to_string(&input(bytes)).unwrap();
        insta::assert_snapshot!(line(b"GET /\r\n"), @r#"{"process":0,"thread":1,"call":"read","file":4,"asked":64,"result":5,"steps":12,"told":0,"clock":3400,"text":"GET /\r\n"}"#);
        insta::assert_snapshot!(line(b"\0\xff"), @r#"{"process":0,"thread":1,"call":"read","file":4,"asked":64,"result":5,"steps":12,"told":0,"clock":3400,"hex":"00ff"}"#);
        let wrong = line(b"\0\xff").replace("00ff", "00f");
        assert!(serde_json::from_str::<Input>(&wrong).unwrap_err().to_string().contains("`00f`"));
    }

    #[test]
    fn calls_have_names() {
        let asked = Asked { call: call::RECV, file: 3, size: 9 };
        let request = Request::new(asked).unwrap();
        assert_eq!((&*request.call, request.code()), ("recv", Some(asked)));
        assert_eq!(Request::new(Asked::default()), None);
        assert_eq!(Request { call: "rced".to_owned(), ..request }.code(), None);
    }
}
