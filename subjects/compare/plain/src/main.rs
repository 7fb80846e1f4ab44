//! Runs one of the programs.

mod programs;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("lost_update") => programs::lost_update(),
        Some("check_then_act") => programs::check_then_act(),
        Some("deadlock") => programs::deadlock(),
        Some("lost_wakeup") => programs::lost_wakeup(),
        Some("early_stop") => programs::early_stop(),
        _ => panic!("which program?"),
    }
}
