//! Measures the time and memory of the search: `cargo bench -p norn-predict`.
//!
//! The number of events can be given: `cargo bench -p norn-predict -- 1000000`.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::{fs, time::Instant};

use norn_predict::{Options, predict};
use norn_testkit::long;

fn main() {
    let given = std::env::args().find_map(|it| it.parse().ok());
    let trace = long(8, given.unwrap_or(10_000_000));
    let before = memory("VmRSS");
    // Resets the kernel's record of the peak memory.
    let _ = fs::write("/proc/self/clear_refs", "5");
    for threads in [1, 2] {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else { return };
        let start = Instant::now();
        let prediction = pool.install(|| predict(&trace, &Options::default()));
        let seconds = start.elapsed().as_secs_f64();
        let more = memory("VmHWM").saturating_sub(before);
        let events = trace.len() as f64;
        println!(
            "{threads} cores: {:.1} M events/s ({seconds:.2} s), {:.1} bytes/event more, {} of {} accesses shared, {} candidates",
            events / seconds / 1e6,
            more as f64 * 1024.0 / events,
            prediction.shared,
            trace.len(),
            prediction.candidates.len(),
        );
    }
}

/// A line of the process's status, in kibibytes.
fn memory(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|it| it.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
}
