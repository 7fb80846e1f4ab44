// Panics of Rust, and the shared reads that decide about them. The comments at the ends of lines are their names.

pub const TABLE: [u8; 4] = [1, 2, 3, 4];

#[unsafe(no_mangle)]
pub static mut FIRST: i32 = 0;
#[unsafe(no_mangle)]
pub static mut SECOND: i32 = 0;
#[unsafe(no_mangle)]
pub static mut INDEX: usize = 0;
#[unsafe(no_mangle)]
pub static mut FOUND: Option<i32> = None;
#[unsafe(no_mangle)]
pub static mut ANSWER: Result<i32, u8> = Ok(0);
#[unsafe(no_mangle)]
pub static mut UNRELATED: i32 = 0;

#[unsafe(no_mangle)]
pub extern "C" fn compare() -> i32 {
    let other = unsafe { UNRELATED }; // unrelated
    let first = unsafe { FIRST }; // first
    let second = unsafe { SECOND }; // second
    assert!(first == second); // assertion
    other
}

#[unsafe(no_mangle)]
pub extern "C" fn state() {
    let now = unsafe { FIRST }; // now
    if now == 7 {
        panic!("seven"); // panic
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn element() -> u8 {
    let index = unsafe { INDEX }; // index
    TABLE[index] // bounds
}

#[unsafe(no_mangle)]
pub extern "C" fn increment() -> i32 {
    let left = unsafe { FIRST }; // left
    left + 1 // overflow
}

#[unsafe(no_mangle)]
pub extern "C" fn divide() -> i32 {
    let divisor = unsafe { SECOND }; // divisor
    100 / divisor // division
}

#[unsafe(no_mangle)]
pub extern "C" fn option() -> i32 {
    let found = unsafe { FOUND }; // found
    found.unwrap() // unwrap
}

#[unsafe(no_mangle)]
pub extern "C" fn expected() -> i32 {
    let found = unsafe { FOUND }; // expected
    found.expect("it was found") // expect
}

#[unsafe(no_mangle)]
pub extern "C" fn result() -> i32 {
    let answer = unsafe { ANSWER }; // answer
    answer.unwrap() // unwrap of result
}
