//! Signal handlers record into an event stream of their own, because a handler may interrupt a hook
//! halfway through a record. Each handler of the program is called by the runtime's handler, which
//! switches streams.
//!
//! For memory faults the runtime's handler is always installed. It checks whether the fault comes
//! from a load by which the runtime reads memory that may be unmapped ([`norn_abi::peek`]). If not,
//! it acts like the program's handler, or like the default action if there is none.

use core::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

use norn_abi::{
    Kind,
    arena::{ThreadSlot, role},
};

use super::interpose;
use crate::{
    arena, channel,
    control::{self, sample},
    event, function, real, signal as gate, sys, thread, tls,
};

const SIGNALS: usize = 65;
const SIGILL: c_int = 4;
const SIGBUS: c_int = 7;
const SIGFPE: c_int = 8;
pub const SIGSEGV: c_int = 11;
/// Signals by which the processor reports a faulting instruction.
const FAULTS_OF_CODE: [c_int; 4] = [SIGILL, SIGBUS, SIGFPE, SIGSEGV];
const SIG_IGN: usize = 1;
const SA_SIGINFO: c_int = 4;
const SA_RESETHAND: c_int = 0x8000_0000_u32 as c_int;
const SA_ONSTACK: c_int = 0x0800_0000;
const SA_RESTART: c_int = 0x1000_0000;
const SIG_ERR: usize = usize::MAX;

/// libc's `struct sigaction`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

impl Action {
    /// The runtime's action, for signals without a handler of the program.
    fn guard() -> Action {
        let handler = handle as *const () as usize;
        // A sample of the thread must not end a system call.
        let flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
        Action { handler, mask: [0; 16], flags, restorer: 0 }
    }
}

/// The part of libc's `ucontext_t` that the runtime uses.
#[repr(C)]
struct Context {
    flags: u64,
    link: usize,
    stack: usize,
    stack_flags: u64,
    stack_size: usize,
    registers: [usize; 23],
    float_state: usize,
    reserved: [u64; 8],
    /// The signals that are blocked when the handler has returned.
    mask: u64,
}

/// Indices in [`Context::registers`].
const RSP: usize = 15;
const RIP: usize = 16;

type Handler = unsafe extern "C-unwind" fn(c_int, *mut c_void, *mut c_void);

/// The program's handlers and their flags.
static HANDLERS: [(AtomicUsize, AtomicU32); SIGNALS] =
    [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; SIGNALS];
/// The signals that are blocked while a handler runs, in addition to its own.
static MASKS: [AtomicU64; SIGNALS] = [const { AtomicU64::new(0) }; SIGNALS];

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn sigaction(signal: c_int, new: usize, old: usize, _pc: usize) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe { change(signal, new as *const Action, old as *mut Action) }
}

/// # Safety
/// As for `sigaction`.
unsafe fn change(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let real = real::sigaction();
        let Some((handler, flags)) = HANDLERS.get(signal as usize) else {
            return real(signal, new as usize, old as usize);
        };
        if thread::recorded().is_none() {
            return real(signal, new as usize, old as usize);
        }
        let before = (handler.load(Ordering::Relaxed), flags.load(Ordering::Relaxed));
        let mut ours;
        let mut given = new;
        if !new.is_null() && ((*new).handler > SIG_IGN || is_fault(signal)) {
            handler.store((*new).handler, Ordering::Relaxed);
            flags.store((*new).flags as u32, Ordering::Relaxed);
            MASKS[signal as usize].store((*new).mask[0], Ordering::Relaxed);
            ours = Action::guard();
            if (*new).handler > SIG_IGN {
                (ours.mask, ours.flags) = ((*new).mask, (*new).flags | SA_SIGINFO);
            }
            given = &raw const ours;
        }
        let result = real(signal, given as usize, old as usize);
        if result != 0 && given != new {
            handler.store(before.0, Ordering::Relaxed);
            flags.store(before.1, Ordering::Relaxed);
        } else if result == 0 && !new.is_null() {
            if given == new {
                handler.store((*new).handler, Ordering::Relaxed);
            }
            gate::set_handled(signal, (*new).handler > SIG_IGN);
        }
        if result == 0 && !old.is_null() && (*old).handler == handle as *const () as usize {
            (*old).handler = before.0;
            (*old).flags = before.1 as c_int;
        }
        result
    }
}

/// # Safety
/// As for the function of libc in whose place it is called.
unsafe extern "C-unwind" fn signal(signal: c_int, handler: usize, _pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if thread::recorded().is_none() {
            return real::signal()(signal, handler);
        }
        let new = Action { handler, mask: [0; 16], flags: SA_RESTART, restorer: 0 };
        let mut old = Action { handler: 0, mask: [0; 16], flags: 0, restorer: 0 };
        let result = change(signal, &raw const new, &raw mut old);
        if result == 0 { old.handler } else { SIG_ERR }
    }
}

fn is_fault(signal: c_int) -> bool {
    FAULTS_OF_CODE.contains(&signal)
}

/// Whether a signal takes effect at once: it concerns the instruction that causes it.
pub fn is_synchronous(signal: c_int) -> bool {
    const SIGTRAP: c_int = 5;
    const SIGABRT: c_int = 6;
    const SIGSYS: c_int = 31;
    is_fault(signal) || matches!(signal, SIGTRAP | SIGABRT | SIGSYS)
}

/// Installs our handler for memory faults.
///
/// # Safety
/// No other thread runs yet.
pub unsafe fn guard() {
    for signal in FAULTS_OF_CODE {
        let ours = Action::guard();
        let mut old = ours;
        // SAFETY: both addresses are those of valid actions.
        unsafe {
            real::sigaction()(signal, &raw const ours as usize, &raw mut old as usize);
        }
        HANDLERS[signal as usize].0.store(old.handler, Ordering::Relaxed);
    }
}

unsafe extern "C" {
    /// The table of [`norn_abi::peek`]; the linker defines symbols at its ends.
    #[link_name = "__start_norn_faults"]
    static FAULTS: [i32; 2];
    #[link_name = "__stop_norn_faults"]
    static FAULTS_END: [i32; 2];
}

/// Continues behind the faulting load if the table lists that load. Returns whether it does.
///
/// # Safety
/// The context is that of a fault on the current thread.
unsafe fn recover(context: &mut Context) -> bool {
    // SAFETY: the pointer stays between the table's ends.
    unsafe {
        let mut entry = &raw const FAULTS;
        while entry < &raw const FAULTS_END {
            let [load, next] = *entry;
            let at = entry as usize;
            if context.registers[RIP] == at.wrapping_add_signed(load as isize) {
                context.registers[RIP] = (at + 4).wrapping_add_signed(next as isize);
                return true;
            }
            entry = entry.add(1);
        }
    }
    false
}

/// Handles a fault for which the program has no handler by restoring the default action: a fault
/// happens again on return, and a signal that was sent is sent again.
///
/// # Safety
/// Called in the runtime's handler, with the kernel's information.
unsafe fn default_action(signal: c_int, info: *mut c_void) {
    // SAFETY: the kernel provides the information; its third word is the origin of the signal.
    unsafe {
        let sent = *info.cast::<c_int>().add(2) <= 0;
        let ignored = HANDLERS[signal as usize].0.load(Ordering::Relaxed) == SIG_IGN;
        if sent && ignored {
            return;
        }
        let mut action = Action::guard();
        (action.handler, action.flags) = (0, 0);
        real::sigaction()(signal, &raw const action as usize, 0);
        if sent {
            sys::signal_self(signal);
        }
    }
}

/// Whether memory can have an address: all bits from the 48th on are equal.
fn is_possible(address: usize) -> bool {
    const UNUSED: u32 = 16;
    (address.cast_signed() << UNUSED >> UNUSED).cast_unsigned() == address
}

/// Records the signal that is about to end the program.
///
/// # Safety
/// Called in the runtime's handler, with the kernel's information.
unsafe fn note(signal: c_int, info: *mut c_void, context: &Context) {
    let slot = tls::current();
    if !arena::is_open() || tls::is_stand(slot) {
        return;
    }
    const WIDEST: usize = 16;
    const SI_KERNEL: c_int = 0x80;
    let outcome = arena::outcome();
    // SAFETY: the slot is the current thread's; the kernel's third word is the address. A hook may
    // read the memory before the program does, so a fault in the runtime may still be the
    // program's.
    unsafe {
        let (pc, accessed) = (*slot).access;
        let address = match *info.cast::<c_int>().add(2) {
            // The kernel does not know an address that no memory can have: nothing looks it up.
            SI_KERNEL if control::was_on() && !is_possible(accessed) => accessed,
            SI_KERNEL => usize::MAX,
            _ => *info.cast::<usize>().add(2),
        };
        let hooked = control::was_on() && address.wrapping_sub(accessed) < WIDEST;
        let pc = if hooked { pc } else { context.registers[RIP] };
        outcome.process.store((*slot).head.process, Ordering::Relaxed);
        outcome.signal_thread.store((*slot).head.thread, Ordering::Relaxed);
        outcome.signal_addr.store(address as u64, Ordering::Relaxed);
        outcome.signal_pc.store(pc as u64, Ordering::Relaxed);
    }
    outcome.signal.store(signal as u32, Ordering::Release);
}

/// The runtime's handler: it runs the program's handler on the handler stream of the interrupted
/// one.
///
/// # Safety
/// Called by the kernel.
unsafe extern "C-unwind" fn handle(signal: c_int, info: *mut c_void, context: *mut c_void) {
    // SAFETY: called by the kernel; the handler address was given by the program.
    unsafe {
        let interrupted = &mut *context.cast::<Context>();
        if sample::is_request(signal, info.cast()) {
            return sample::take(&interrupted.registers[..=RIP], interrupted.registers[RSP]);
        }
        if is_fault(signal) && recover(interrupted) {
            return;
        }
        let handler = HANDLERS[signal as usize].0.load(Ordering::Relaxed);
        if handler <= SIG_IGN {
            note(signal, info, interrupted);
            return default_action(signal, info);
        }
        let host = tls::current();
        if tls::is_stand(host) {
            if host == tls::BUSY.slot() && gate::is_gated(signal) {
                return hold_back(signal, info, interrupted);
            }
            return core::mem::transmute::<usize, Handler>(handler)(signal, info, context);
        }
        if gate::is_gated(signal) {
            let own = thread::own(host);
            let ordered = (*own).ordered == signal;
            if !ordered && !(*own).outside {
                return hold_back(signal, info, interrupted);
            }
            (*own).ordered = 0;
            if ordered {
                // The next one of these signals may be for another thread.
                interrupted.mask |= gate::bit(signal);
            }
            let stream = control::handler_begins(host, ordered);
            run(signal, info, context, (host, stream));
            let flags = HANDLERS[signal as usize].1.load(Ordering::Relaxed);
            if flags & SA_RESETHAND as u32 != 0 {
                gate::set_handled(signal, false);
            }
            let more = !(*own).outside && gate::is_more_pending(host);
            return control::handler_ends(host, flags & SA_RESTART as u32 != 0, more);
        }
        if !is_fault(signal) && defer(host, signal, info) {
            return;
        }
        run(signal, info, context, (host, stream_of(host)));
    }
}

/// Runs the program's handler on the stream for handlers that interrupt `host`.
///
/// # Safety
/// Called in the runtime's handler, with its arguments; the slots are the current thread's.
unsafe fn run(
    signal: c_int,
    info: *mut c_void,
    context: *mut c_void,
    (host, stream): (*mut ThreadSlot, Option<*mut ThreadSlot>),
) {
    // SAFETY: guaranteed by the caller; the handler's address was given by the program.
    unsafe {
        let handler = HANDLERS[signal as usize].0.load(Ordering::Relaxed);
        let handler = core::mem::transmute::<usize, Handler>(handler);
        let Some(stream) = stream else {
            tls::set(tls::BUSY.slot());
            handler(signal, info, context);
            return tls::set(host);
        };
        let interrupted = &*context.cast::<Context>();
        let own = thread::own(stream);
        (*own).clock = (*own).clock.max((*thread::own(host)).clock);
        (*own).handler_sp = interrupted.registers[RSP];
        (*own).handler_stack = own_stack(interrupted);
        (*own).active = true;
        let blocked = MASKS[signal as usize].load(Ordering::Relaxed) | gate::bit(signal);
        (*own).mask = (*thread::own(host)).mask | blocked;
        tls::set(stream);
        event::note(stream, Kind::HandlerBegin, 0, signal as usize, &[]);
        note_source(stream, signal, info);
        handler(signal, info, context);
        end(stream, host, signal);
    }
}

/// Records which signal the handler has received: what was sent to its thread, or to the process.
///
/// # Safety
/// The slot is the handler's; the information comes from the kernel.
unsafe fn note_source(stream: *mut ThreadSlot, signal: c_int, info: *mut c_void) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let thread = (*gate::root(stream)).head.thread;
        let (channel, how) = channel::signal::source(signal, info as usize, thread);
        event::note(stream, Kind::Receive, 0, channel as usize, &[1, how]);
    }
}

/// Records the end of a handler and returns to the interrupted stream.
///
/// # Safety
/// The slots are the current thread's.
unsafe fn end(stream: *mut ThreadSlot, host: *mut ThreadSlot, signal: c_int) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let root = gate::root(stream);
        let channel = channel::signal::of_handled((*root).head.thread);
        event::put(stream, Kind::Send, 0, channel as usize, &[1]);
        event::put(stream, Kind::HandlerEnd, 0, signal as usize, &[]);
        (*thread::own(root)).handled += 1;
        (*thread::own(stream)).active = false;
        tls::set(host);
    }
}

/// Keeps a signal pending that has arrived before the thread could block it: it blocks it from now
/// on, and sends it to itself again.
///
/// # Safety
/// Called in the runtime's handler, with its arguments.
unsafe fn hold_back(signal: c_int, info: *mut c_void, context: &mut Context) {
    context.mask |= gate::bit(signal);
    sys::signal_thread(sys::thread_id(), signal, info as usize);
}

/// Defers a signal that arrives between an atomic operation and its number, which belong together.
/// Only one signal can be deferred; a second one in the same window is handled at once.
///
/// # Safety
/// The slot is the current thread's and not a placeholder; `info` comes from the kernel.
unsafe fn defer(slot: *mut ThreadSlot, signal: c_int, info: *mut c_void) -> bool {
    // SAFETY: the slot is the current thread's; the kernel's information has that size.
    unsafe {
        let own = thread::own(slot);
        if !(*own).in_atomic || (*own).deferred != 0 {
            return false;
        }
        for i in 0..(*own).deferred_info.len() {
            let word = info.cast::<u64>().add(i).read_volatile();
            (&raw mut (*own).deferred_info[i]).write_volatile(word);
        }
        (*own).deferred = signal;
    }
    true
}

/// Delivers the deferred signal after the atomic operation.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
#[inline]
pub unsafe fn deliver(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let own = thread::own(slot);
        if (&raw const (*own).deferred).read_volatile() != 0 {
            let signal = core::mem::take(&mut (*own).deferred);
            sys::signal_self_with(signal, &(*own).deferred_info);
        }
    }
}

/// The alternate signal stack, if this handler runs on one.
fn own_stack(context: &Context) -> (usize, usize) {
    let at = &raw const *context as usize;
    let (start, size) = (context.stack, context.stack_size);
    if at.wrapping_sub(start) < size { (start, size) } else { (0, 0) }
}

/// The stream for handlers that interrupt `host`; nested handlers have streams of their own.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn stream_of(host: *mut ThreadSlot) -> Option<*mut ThreadSlot> {
    // SAFETY: the slots are the current thread's.
    unsafe {
        if !(*thread::own(host)).handler.is_null() {
            return Some((*thread::own(host)).handler);
        }
        let stream = arena::take_slot()?;
        let number = arena::process().threads.fetch_add(1, Ordering::Relaxed);
        thread::name(stream, number, (*host).head.thread, 0, role::HANDLER);
        arena::start(stream);
        (*thread::own(stream)).host = host;
        (*thread::own(host)).handler = stream;
        Some(stream)
    }
}

/// Called at a jump out of handlers: returns to the stream that runs at stack pointer `sp`.
///
/// # Safety
/// The program is about to jump, on the current thread, to a frame at `sp`.
pub unsafe fn leave_handlers(sp: usize) {
    // SAFETY: the slots are the current thread's.
    unsafe {
        let mut slot = tls::current();
        while !tls::is_stand(slot) && !(*thread::own(slot)).host.is_null() {
            let (stack, size) = (*thread::own(slot)).handler_stack;
            let stays = match size {
                0 => sp < (*thread::own(slot)).handler_sp,
                _ => sp.wrapping_sub(stack) < size,
            };
            if stays {
                break;
            }
            function::expire(slot, usize::MAX);
            let host = (*thread::own(slot)).host;
            end(slot, host, 0);
            slot = host;
            (*slot).lane.forget();
            control::handler_is_left(slot);
        }
    }
}

interpose! {
    sigaction(3) => sigaction;
    signal(2) => signal;
    bsd_signal(2) => signal;
}
