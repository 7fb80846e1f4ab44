//! The fuzz targets: functions that read arbitrary bytes, and must neither panic nor hang. Each
//! returns whether its whole input was valid.
//!
//! They run under libFuzzer (`fuzz_targets/`), which needs a nightly compiler, and under a plain
//! driver that needs nothing (`src/main.rs`).

pub mod seed;

use norn_abi::{
    Decoder,
    codec::{Codec, Format},
};
use norn_model::{Order, OsText, text};
use norn_property::File;
use norn_trace::{FORMAT, Run, Trace, export_std, import_std};

/// The first byte selects the format, the others are the records of a chunk.
pub fn decode_chunk(data: &[u8]) -> bool {
    let Some((&options, records)) = data.split_first() else { return true };
    let codec = if options & 4 != 0 { Codec::V2 } else { Codec::V1 };
    let format = Format { values: options & 1 != 0, global: options & 2 != 0, codec };
    let mut decoder = Decoder::new(records, format, 0);
    loop {
        match decoder.next_record() {
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(fault) => {
                assert!(fault.offset < records.len());
                return false;
            }
        }
    }
}

/// The bytes are a file of chunks.
pub fn open_trace(data: &[u8]) -> bool {
    let trace = Trace::from_bytes(run(), 0, data.to_vec());
    let counted = trace.counts().events;
    let events: usize = trace.threads().iter().map(|it| trace.events(it.id).count()).sum();
    assert_eq!(events as u64, counted);
    assert_eq!(trace.merged().count(), events);
    if let Some(event) = trace.merged().last() {
        assert_eq!(trace.event(event.id), Some(event));
    }
    trace.damage().is_empty()
}

/// The bytes are a property file. Its diagnostics can be rendered.
pub fn property_parse(data: &[u8]) -> bool {
    let text = String::from_utf8_lossy(data);
    match File::parse(&text) {
        Ok(_) => true,
        Err(diagnostics) => {
            assert!(
                diagnostics.iter().all(|it| !it.show("property", &text).to_string().is_empty())
            );
            false
        }
    }
}

/// The bytes are a trace in RAPID's format. A valid one can be exported, and reads back the same.
pub fn std_import(data: &[u8]) -> bool {
    let Ok(imported) = import_std(&String::from_utf8_lossy(data)) else { return false };
    let mut first = Vec::new();
    export_std(&imported.trace, &mut first).expect("memory takes everything");
    let again = import_std(&String::from_utf8_lossy(&first)).expect("what we write, we can read");
    let mut second = Vec::new();
    export_std(&again.trace, &mut second).expect("memory takes everything");
    assert_eq!(first, second);
    true
}

/// The bytes are a trace in our notation. A valid one can be printed, and reads back the same.
pub fn text_parse(data: &[u8]) -> bool {
    let Ok(trace) = text::parse(&String::from_utf8_lossy(data)) else { return false };
    let printed = text::print(&trace);
    let again = text::parse(&printed).expect("what we print, we can read");
    assert_eq!(text::print(&again), printed);
    true
}

/// A minimal description of a run.
pub fn run() -> Run {
    Run {
        format: FORMAT,
        norn: String::new(),
        command: Vec::new(),
        directory: OsText::default(),
        order: Order::Local,
        values: true,
        complete: true,
        stopped: None,
        processes: Vec::new(),
        unrecorded_processes: 0,
        unrecorded_threads: 0,
        late_events: 0,
        controlled: None,
        functions: Vec::new(),
    }
}
