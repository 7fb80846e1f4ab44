//! Results on disk, by the build of a module and the options of the search.
//!
//! A file is a header, numbers in LEB128, and the conditions as JSON. A file that another version wrote, that is damaged or that
//! belongs to another build is treated as missing: the search is repeated, and replaces it. Files are
//! renamed into place, so that readers never see half of one.

use std::{
    fs,
    path::{Path, PathBuf},
    process,
    time::SystemTime,
};

use norn_binary::Module;
use norn_model::{CriticalRead, PotentialFailure};

use crate::{
    Conditions, FailureSites,
    option::{KINDS, Options},
};

/// Changes with the format of the files and with what the search finds.
const VERSION: u8 = 3;
const MAGIC: &[u8; 8] = b"NORNSITE";
/// Maximum number of files; the oldest ones are removed.
const MAX_FILES: usize = 64;

/// A folder with results.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Results are kept in this folder, which is created when it is needed.
    pub fn new(folder: impl Into<PathBuf>) -> Cache {
        Cache { folder: folder.into() }
    }

    /// The failure sites of a module, from the cache if it has them. A cache that cannot be written is
    /// no error.
    pub fn failure_sites(&self, module: &Module, options: &Options) -> FailureSites {
        let key = key(module, options);
        let path = self.folder.join(format!("{:016x}.sites", hash(&key)));
        let known = fs::read(&path).ok().and_then(|it| decode(&it, &key));
        known.unwrap_or_else(|| {
            let sites = FailureSites::find(module, options);
            self.store(&path, &encode(&sites, &key));
            sites
        })
    }

    fn store(&self, path: &Path, bytes: &[u8]) {
        let temporary = path.with_extension(format!("{}.tmp", process::id()));
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| fs::write(&temporary, bytes))
            .and_then(|()| fs::rename(&temporary, path));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        self.remove_old();
    }

    fn remove_old(&self) {
        let age = |it: fs::DirEntry| {
            let modified = it.metadata().and_then(|it| it.modified());
            Some((modified.unwrap_or(SystemTime::UNIX_EPOCH), it.path()))
        };
        let entries = fs::read_dir(&self.folder).into_iter().flatten();
        let mut files: Vec<_> = entries.filter_map(|it| age(it.ok()?)).collect();
        files.sort();
        for (_, path) in files.iter().rev().skip(MAX_FILES) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Identifies a search. A stripped copy has the same build id as the original but other symbols, so the
/// size of the file counts as well.
fn key(module: &Module, options: &Options) -> Vec<u8> {
    let size = fs::metadata(module.path()).map_or(0, |it| it.len());
    let names = |it: &[norn_model::FunctionPattern]| {
        it.iter().map(|it| it.as_str().to_owned()).collect::<Vec<_>>()
    };
    let listed = (names(&options.error_functions), names(&options.output_functions));
    let Options { kinds, distance, .. } = options;
    format!("{} {size} {kinds:?} {distance} {listed:?}", module.identity()).into_bytes()
}

/// FNV-1a: names of files must be the same in every build of Norn.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn encode(found: &FailureSites, key: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    put(key.len() as u64, &mut content);
    content.extend(key);
    put(found.sites.len() as u64, &mut content);
    for site in &found.sites {
        let kind = KINDS.iter().position(|it| *it == site.kind).unwrap_or_default();
        put(kind as u64, &mut content);
        put(site.pc, &mut content);
        put(site.reads.len() as u64, &mut content);
        for read in &site.reads {
            put(read.pc, &mut content);
            put(u64::from(read.distance), &mut content);
            put(read.chain.len() as u64, &mut content);
            read.chain.iter().for_each(|it| put(*it, &mut content));
        }
    }
    let conditions: Vec<_> = found.conditions.iter().collect();
    content.extend(serde_json::to_vec(&conditions).unwrap_or_default());
    let mut file = MAGIC.to_vec();
    file.push(VERSION);
    file.extend(hash(&content).to_le_bytes());
    file.extend(content);
    file
}

fn decode(file: &[u8], key: &[u8]) -> Option<FailureSites> {
    let rest = file.strip_prefix(MAGIC)?.strip_prefix(&[VERSION])?;
    let (sum, mut rest) = rest.split_first_chunk::<8>()?;
    if u64::from_le_bytes(*sum) != hash(rest) {
        return None;
    }
    let input = &mut rest;
    let size = usize::try_from(get(input)?).ok()?;
    let (found, after) = input.split_at_checked(size)?;
    if found != key {
        return None;
    }
    *input = after;
    let sites = list(input, |input| {
        let kind = *KINDS.get(usize::try_from(get(input)?).ok()?)?;
        let pc = get(input)?;
        let reads = list(input, |input| {
            let (pc, distance) = (get(input)?, u32::try_from(get(input)?).ok()?);
            Some(CriticalRead { pc, distance, chain: list(input, get)? })
        })?;
        Some(PotentialFailure { kind, pc, reads })
    })?;
    let conditions: Vec<_> = serde_json::from_slice(input).ok()?;
    Some(FailureSites { sites, conditions: Conditions::from_iter(conditions) })
}

fn list<T>(input: &mut &[u8], item: impl Fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    let count = get(input)?;
    (0..count).map(|_| item(input)).collect()
}

fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

fn get(input: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = input.split_first()?;
        *input = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use norn_model::{Comparison, Condition, Expression, PotentialFailureKind};
    use proptest::prelude::*;

    fn sites() -> FailureSites {
        let read = CriticalRead { pc: 0x1234, distance: 3, chain: vec![0x1300, 0x1280, u64::MAX] };
        let kind = PotentialFailureKind::Loop;
        let value = Expression::Unsigned(32, Box::new(Expression::Read(0x1234)));
        let equal =
            Condition::Compare(Comparison::Equal, 32, value, Expression::Constant(u64::MAX));
        FailureSites {
            sites: vec![PotentialFailure { kind, pc: 0x1300, reads: vec![read] }],
            conditions: [((0x1300, kind), Condition::Not(Box::new(equal)))].into(),
        }
    }

    #[test]
    fn what_is_stored_is_found_again() {
        let file = encode(&sites(), b"key");
        assert_eq!(decode(&file, b"key"), Some(sites()));
        assert_eq!(decode(&file, b"other"), None);
    }

    #[test]
    fn every_damaged_byte_is_noticed() {
        let file = encode(&sites(), b"key");
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            assert_eq!(decode(&damaged, b"key"), None, "byte {at}");
            assert_eq!(decode(&file[..at], b"key"), None, "cut at {at}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_files_are_no_results(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut file = MAGIC.to_vec();
            file.push(VERSION);
            file.extend(hash(&bytes).to_le_bytes());
            file.extend(&bytes);
            // Whatever the bytes mean, decoding them ends.
            let _ = decode(&file, b"key");
        }
    }
}
