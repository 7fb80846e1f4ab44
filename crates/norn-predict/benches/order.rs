//! Measures the search for order violations: `cargo bench -p norn-predict --bench order`.
//!
//! A short trace like that of the largest program of Chang et al. (*Biped*, IEICE Transactions 2015:
//! 26 threads, 5,069 events), and a long one. The number of its events can be given.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::time::{Duration, Instant};

use norn_model::Trace;
use norn_predict::{Options, predict};
use norn_testkit::long;

/// Number of measurements; the best counts, since other processes may use the machine.
const TIMES: usize = 5;

fn main() {
    let given = std::env::args().find_map(|it| it.parse().ok());
    measure(&long(26, 5_069));
    measure(&long(8, given.unwrap_or(10_000_000)));
}

fn measure(trace: &Trace) {
    let [one, two] = [1, 2].map(|threads| best(trace, threads));
    let Some(((one, found), (two, _))) = one.zip(two) else { return };
    println!(
        "{} events, {found} violations: {one:.2?} on one core, {two:.2?} on two ({:.2} times), \
         {:.1} M events/s",
        trace.len(),
        one.as_secs_f64() / two.as_secs_f64(),
        trace.len() as f64 / two.as_secs_f64() / 1e6,
    );
}

/// The shortest time with this number of threads, and the number of violations.
fn best(trace: &Trace, threads: usize) -> Option<(Duration, u64)> {
    let options = Options { patterns: Vec::new(), ..Options::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
    let runs = (0..TIMES).map(|_| {
        let start = Instant::now();
        let found = pool.install(|| predict(trace, &options)).violations;
        let first = found.iter().filter(|it| it.0.instance == 0);
        (start.elapsed(), first.map(|it| it.1.count).sum())
    });
    runs.min()
}
