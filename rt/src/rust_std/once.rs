//! `std::sync::Once`, on which `OnceLock` and `LazyLock` are built.
//!
//! The function of `std` decides which thread initialises, and waits by futex calls. It is given a closure
//! of the runtime, which records the events and calls the program's closure.

use core::{
    ffi::c_int,
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::{Kind, arena::ThreadSlot, rust_std::Role};

use super::redirect::{entries, original};
use crate::{control, event, thread, tls};

const COMPLETE: u32 = 0;

/// Whether the initialisation is complete. Only that is an event: otherwise the program calls the slow
/// path, which asks the scheduler and looks again.
///
/// # Safety
/// `once` lives.
unsafe extern "C" fn do_completed(once: &AtomicU32, _: c_int, pc: usize) -> u32 {
    let state = once.load(Ordering::Acquire);
    if state == COMPLETE
        && let Some(slot) = thread::recorded()
    {
        // SAFETY: the slot is the current thread's.
        unsafe { event::put(slot, Kind::OnceDone, pc, once.as_ptr() as usize, &[]) };
    }
    state
}

/// # Safety
/// As for `Once::is_completed` of `std`.
unsafe extern "C" fn do_completed_call(once: &AtomicU32, pc: usize) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { do_completed(once, 0, pc) == COMPLETE }
}

/// A closure behind a `&mut dyn FnMut(&OnceState)`: its data and its table of methods.
#[repr(C)]
struct Closure {
    data: usize,
    methods: *const [usize; METHODS],
}

/// The methods of `dyn FnMut`: drop, size, alignment, `call_once`, `call_mut`.
const METHODS: usize = 5;
const CALL_MUT: usize = 4;

/// A closure of the program, and where it is called.
struct Initialiser {
    closure: Closure,
    once: usize,
    pc: usize,
    has_run: bool,
}

type Call = unsafe extern "C-unwind" fn(usize, usize, usize, *const [usize; METHODS], usize);
type CallMut = unsafe extern "C-unwind" fn(usize, usize);

/// The last argument is the caller's location, for messages.
///
/// # Safety
/// As for `Once::call` of `std`.
unsafe extern "C-unwind" fn do_call(
    once: usize,
    ignore_poisoning: usize,
    data: usize,
    methods: *const [usize; METHODS],
    location: usize,
    pc: usize,
) {
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        let real = core::mem::transmute::<usize, Call>(original(Role::OnceCall));
        let Some(slot) = thread::recorded() else {
            return real(once, ignore_poisoning, data, methods, location);
        };
        control::before(slot, Kind::OnceDone, pc, once);
        let closure = Closure { data, methods };
        let mut initialiser = Initialiser { closure, once, pc, has_run: false };
        let mut own = [0; METHODS];
        own[..CALL_MUT].copy_from_slice(&(&*methods)[..CALL_MUT]);
        own[CALL_MUT] = initialise as *const () as usize;
        let outer = core::mem::replace(&mut (*thread::own(slot)).std_pc, pc);
        real(once, ignore_poisoning, &raw mut initialiser as usize, &raw const own, location);
        (*thread::own(slot)).std_pc = outer;
        if !initialiser.has_run {
            event::note(slot, Kind::OnceDone, pc, once, &[]);
        }
    }
}

/// # Safety
/// Called by `Once::call`, inside [`do_call`], on the same thread.
unsafe extern "C-unwind" fn initialise(initialiser: &mut Initialiser, state: usize) {
    let slot: *mut ThreadSlot = tls::current();
    let Initialiser { closure, once, pc, has_run } = initialiser;
    // SAFETY: the closure is the program's. If it panics, the next event finds that its frame is gone.
    unsafe {
        let own = thread::own(slot);
        let outer = ((*own).once_sp, (*own).once_pc, (*own).once_object, (*own).std_pc);
        event::note(slot, Kind::OnceBegin, *pc, *once, &[]);
        ((*own).once_sp, (*own).once_pc, (*own).once_object, (*own).std_pc) =
            (thread::stack_pointer(), *pc, *once, 0);
        core::mem::transmute::<usize, CallMut>((*closure.methods)[CALL_MUT])(closure.data, state);
        ((*own).once_sp, (*own).once_pc, (*own).once_object, (*own).std_pc) = outer;
        event::put(slot, Kind::OnceEnd, *pc, *once, &[1]);
        *has_run = true;
    }
}

/// # Safety
/// As for `Once::wait` of `std`.
unsafe extern "C-unwind" fn do_wait(
    once: usize,
    ignore_poisoning: usize,
    location: usize,
    pc: usize,
) {
    type Wait = unsafe extern "C-unwind" fn(usize, usize, usize);
    // SAFETY: guaranteed by the caller. The target is the function that the program called.
    unsafe {
        let real = core::mem::transmute::<usize, Wait>(original(Role::OnceWait));
        super::park::inside(pc, || real(once, ignore_poisoning, location));
        if let Some(slot) = thread::recorded() {
            event::put(slot, Kind::OnceDone, pc, once, &[]);
        }
    }
}

entries! {
    completed(2) => do_completed;
    completed_call(1) => do_completed_call;
    call(5) => do_call;
    wait(3) => do_wait;
}
