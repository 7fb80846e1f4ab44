//! Valid inputs to start from.

use std::{fs, io, path::Path};

use norn_abi::{
    Kind,
    arena::{CHUNK_MAGIC, CODEC_V2, ChunkHeader, GLOBAL, VALUES},
    codec::{Codec, Format, SLACK, key},
    lane::{Content, Lane},
};
use norn_trace::Writer;

use crate::run;

/// Inputs for a target; empty for an unknown one.
pub fn seeds(target: &str) -> io::Result<Vec<Vec<u8>>> {
    let mut seeds = match target {
        "decode_chunk" => (0..4).map(decode_seed).collect(),
        "open_trace" => (0..4).map(trace_seed).collect::<io::Result<_>>()?,
        "property_parse" => vec![PROPERTY.into(), Vec::new()],
        "std_import" => vec![STD.into(), Vec::new()],
        "text_parse" => vec![TEXT.into(), TEXT_GLOBAL.into(), Vec::new()],
        _ => Vec::new(),
    };
    seeds.extend(corpus(target));
    Ok(seeds)
}

/// A property that uses most of the syntax.
const PROPERTY: &str = "P(c, i) {
  event create: return list<*>::iterator(c, _, 0x10) -> i if result != null && i > 3
  event update: call add(c) | call \"remove\"(c)
  event next: read total as i if value == -1 && plain // a comment
  event mark: mark auth(c)
  event begin: region begin
  pattern: begin(t1,<r1) (create next* | !update mark)+ !(next mark) begin(t1,>r1)
}
Q(v) { event r: read v event w: write v pattern: (r(t1) | w(t1)) || w(t2) }
";

/// The inputs that users or libFuzzer put into `corpus/`.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|it| fs::read(it.path()).ok()).collect()
}

fn decode_seed(options: u8) -> Vec<u8> {
    // The encoder writes the newest version.
    let newest = 4;
    let mut seed = vec![options | newest];
    seed.extend(records(u32::from(options), 0));
    seed
}

fn trace_seed(options: u32) -> io::Result<Vec<u8>> {
    let folder = std::env::temp_dir().join(format!("norn-fuzz-{}", std::process::id()));
    let mut writer = Writer::create(&folder)?;
    writer.begin(&run())?;
    for (thread, index) in [(0, 0), (1, 0), (0, 1), (2, 0)] {
        let bytes = records(options, thread);
        let (magic, options) = (CHUNK_MAGIC, options | CODEC_V2);
        writer
            .append(ChunkHeader { magic, thread, index, options, ..Default::default() }, &bytes)?;
    }
    writer.finish(&run())?;
    let bytes = fs::read(folder.join("0.chunks"))?;
    fs::remove_dir_all(folder)?;
    Ok(bytes)
}

/// The records of a thread with events of many kinds, written by the encoder of the runtime.
fn records(options: u32, thread: u32) -> Vec<u8> {
    let (values, global) = (options & VALUES != 0, options & GLOBAL != 0);
    let format = Format { values, global, codec: Codec::V2 };
    let mut room = vec![0; 4096 + SLACK];
    let range = room.as_mut_ptr_range();
    let mut lane = Box::<Lane>::new_uninit();
    // SAFETY: `start` initializes the whole lane; the room is longer than the slack.
    let len = unsafe {
        Lane::start(lane.as_mut_ptr(), range.start, range.end, 0);
        let mut lane = lane.assume_init();
        // The lane contains a pointer into itself and must not move.
        act(&mut lane, format, u64::from(thread) * 1000);
        lane.settle_any();
        lane.cur.offset_from(range.start)
    };
    room.truncate(usize::try_from(len).unwrap_or(0));
    room
}

/// # Safety
/// The lane is started and has room for all records.
unsafe fn act(lane: &mut Lane, format: Format, first: u64) {
    const READ: u16 = 2;
    const WRITE: u16 = 11;
    let mut memory = [0u64; 32];
    let start = memory.as_mut_ptr();
    let mut seq = first;
    let mut next = || {
        seq += 3;
        seq
    };
    let content = if format.values { Content::Now } else { Content::None };
    // SAFETY: all addresses are in `memory`, or are not read.
    unsafe {
        lane.sync(Kind::Begin, 0, 0x7f00_0000, next(), &[1 << 20]);
        lane.text(Kind::Module, 0x40_0000, next(), 0x41_0000, b"/bin/program");
        lane.define(key(0x40_1000, Kind::Enter));
        for round in 0..24 {
            let at = start.add(round);
            lane.settle_any();
            lane.enter(0x40_2000 + round % 3, 0x40_1000);
            let number = format.global.then(&mut next);
            lane.any_access::<READ>(at as usize, 0x40_1010, number, format.values);
            let number = format.global.then(&mut next);
            lane.any_access::<WRITE>(at as usize, 0x40_1020, number, format.values);
            at.write(round as u64 * 0x1234_5678);
            lane.sync(Kind::Acquire, 0x40_1030, 0x50_0000, next(), &[round as u64 % 4]);
            let number = format.global.then(&mut next);
            lane.range(Kind::RangeRead, 0x40_1040, start as usize, 40, number, content);
            lane.sync(Kind::Release, 0x40_1050, 0x50_0000, next(), &[3]);
            lane.settle_any();
            lane.leave();
        }
        lane.sync(Kind::Wait, 0x40_1060, 0x50_0040, next(), &[0x50_0000]);
        lane.sync(Kind::WaitAcquire, 0x40_1070, 0x50_0000, next(), &[0x50_0040, 0]);
        lane.sync(Kind::Fork, 0x40_1080, 1, next(), &[]);
        lane.sync(Kind::AtomicRmw, 0x40_1090, 0x50_0080, next(), &[4 | 5 << 3, 1, 2]);
        lane.sync(Kind::HighHalves, 0x40_1090, 0x50_0080, next(), &[3, 4]);
        lane.sync(Kind::End, 0, 0, next(), &[]);
    }
}

const STD: &str = "\
T0|r(V123)|345
T1|w(V234.23[0])|456
T0|fork(T2)|123
T2|begin|119
T2|acq(L34)|120
T2|rel(L34)|130
T2|end(x)|131
T0|join(T2)|134
";

const TEXT: &str = "\
# a comment
T0 begin 0x7f00 8192
T0 fork T0.1
T0.1 acq m
T0.1 w x 5 @ file.c:12
T0.1 rel m
T0 acq l read tried
T0 r x+4:2 0x1f volatile
T0 wake c m by T0.1:3
T0 cas a:8 1 2 acqrel
T0! handler 11
F1 init b barrier 3
";

const TEXT_GLOBAL: &str = "order global\nT0 w x 1\nT0.1 w x 2\nT0 w x 3\nT0 exit -1\n";
