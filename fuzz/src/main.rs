//! Runs a target with many inputs, without libFuzzer:
//! `cargo run --release --manifest-path fuzz/Cargo.toml -- decode_chunk 1000000 [SEED]`.
//!
//! The inputs are mutated copies of valid ones. The same seed gives the same inputs. An input that
//! makes a target panic is written to a file.

mod mutate;

use std::{
    env, fs, io, panic,
    process::ExitCode,
    time::{Duration, Instant},
};

use mutate::{Random, mutated};

/// A target reads an input and returns whether all of it was valid.
type Target = fn(&[u8]) -> bool;

const TARGETS: [(&str, Target); 5] = [
    ("decode_chunk", norn_fuzz::decode_chunk),
    ("open_trace", norn_fuzz::open_trace),
    ("property_parse", norn_fuzz::property_parse),
    ("std_import", norn_fuzz::std_import),
    ("text_parse", norn_fuzz::text_parse),
];

fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let mut number = || words.next().and_then(|it| it.parse().ok());
    let (count, seed) = (number().unwrap_or(100_000), number().unwrap_or(1));
    let Some((name, target)) = TARGETS.into_iter().find(|it| it.0 == name) else {
        let names = TARGETS.map(|it| it.0).join("|");
        eprintln!("usage: norn-fuzz {names} [INPUTS] [SEED]");
        return ExitCode::from(2);
    };
    match run(name, target, count, seed) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("norn-fuzz: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs all inputs; returns false if one made the target panic.
fn run(name: &str, target: Target, count: u64, seed: u64) -> io::Result<bool> {
    let seeds = norn_fuzz::seed::seeds(name)?;
    let mut random = Random(seed.max(1));
    let mut progress = Progress::new(name, count);
    for _ in 0..count {
        let data = mutated(&seeds, &mut random);
        match panic::catch_unwind(|| target(&data)) {
            Ok(whole) => progress.step(whole, data.len()),
            Err(_) => {
                let file = format!("crash-{name}-{seed}-{}", progress.done);
                fs::write(&file, &data)?;
                eprintln!("norn-fuzz: {name} panicked, the input is in `{file}`");
                return Ok(false);
            }
        }
    }
    progress.report();
    eprintln!();
    Ok(true)
}

/// Counts and reports progress.
struct Progress<'a> {
    name: &'a str,
    count: u64,
    done: u64,
    whole: u64,
    bytes: u64,
    start: Instant,
    reported: Instant,
    slowest: Duration,
    last: Instant,
}

impl<'a> Progress<'a> {
    fn new(name: &'a str, count: u64) -> Self {
        let (start, slowest) = (Instant::now(), Duration::ZERO);
        Progress {
            name,
            count,
            done: 0,
            whole: 0,
            bytes: 0,
            start,
            reported: start,
            slowest,
            last: start,
        }
    }

    fn step(&mut self, whole: bool, bytes: usize) {
        let now = Instant::now();
        self.done += 1;
        self.whole += u64::from(whole);
        self.bytes += bytes as u64;
        self.slowest = self.slowest.max(now - self.last);
        self.last = now;
        if now - self.reported > Duration::from_secs(1) {
            self.reported = now;
            self.report();
        }
    }

    fn report(&self) {
        let Progress { name, count, done, whole, slowest, .. } = self;
        let seconds = self.start.elapsed().as_secs_f64();
        eprint!(
            "\r{name}: {done} of {count} inputs, {:.1} MB, {seconds:.1} s, {whole} read to the end, \
             slowest {slowest:.1?}  ",
            self.bytes as f64 / 1e6,
        );
    }
}
