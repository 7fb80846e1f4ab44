//! Measures the analysis of one program: `cargo run --release -p norn-sites --example analyse PROGRAM`.
#![allow(clippy::print_stdout, reason = "a command")]

use std::{collections::BTreeMap, env, process::ExitCode, time::Instant};

use norn_binary::Module;
use norn_sites::{FailureSites, Options};

fn main() -> ExitCode {
    let Some(path) = env::args_os().nth(1) else {
        println!("usage: analyse PROGRAM");
        return ExitCode::from(2);
    };
    let begin = Instant::now();
    let module = match Module::open(&path) {
        Ok(module) => module,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    let FailureSites { sites, conditions } = FailureSites::find(&module, &Options::default());
    let time = begin.elapsed();
    let code: u64 =
        module.segments().iter().filter(|it| it.executable).map(|it| it.file_size).sum();
    let mut kinds = BTreeMap::new();
    for site in &sites {
        let (count, reads) = kinds.entry(site.kind).or_insert((0, 0));
        (*count, *reads) = (*count + 1, *reads + site.reads.len());
    }
    println!("{} bytes of code in {:.2} s", code, time.as_secs_f64());
    for (kind, (sites, reads)) in kinds {
        println!("{kind:?}: {sites} sites, {reads} reads");
    }
    println!("{} conditions", conditions.len());
    ExitCode::SUCCESS
}
