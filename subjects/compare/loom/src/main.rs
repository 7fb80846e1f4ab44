//! Runs one of the programs under loom until it fails, and prints the number of executions and seconds.

mod programs;

use std::{
    env, panic, process,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

static EXECUTIONS: AtomicUsize = AtomicUsize::new(0);

fn main() {
    let program = match env::args().nth(1).as_deref() {
        Some("lost_update") => programs::lost_update,
        Some("check_then_act") => programs::check_then_act,
        Some("deadlock") => programs::deadlock,
        Some("lost_wakeup") => programs::lost_wakeup,
        Some("early_stop") => programs::early_stop,
        _ => panic!("which program?"),
    };
    let counted = move || {
        EXECUTIONS.fetch_add(1, Relaxed);
        program();
    };
    let start = Instant::now();
    // A deadlock cannot always be unwound.
    panic::set_hook(Box::new(move |_| {
        let (count, time) = (EXECUTIONS.load(Relaxed), start.elapsed().as_secs_f64());
        println!("fails after {count} executions, {time:.3} s");
        process::exit(0);
    }));
    loom::model(counted);
    println!("passes {} executions", EXECUTIONS.load(Relaxed));
}
