//! The life of a thread: how it is met, named, recorded and let go.

use core::{
    ffi::c_void,
    sync::atomic::{AtomicU32, Ordering},
};

use norn_abi::{
    Kind,
    arena::{ENV, ThreadSlot, role},
};

use crate::{
    arena,
    control::{self, TaskId},
    event, fork, function, handle, hook, intercept, libc_check, real, tls,
};

/// What the runtime keeps of a thread besides what the recorder sees.
#[repr(C)]
pub struct Own {
    /// Where the thread begins.
    pub start: usize,
    /// What it is given.
    pub argument: usize,
    /// Children created so far.
    pub children: u32,
    /// Rounds of destructors that have passed.
    pub rounds: u32,
    /// The stream for its signal handlers; null until there was one.
    pub handler: *mut ThreadSlot,
    /// For such a stream: whom it interrupts.
    pub host: *mut ThreadSlot,
    /// For such a stream: the stack pointer where the handler interrupted.
    pub handler_sp: usize,
    /// For such a stream: the stack of its own that it runs on, and its size; 0 if it has none.
    pub handler_stack: (usize, usize),
    /// A signal that came during an atomic operation, and what the kernel said about it.
    pub deferred: i32,
    pub deferred_info: [u64; 16],
    /// What happens is libc's own affair: allocations for a new thread.
    pub quiet: bool,
    /// Who called `operator new`, while it calls `malloc`.
    pub caller: usize,
    /// What comes after its last event, if it has a clock of its own.
    pub clock: u64,
    /// The thread is inside an atomic operation.
    pub in_atomic: bool,
    /// The mutex of the condition wait in which it blocks.
    pub wait_mutex: usize,
    /// While it waits: the encoder's limit; see [`arm`].
    pub lim: *mut u8,
    /// Its task; none for a signal handler's stream.
    pub task: Option<TaskId>,
    /// Where `syscall` was called.
    pub syscall_pc: usize,
    /// The initialisation that `pthread_once` may run.
    pub once: usize,
    /// Where `pthread_once` was called.
    pub once_pc: usize,
    /// Which object it is for; 0 when it has run.
    pub once_object: usize,
    /// While it runs: where its frame is. Above that, it was left by an exception.
    pub once_sp: usize,
    /// Where its next input lies, of those that are fed back.
    pub next_input: usize,
    /// How many were fed back.
    pub inputs: u32,
    /// It has asked for something else.
    pub parted: bool,
}

const _: () = assert!(size_of::<Own>() <= size_of::<[usize; 40]>());

/// A slot's private part.
///
/// # Safety
/// The slot is one of the arena's and no stand.
pub unsafe fn own(slot: *mut ThreadSlot) -> *mut Own {
    // SAFETY: it is large enough, see above.
    unsafe { (&raw mut (*slot).own).cast() }
}

/// 0: nobody came here; 1: someone is at it; 2: done.
static READY: AtomicU32 = AtomicU32::new(0);
/// The key whose destructor tells us that a thread ends.
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

// Compilers call it from every module's constructors.
core::arch::global_asm!(
    ".globl __tsan_init",
    ".type __tsan_init,@function",
    "__tsan_init:",
    "mov rdi, qword ptr [rsp]",
    "jmp {function}",
    ".size __tsan_init, . - __tsan_init",
    function = sym module_begins,
);

/// A module that is loaded while the program runs has functions, too.
///
/// # Safety
/// Called by the constructors of a module.
unsafe extern "C" fn module_begins(pc: usize) {
    let slot = meet();
    // SAFETY: the slot is the current thread's.
    unsafe {
        if tls::is_stand(slot) || !function::is_wanted() {
        } else if intercept::load::knows(pc) {
            intercept::load::again(slot, pc);
        } else {
            intercept::load::modules(slot);
        }
    }
}

/// The current thread's slot if it is being recorded.
#[inline(always)]
pub fn recorded() -> Option<*mut ThreadSlot> {
    // A static program's libc copies memory before it has set up thread-local storage.
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

/// Meets the current thread: starts the process if need be, and gives the thread a slot.
#[cold]
pub fn meet() -> *mut ThreadSlot {
    // SAFETY: libc keeps `environ` once it runs; before that, `preinit` was given it.
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
    // SAFETY: `env` is the environment; nothing else runs yet that could be recorded.
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
/// The process is in its first thread, and the arena is open.
unsafe fn start_recording(number: u32) {
    // SAFETY: the process is in its first thread.
    unsafe {
        arena::become_process(number, number);
        intercept::signal::guard();
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
            intercept::load::modules(slot);
        }
    }
}

/// The encoder counts leading zeros with an instruction that very old processors lack.
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

/// Fills in who a slot's thread is.
///
/// # Safety
/// The slot was taken by the caller, and no thread uses it yet.
pub unsafe fn name(slot: *mut ThreadSlot, thread: u32, parent: u32, child: u32, role: u32) {
    // SAFETY: the slot is ours.
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

/// Starts to record the current thread into `slot`.
///
/// # Safety
/// The slot is named and no other thread's, and the current thread has none.
pub unsafe fn attach(slot: *mut ThreadSlot, (stack, size): (usize, usize)) {
    // SAFETY: the slot is ours and named.
    unsafe {
        arena::start(slot);
        (real::pthread_setspecific())(KEY.load(Ordering::Relaxed), slot.cast());
        tls::set(slot);
        control::time::note_expired(slot);
        event::put(slot, Kind::Begin, 0, stack, &[size as u64]);
    }
}

/// After a jump out of a handler for which there was no slot: the thread has its own.
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
    }
}

/// The first thread's stack: it may grow to its limit below where it began.
///
/// # Safety
/// Called in the first thread.
unsafe fn main_stack() -> (usize, usize) {
    const MOST: usize = 8 << 20;
    // SAFETY: set by the loader.
    let end = unsafe { real::__libc_stack_end } as usize;
    (end.saturating_sub(MOST), MOST + 0x10000)
}

/// The current thread's stack, as its library knows it.
///
/// # Safety
/// Called on a thread of libc.
pub unsafe fn own_stack() -> (usize, usize) {
    let mut attributes = [0u64; 8];
    let (mut start, mut size) = (0, 0);
    // SAFETY: the attributes are large enough and are destroyed again.
    unsafe {
        if real::pthread_getattr_np(real::pthread_self(), &raw mut attributes) == 0 {
            real::pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size);
            real::pthread_attr_destroy(&raw mut attributes);
        }
    }
    (start, size)
}

/// Runs when a thread ends, in every round of destructors. We leave in the last one, so that the
/// destructors of the program are still recorded.
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
/// The slot is the current thread's, which records nothing more.
unsafe fn leave(slot: *mut ThreadSlot) {
    // SAFETY: the slot is the current thread's; handlers find a stand from here on.
    unsafe {
        function::retire(slot);
        event::put(slot, Kind::End, 0, 0, &[]);
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

/// Does what is libc's own affair.
///
/// # Safety
/// The slot is the current thread's and no stand.
pub unsafe fn quietly<T>(slot: *mut ThreadSlot, real: impl FnOnce() -> T) -> T {
    // SAFETY: the slot is the current thread's.
    unsafe {
        let before = core::mem::replace(&mut (*own(slot)).quiet, true);
        let result = real();
        (*own(slot)).quiet = before;
        result
    }
}

/// Whether an address is in the frames that are on top of the stack now: what is written there
/// concerns others only if they were told where it is.
#[inline(always)]
pub fn is_near_stack(addr: usize) -> bool {
    const NEAR: usize = 1 << 14;
    addr.wrapping_sub(stack_pointer()) < NEAR
}

/// The current stack pointer, more or less.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp;
    // SAFETY: only looks.
    unsafe { core::arch::asm!("mov {sp}, rsp", sp = out(reg) sp, options(nomem, nostack)) };
    sp
}
