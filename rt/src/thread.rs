//! The life of a thread: how it is first seen, named, recorded and detached.

use core::{
    ffi::c_void,
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::{
    Kind,
    arena::{ENV, ThreadSlot, role},
};

use crate::{
    arena, capture, collect,
    control::{self, TaskId},
    event, fork, function, handle, hook, input, intercept, libc_check, real, signal, sys, tls,
};

/// The part of a thread's state that only the runtime uses, not the recorder.
#[repr(C)]
pub struct Own {
    /// The start function of the thread.
    pub start: usize,
    /// The argument of the start function.
    pub argument: usize,
    /// Number of children created so far.
    pub children: u32,
    /// Number of rounds of destructors that have passed.
    pub rounds: u32,
    /// The stream for the thread's signal handlers; null until a handler has run.
    pub handler: *mut ThreadSlot,
    /// For a handler's stream: the stream that it interrupts.
    pub host: *mut ThreadSlot,
    /// For a handler's stream: the stack pointer at the interruption.
    pub handler_sp: usize,
    /// For a handler's stream: start and size of the alternate stack that it runs on; 0 if none.
    pub handler_stack: (usize, usize),
    /// A signal that was deferred during an atomic operation, and the kernel's information about
    /// it.
    pub deferred: i32,
    pub deferred_info: [u64; 16],
    /// The thread executes libc's internal work, such as allocations for a new thread, which is not
    /// recorded.
    pub quiet: bool,
    /// Number of regions in which the thread's plain accesses are ignored.
    pub ignored: u16,
    /// Number of annotated operations of locks in whose code the thread is: its atomic operations are
    /// not recorded there.
    pub lock_code: u16,
    /// The fiber that the thread runs; 0 if it has never switched.
    pub fiber: usize,
    /// The caller of `operator new`, while the operator calls `malloc`.
    pub caller: usize,
    /// The number after its last event, if the thread has a clock of its own.
    pub clock: u64,
    /// The thread is inside an atomic operation.
    pub in_atomic: bool,
    /// The mutex of the condition wait in which the thread blocks.
    pub wait_mutex: usize,
    /// During a condition wait: the saved limit of the encoder; see [`arm`].
    pub lim: *mut u8,
    /// The task of the thread, or of the signal handlers that the stream is for.
    pub task: Option<TaskId>,
    /// The signals that the program blocks here. In a controlled run the thread blocks more; see
    /// [`crate::signal`].
    pub mask: u64,
    /// The signals that the runtime last blocked in addition.
    pub gated: u64,
    /// The signals to the process that the thread was chosen for.
    pub assigned: u64,
    /// The signals for which the thread waits in `sigwait`.
    pub awaited: u64,
    /// The signal that the thread is about to receive because the scheduler has decided so.
    pub ordered: i32,
    /// The number of events before which a handler last ended, plus 1, and whether calls that it
    /// interrupts are restarted.
    pub handled_at: u64,
    pub restarts: bool,
    /// Number of handlers that have ended on the thread.
    pub handled: u32,
    /// The thread has begun, and can receive signals.
    pub begun: bool,
    /// For a handler's stream: a handler runs.
    pub active: bool,
    /// The recording of the thread has stopped.
    pub stopped: bool,
    /// The thread, as it appears in shadow memory; see [`crate::collect`].
    pub word: u32,
    /// The state of the random choice of delays.
    pub delays: u64,
    /// The thread makes a call without the turn.
    pub outside: bool,
    /// The thread is cancelled asynchronously, as far as the program knows.
    pub asynchronous: bool,
    /// The call site of `syscall`, or of an OpenMP construct.
    pub call_pc: usize,
    /// The call of Rust's standard library that the thread is in; 0 if none.
    pub std_pc: usize,
    /// A wait in that call has timed out.
    pub std_late: bool,
    /// The thread's state in OpenMP; 0 until it uses it.
    pub omp: usize,
    /// Where the thread has thrown an exception that is not caught yet; 0 if it has not.
    pub thrown: usize,
    /// The initialiser that `pthread_once` may run.
    pub once: usize,
    /// The call site of `pthread_once`.
    pub once_pc: usize,
    /// The object of `pthread_once`; 0 once the initialiser has run.
    pub once_object: usize,
    /// While the initialiser runs: the stack pointer of its frame. A stack pointer above it means
    /// that an exception has left the initialiser.
    pub once_sp: usize,
    /// The offset of the thread's next input to be replayed.
    pub next_input: usize,
    /// Number of inputs that were replayed.
    pub inputs: u32,
    /// The thread has made a call other than the recorded one.
    pub parted: bool,
}

const _: () = assert!(size_of::<Own>() <= size_of::<[usize; 64]>());

/// The private part of a slot.
///
/// # Safety
/// The slot is one of the arena's and not a placeholder.
pub unsafe fn own(slot: *mut ThreadSlot) -> *mut Own {
    // SAFETY: the field is large enough; see the assertion above.
    unsafe { (&raw mut (*slot).own).cast() }
}

/// 0: not started; 1: a thread is starting the process; 2: done.
static READY: AtomicU32 = AtomicU32::new(0);
/// The key whose destructor runs when a thread ends.
pub static KEY: AtomicU32 = AtomicU32::new(0);

#[unsafe(link_section = ".preinit_array")]
#[used]
static PREINIT: unsafe extern "C" fn(i32, *const *const u8, *const *const u8) = preinit;

/// # Safety
/// Called by the loader, with the environment.
unsafe extern "C" fn preinit(_: i32, _: *const *const u8, env: *const *const u8) {
    // SAFETY: the loader passes the environment.
    unsafe { start_process(env) };
}

// Compilers call this function from the constructors of every module.
core::arch::global_asm!(
    ".globl __tsan_init",
    ".type __tsan_init,@function",
    "__tsan_init:",
    "mov rdi, qword ptr [rsp]",
    "jmp {function}",
    ".size __tsan_init, . - __tsan_init",
    function = sym module_begins,
);

/// Looks for traced functions in a module that is loaded while the program runs.
///
/// # Safety
/// Called by the constructors of a module.
unsafe extern "C" fn module_begins(pc: usize) {
    let slot = meet();
    // SAFETY: the slot is the current thread's.
    unsafe {
        if tls::is_stand(slot) {
            return;
        }
        if !intercept::load::knows(pc) && (function::is_wanted() || collect::is_on()) {
            intercept::load::modules(slot);
        } else if function::is_wanted() {
            intercept::load::again(slot, pc);
        }
    }
}

/// The current thread's slot, if the thread is being recorded.
#[inline(always)]
pub fn recorded() -> Option<*mut ThreadSlot> {
    // In a static program libc copies memory before it has set up thread-local storage.
    if cfg!(feature = "static") && READY.load(Ordering::Relaxed) != 2 {
        return None;
    }
    let slot = tls::current();
    if tls::is_stand(slot) {
        return stand_recorded(slot);
    }
    Some(slot)
}

#[cold]
fn stand_recorded(slot: *mut ThreadSlot) -> Option<*mut ThreadSlot> {
    if slot != tls::NEW.slot() || (READY.load(Ordering::Acquire) == 2 && !arena::is_open()) {
        return None;
    }
    let slot = meet();
    (!tls::is_stand(slot)).then_some(slot)
}

/// Registers the current thread: starts the process if necessary, and gives the thread a slot.
#[cold]
pub fn meet() -> *mut ThreadSlot {
    // SAFETY: libc sets `environ` when it starts; before that, `preinit` has the environment.
    unsafe {
        if READY.load(Ordering::Acquire) != 2 {
            start_process(real::environ);
        }
        if tls::current() == tls::NEW.slot() && arena::is_open() {
            attach_foreign();
        }
    }
    tls::current()
}

/// # Safety
/// `env` is the environment, or null.
unsafe fn start_process(env: *const *const u8) {
    if READY.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return;
    }
    // SAFETY: `env` is the environment; no other thread runs yet that could be recorded.
    unsafe {
        tls::set(tls::BUSY.slot());
        real::resolve();
        let opens = |path| can_record() && arena::open(path) && libc_check::accept();
        let opened = arena_path(env).is_some_and(opens);
        let number = if opened { arena::take_process() } else { None };
        match number {
            Some(number) => start_recording(number),
            None => {
                arena::abandon();
                tls::NEW.set(&hook::IDLE);
                tls::GONE.set(&hook::IDLE);
                tls::set(tls::NEW.slot());
            }
        }
    }
    READY.store(2, Ordering::Release);
}

/// # Safety
/// The process has only its first thread, and the arena is open.
unsafe fn start_recording(number: u32) {
    // SAFETY: the process has only its first thread.
    unsafe {
        arena::become_process(number, number);
        intercept::signal::guard();
        input::start();
        collect::start();
        let mut key = 0;
        (real::pthread_key_create())(&raw mut key, thread_ends);
        KEY.store(key, Ordering::Relaxed);
        real::on_exit(intercept::process::exiting, core::ptr::null_mut());
        real::__register_atfork(None, None, Some(fork::after_fork), core::ptr::null());
        if let Some(slot) = arena::take_slot() {
            name(
                slot,
                arena::process().threads.fetch_add(1, Ordering::Relaxed),
                0,
                0,
                role::THREAD,
            );
            handle::remember(real::pthread_self(), 0);
            control::start(slot);
            attach(slot, main_stack());
            signal::begin(slot, sys::signal_mask());
            intercept::load::modules(slot);
        }
    }
}

/// Whether the processor has `lzcnt`, which the encoder uses. Very old processors lack it.
fn can_record() -> bool {
    core::arch::x86_64::__cpuid(0x8000_0001).ecx & 1 << 5 != 0
}

/// # Safety
/// `env` is null, or a null-terminated array of C strings.
unsafe fn arena_path(env: *const *const u8) -> Option<*const u8> {
    let name = ENV.as_bytes();
    let mut entry = env;
    // SAFETY: the environment is a null-terminated array of C strings.
    unsafe {
        while !entry.is_null() && !(*entry).is_null() {
            let text = *entry;
            let mut at = 0;
            while at < name.len() && *text.add(at) == name[at] {
                at += 1;
            }
            if at == name.len() && *text.add(at) == b'=' {
                return Some(text.add(at + 1));
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Fills in the identity of a slot's thread.
///
/// # Safety
/// The slot was taken by the caller, and no thread uses it yet.
pub unsafe fn name(slot: *mut ThreadSlot, thread: u32, parent: u32, child: u32, role: u32) {
    // SAFETY: the slot belongs to the current thread.
    unsafe {
        let head = &mut (*slot).head;
        head.process = arena::process_number();
        head.thread = thread;
        head.parent = parent;
        head.child = child;
        head.role = role;
        head.tid = 0;
        (*slot).depth = 0;
        (*slot).steps = 0;
        (*slot).effect = 0;
        (*slot).stop_at.store(0, Ordering::Relaxed);
        for i in 0..(*slot).own.len() {
            (&raw mut (*slot).own[i]).write_volatile(0);
        }
    }
}

/// Starts recording the current thread into `slot`.
///
/// # Safety
/// The slot is named and belongs to no other thread, and the current thread has none.
pub unsafe fn attach(slot: *mut ThreadSlot, (stack, size): (usize, usize)) {
    // SAFETY: the slot is named and belongs to the current thread.
    unsafe {
        arena::start(slot);
        capture::start(frames_end(stack, size));
        (real::pthread_setspecific())(KEY.load(Ordering::Relaxed), slot.cast());
        tls::set(slot);
        control::time::note_expired(slot);
        event::put(slot, Kind::Begin, 0, stack, &[size as u64]);
    }
}

/// Restores the thread's own slot after a jump out of a handler for which there was no slot.
///
/// # Safety
/// The current thread was in a signal handler without a slot, and has left it.
pub unsafe fn resume() {
    if arena::is_open() {
        // SAFETY: the key's value is the thread's slot.
        unsafe {
            let slot = real::pthread_getspecific(KEY.load(Ordering::Relaxed)).cast::<ThreadSlot>();
            if !slot.is_null() {
                (*slot).lane.forget();
                tls::set(slot);
            }
        }
    }
}

/// # Safety
/// The current thread has no slot.
unsafe fn attach_foreign() {
    // SAFETY: the current thread has no slot yet.
    unsafe {
        tls::set(tls::BUSY.slot());
        let Some(slot) = arena::take_slot() else { return };
        let number = arena::process().threads.fetch_add(1, Ordering::Relaxed);
        name(slot, number, number, 0, role::FOREIGN);
        control::meet(slot);
        attach(slot, own_stack());
        signal::begin(slot, sys::signal_mask());
    }
}

/// The first thread's stack: it may grow downwards from its start to its limit.
///
/// # Safety
/// Called in the first thread.
unsafe fn main_stack() -> (usize, usize) {
    const MOST: usize = 8 << 20;
    // SAFETY: the loader sets this variable.
    let end = unsafe { real::__libc_stack_end } as usize;
    (end.saturating_sub(MOST), MOST + 0x10000)
}

/// Where the frames on a stack end. On the first thread's stack, arguments and environment follow them,
/// and how far that memory extends is not known.
///
/// # Safety
/// The loader has set its variables.
unsafe fn frames_end(stack: usize, size: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    let first = unsafe { real::__libc_stack_end } as usize;
    if (stack..stack + size).contains(&first) { first } else { stack + size }
}

/// The current thread's stack, as libc knows it.
///
/// # Safety
/// Called on a thread that libc created.
pub unsafe fn own_stack() -> (usize, usize) {
    let mut attributes = [0u64; 8];
    let (mut start, mut size) = (0, 0);
    // SAFETY: the attributes are large enough and are destroyed afterwards.
    unsafe {
        if real::pthread_getattr_np(real::pthread_self(), &raw mut attributes) == 0 {
            real::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size);
            real::pthread_attr_destroy(&raw mut attributes);
        }
    }
    (start, size)
}

/// Runs when a thread ends, in every round of destructors of thread-specific values. The thread is
/// detached in the last round, so that the program's destructors are still recorded.
///
/// # Safety
/// Called by libc when a thread ends, with its slot.
unsafe extern "C" fn thread_ends(slot: *mut c_void) {
    const ROUNDS: u32 = 4;
    let slot = slot.cast::<ThreadSlot>();
    // SAFETY: the key's value is the thread's slot.
    unsafe {
        (*own(slot)).rounds += 1;
        if (*own(slot)).rounds < ROUNDS {
            (real::pthread_setspecific())(KEY.load(Ordering::Relaxed), slot.cast());
            return;
        }
        leave(slot);
    }
}

/// # Safety
/// The slot is the current thread's, which records nothing afterwards.
unsafe fn leave(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's; signal handlers find a placeholder from here on.
    unsafe {
        function::retire(slot);
        #[cfg(not(feature = "static"))]
        crate::omp::retire(slot);
        event::put(slot, Kind::End, 0, 0, &[]);
        control::misuse::ends(slot);
        signal::end(slot);
        tls::set(tls::GONE.slot());
        let mut stream = (*own(slot)).handler;
        control::ends(slot);
        arena::finish(slot);
        while !stream.is_null() {
            let next = (*own(stream)).handler;
            arena::finish(stream);
            stream = next;
        }
    }
}

/// Runs `real` without recording its events, because they are libc's internal work.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn quietly<T>(slot: *mut ThreadSlot, real: impl FnOnce() -> T) -> T {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let before = core::mem::replace(&mut (*own(slot)).quiet, true);
        let result = real();
        (*own(slot)).quiet = before;
        result
    }
}

/// Whether an address is in the topmost frames of the stack. A write there can be observed by other
/// threads only if they were given the address.
#[inline(always)]
pub fn is_near_stack(addr: usize) -> bool {
    const NEAR: usize = 1 << 14;
    addr.wrapping_sub(stack_pointer()) < NEAR
}

/// The approximate stack pointer.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp;
    // SAFETY: only reads a register.
    unsafe { core::arch::asm!("mov {sp}, rsp", sp = out(reg) sp, options(nomem, nostack)) };
    sp
}
