// Loses a job: the number of jobs, a field of a variant, is read in one critical section and written in another.
// Finds: atomicity on State::Running.jobs; panic

use std::{
    sync::{Arc, Mutex},
    thread,
};

#[derive(Debug, PartialEq)]
enum State {
    Idle,
    Running { jobs: u32, name: String },
    Done(u64),
}

fn start(state: &Mutex<State>) {
    let jobs = |state: &State| match state {
        State::Running { jobs, .. } => *jobs,
        State::Idle | State::Done(_) => 0,
    };
    let set = |state: &mut State, number| match state {
        State::Running { jobs, .. } => *jobs = number,
        State::Idle | State::Done(_) => {}
    };
    if cfg!(fixed) {
        let mut state = state.lock().unwrap();
        let number = jobs(&state);
        set(&mut state, number + 1);
        return;
    }
    let number = jobs(&state.lock().unwrap());
    set(&mut state.lock().unwrap(), number + 1);
}

fn main() {
    let state = Arc::new(Mutex::new(State::Running { jobs: 0, name: "index".to_owned() }));
    let shared = Arc::clone(&state);
    let other = thread::spawn(move || start(&shared));
    start(&state);
    other.join().unwrap();
    let expected = State::Running { jobs: 2, name: "index".to_owned() };
    assert_eq!(*state.lock().unwrap(), expected);
}
