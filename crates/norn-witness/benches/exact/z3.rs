//! The same constraints, solved by Z3. It runs as a process, so that the build does not depend on
//! it.

use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::Instant,
};

use norn_testkit::Workload;
use norn_witness::{Engine, Exact, Infeasible, Limits};

use crate::{candidate, cpu};

/// Number of queries per size of trace.
const QUESTIONS: usize = 30;

/// Prints the times of both solvers.
pub(crate) fn compare(sizes: &[usize]) {
    if ask("(check-sat)").is_none() {
        println!("there is no `z3` on the PATH: nothing to compare with");
        return;
    }
    println!("events questions  sat unsat differing  exact ms     z3 ms   times");
    for &events in sizes {
        let load = Workload { threads: 8, events, values: 3, locks: 0, seed: 1 };
        let trace = load.trace();
        let exact = Exact::new(&trace, Limits::default());
        let none = Exact::new(&trace, Limits { steps: 0, ..Limits::default() });
        let [mut ours, mut theirs] = [0.0, 0.0];
        let [mut asked, mut sat, mut differing] = [0, 0, 0];
        for (steps, adjacent) in load.questions(&trace, 4000) {
            let candidate = candidate(&steps, adjacent);
            let refuted = none.schedules(&candidate).next() == Some(Err(Infeasible::NoOrder));
            if refuted || asked == QUESTIONS {
                continue;
            }
            let Some((text, possible)) = exact.smt(&candidate) else { continue };
            let start = cpu();
            let answer = exact.schedules(&candidate).next();
            ours += cpu() - start;
            assert_eq!(answer.is_some_and(|it| it.is_ok()), possible);
            // The start-up time of Z3 is not counted.
            let empty = ask("(check-sat)").map_or(0.0, |it| it.1);
            let Some((answer, time)) = ask(&text) else { continue };
            theirs += (time - empty).max(0.0);
            differing += usize::from(answer != possible);
            sat += usize::from(possible);
            asked += 1;
        }
        let each = |all: f64| all / f64::from(u32::try_from(asked).unwrap_or(1).max(1));
        println!(
            "{events:>6} {asked:>9} {sat:>4} {:>5} {differing:>9} {:>9.3} {:>9.1} {:>7.0}",
            asked - sat,
            each(ours),
            each(theirs),
            theirs / ours
        );
    }
}

/// The answer of Z3, and its time in milliseconds.
fn ask(text: &str) -> Option<(bool, f64)> {
    let start = Instant::now();
    let mut z3 = Command::new("z3");
    let z3 = z3.args(["-in", "-T:60"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut z3 = z3.spawn().ok()?;
    z3.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = z3.wait_with_output().ok()?;
    let answer = String::from_utf8_lossy(&output.stdout);
    Some((answer.trim() == "sat", start.elapsed().as_secs_f64() * 1e3))
}
