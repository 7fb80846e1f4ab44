//! pbzip2, a parallel compressor in C++, together with its library in C.

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Result, ensure};

use super::{LIMIT, Launch, Outcome, Program, build_folder, is_fresh, step};
use crate::{
    debian,
    process::{End, measure},
    toolchain::{self, FLAGS, Toolchain},
    workspace::same_bytes,
};

/// Two threads, small blocks so that both have work until the end, compressed to standard output.
pub(crate) const ARGUMENTS: [&str; 3] = ["-p2", "-1", "-c"];

/// Size of the input in bytes.
const SIZE: usize = 1_000_000;

pub(super) struct Pbzip2;

impl Program for Pbzip2 {
    fn name(&self) -> &'static str {
        "pbzip2"
    }

    fn story(&self) -> &'static str {
        "`make libbz2.a CC=\"norn cc\"` and `make pbzip2-static CXX=\"norn c++\"`, then \
         `pbzip2 -p2 -1 -c input.txt` on 1 MB of text. The packed bytes must be the same in all \
         runs and must give the text again when `bzip2` unpacks them."
    }

    fn build(&self, toolchain: &Toolchain) -> Result<PathBuf> {
        build(toolchain)
    }

    fn run(&self, launch: &Launch<'_>) -> Result<Outcome> {
        let input = launch.folder.join("input.txt");
        write_text(&input, SIZE)?;
        let packed = launch.folder.join("packed.bz2");
        let mut command =
            launch.command(ARGUMENTS.iter().map(Path::new).chain([input.as_path()]))?;
        command.stdin(Stdio::null()).stdout(File::create(&packed)?);
        command.stderr(File::create(launch.folder.join("errors"))?);
        let measured = measure(&mut command, LIMIT)?;
        unpack(&packed, &launch.folder.join("unpacked.txt"), &input)?;
        let results = format!("packed bytes with digest {:016x}", digest(&fs::read(&packed)?));
        Ok(Outcome { wall: measured.usage.wall, end: measured.end, results })
    }
}

/// Builds the library and the program with it.
pub(crate) fn build(toolchain: &Toolchain) -> Result<PathBuf> {
    let library = build_folder(toolchain, "bzip2");
    let tree = build_folder(toolchain, "pbzip2");
    let program = tree.join("pbzip2");
    if is_fresh(&program, toolchain) {
        return Ok(program);
    }
    debian::unpack("bzip2", &library)?;
    let mut make = toolchain::command("make");
    make.arg("libbz2.a").arg(format!("CC={}", toolchain.cc));
    make.arg(format!("CFLAGS={FLAGS} -D_FILE_OFFSET_BITS=64"));
    step(&mut make, &library)?;
    debian::unpack("pbzip2", &tree)?;
    for file in ["libbz2.a", "bzlib.h"] {
        fs::copy(library.join(file), tree.join(file))?;
    }
    // Its makefile appends to these flags, so they come from the environment.
    let mut make = toolchain::command("make");
    make.arg("pbzip2-static").arg(format!("CXX={}", toolchain.cxx)).env("CXXFLAGS", FLAGS);
    step(&mut make, &tree)?;
    Ok(program)
}

fn unpack(packed: &Path, unpacked: &Path, input: &Path) -> Result<()> {
    let mut command = Command::new("bzip2");
    command.arg("-dc").arg(packed).stdout(File::create(unpacked)?);
    let measured = measure(&mut command, LIMIT)?;
    ensure!(measured.end == End::Exited(0), "bzip2 cannot unpack it: {}", measured.end);
    ensure!(same_bytes(unpacked, input)?, "unpacked, it is not the input");
    Ok(())
}

/// FNV-1a: sufficient to distinguish outputs.
fn digest(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Writes text that compresses to about a quarter: words from a small vocabulary, in a
/// deterministic pseudo-random order.
pub(crate) fn write_text(path: &Path, size: usize) -> Result<()> {
    let mut state = 88_172_645_463_325_252;
    let vocabulary: Vec<String> = (0..5000).map(|_| word(&mut state)).collect();
    let mut file = BufWriter::new(File::create(path)?);
    let mut left = size;
    while left > 0 {
        let at = random(&mut state) % vocabulary.len() as u64;
        let word = vocabulary[usize::try_from(at)?].as_bytes();
        let taken = word.len().min(left);
        file.write_all(&word[..taken])?;
        left -= taken;
    }
    Ok(file.flush()?)
}

/// A word followed by a space.
fn word(state: &mut u64) -> String {
    const LETTERS: &[u8; 16] = b"etaoinshrdlucmfw";
    let letter = |bits: u64| char::from(LETTERS[(bits & 15) as usize]);
    let length = 2 + random(state) % 8;
    (0..length).map(|_| letter(random(state))).chain([' ']).collect()
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}
