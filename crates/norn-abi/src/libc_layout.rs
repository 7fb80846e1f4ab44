//! The fields of libc's synchronisation objects that the runtime reads, and a test that the libc at
//! hand has them at the expected positions.
//!
//! POSIX leaves the layout of these objects open. The runtime needs a few fields: the owner of an
//! error-checking mutex, the thread count of a barrier, the clock of a condition variable. The
//! positions below are those of glibc on x86-64, which has kept them since 2.25 because static
//! initialisers are part of its binary interface. [`check`] verifies them on objects of its own, so
//! that an unknown libc is reported at the start instead of causing a wrong schedule later.
//! Positions are indices of 32-bit words.
#![expect(unsafe_code, reason = "it calls functions of libc on objects of its own")]

use core::{
    ffi::c_int,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
};

use crate::ObjectClass;

/// `pthread_mutex_t`.
pub mod mutex {
    /// Its size in bytes.
    pub const SIZE: u64 = 40;
    /// The owner's kernel thread id.
    pub const OWNER: usize = 2;
    /// Its kind: a type and flags.
    pub const KIND: usize = 4;
    /// The bits of the kind that contain the type; also of the first word of `pthread_mutexattr_t`.
    pub const TYPE: u32 = 3;
    /// The type of a mutex that its owner may lock again.
    pub const RECURSIVE: u32 = 1;
    /// The type of a mutex whose owner gets an error when it locks it again.
    pub const ERROR_CHECK: u32 = 2;
    /// Flag of the kind: robust, so it can be recovered when its owner dies.
    pub const ROBUST: u32 = 16;
    /// Flag of the kind: shared between processes.
    pub const SHARED: u32 = 128;
    /// The kind of a destroyed mutex.
    pub const DESTROYED: u32 = u32::MAX;
}

/// `pthread_rwlock_t`.
pub mod rwlock {
    /// Its size in bytes.
    pub const SIZE: u64 = 56;
    /// Two flags and the number of readers.
    pub const READERS: usize = 0;
    /// The position of the number of readers in that word.
    pub const READER_SHIFT: u32 = 3;
    /// The kernel thread id of the thread that holds it exclusively.
    pub const WRITER: usize = 6;
    /// Not zero if it is shared between processes.
    pub const SHARED: usize = 7;
    /// Padding.
    pub const UNUSED: usize = 10;
    /// Whether readers or writers have precedence.
    pub const PREFERENCE: usize = 12;
    /// The preference by which readers wait for a writer that waits; also the first word of
    /// `pthread_rwlockattr_t`.
    pub const WRITERS_FIRST: u32 = 2;
}

/// `pthread_cond_t`.
pub mod cond {
    /// Its size in bytes.
    pub const SIZE: u64 = 48;
    /// Flags, and the number of threads that wait.
    pub const FLAGS: usize = 9;
    /// Flag: shared between processes. Also in the first word of `pthread_condattr_t`.
    pub const SHARED: u32 = 1;
    /// Flag: deadlines refer to the monotonic clock. Also in the first word of
    /// `pthread_condattr_t`.
    pub const MONOTONIC: u32 = 2;
    /// Flag: it is destroyed.
    pub const DESTROYED: u32 = 4;
}

/// `pthread_barrier_t`.
pub mod barrier {
    /// Its size in bytes.
    pub const SIZE: u64 = 32;
    /// The number of threads that it waits for.
    pub const COUNT: usize = 2;
    /// Not zero if it is shared between processes.
    pub const SHARED: usize = 3;
    /// Padding.
    pub const UNUSED: usize = 6;
}

/// `sem_t`.
pub mod semaphore {
    /// Its size in bytes.
    pub const SIZE: u64 = 32;
    /// Its value.
    pub const VALUE: usize = 0;
    /// Not zero if it is shared between processes, as each named one is.
    pub const SHARED: usize = 2;
    /// Padding.
    pub const UNUSED: usize = 3;
}

/// `pthread_once_t`.
pub mod once {
    /// Its size in bytes.
    pub const SIZE: u64 = 4;
    /// Flag of its only word: a thread runs the initialisation.
    pub const RUNNING: u32 = 1;
}

/// The size of an object in bytes.
pub const fn size(class: ObjectClass) -> u64 {
    match class {
        ObjectClass::Mutex => mutex::SIZE,
        ObjectClass::RwLock => rwlock::SIZE,
        ObjectClass::Cond => cond::SIZE,
        ObjectClass::Barrier => barrier::SIZE,
        ObjectClass::Semaphore => semaphore::SIZE,
        // `pthread_spinlock_t` and `pthread_key_t` are an `int` each.
        ObjectClass::Spin | ObjectClass::Key | ObjectClass::Descriptor => 4,
    }
}

/// An object whose layout differs from the one above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLayout {
    /// The type of the object.
    pub object: &'static str,
}

type One = unsafe extern "C-unwind" fn(usize) -> c_int;
type Two = unsafe extern "C-unwind" fn(usize, usize) -> c_int;

/// The functions of libc that [`check`] needs, as libc defines them.
#[derive(Clone, Copy, Debug)]
pub struct Functions {
    /// `pthread_mutex_init`.
    pub mutex_init: Two,
    /// `pthread_mutex_lock`.
    pub mutex_lock: One,
    /// `pthread_mutex_unlock`.
    pub mutex_unlock: One,
    /// `pthread_mutex_destroy`.
    pub mutex_destroy: One,
    /// `pthread_rwlock_init`.
    pub rwlock_init: Two,
    /// `pthread_rwlock_rdlock`.
    pub rwlock_rdlock: One,
    /// `pthread_rwlock_wrlock`.
    pub rwlock_wrlock: One,
    /// `pthread_rwlock_unlock`.
    pub rwlock_unlock: One,
    /// `pthread_cond_init`.
    pub cond_init: Two,
    /// `pthread_cond_destroy`.
    pub cond_destroy: One,
    /// `pthread_barrier_init`.
    pub barrier_init: unsafe extern "C-unwind" fn(usize, usize, u32) -> c_int,
    /// `pthread_barrier_destroy`.
    pub barrier_destroy: One,
    /// `sem_init`.
    pub semaphore_init: unsafe extern "C-unwind" fn(usize, c_int, u32) -> c_int,
    /// `sem_destroy`.
    pub semaphore_destroy: One,
    /// `pthread_once`.
    pub once: Two,
}

/// An object, zeroed as by a static initialiser. Larger than any libc object.
#[repr(align(16))]
struct Sample([AtomicU32; 16]);

impl Sample {
    fn new() -> Sample {
        Sample([const { AtomicU32::new(0) }; 16])
    }

    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    fn word(&self, at: usize) -> u32 {
        self.0.get(at).map_or(0, |it| it.load(Ordering::Relaxed))
    }
}

/// Verifies the layouts on objects of our own. `tid` is the kernel's id of the current thread.
/// Takes about a microsecond, and calls nothing that blocks or allocates.
///
/// # Safety
/// The functions are libc's, or behave like them.
pub unsafe fn check(functions: &Functions, tid: u32) -> Result<(), UnknownLayout> {
    let known = |known: bool, object| if known { Ok(()) } else { Err(UnknownLayout { object }) };
    // SAFETY: the caller guarantees the functions; each gets an object that it may use.
    unsafe {
        known(check_mutex(functions, tid), "pthread_mutex_t")?;
        known(check_rwlock(functions, tid), "pthread_rwlock_t")?;
        known(check_cond(functions), "pthread_cond_t")?;
        known(check_barrier(functions), "pthread_barrier_t")?;
        known(check_semaphore(functions), "sem_t")?;
        known(check_once(functions), "pthread_once_t")
    }
}

unsafe fn check_mutex(functions: &Functions, tid: u32) -> bool {
    let (object, attributes) = (Sample::new(), Sample::new());
    attributes.0[0].store(mutex::RECURSIVE, Ordering::Relaxed);
    // SAFETY: as `check`. The position of the type in the attributes is also verified.
    unsafe {
        let made = (functions.mutex_init)(object.address(), attributes.address()) == 0;
        let kind = object.word(mutex::KIND) & mutex::TYPE == mutex::RECURSIVE;
        let locked = (functions.mutex_lock)(object.address()) == 0;
        let owned = object.word(mutex::OWNER) == tid;
        let unlocked = (functions.mutex_unlock)(object.address()) == 0;
        let free = object.word(mutex::OWNER) == 0;
        let destroyed = (functions.mutex_destroy)(object.address()) == 0;
        let marked = object.word(mutex::KIND) == mutex::DESTROYED;
        made && kind && locked && owned && unlocked && free && destroyed && marked
    }
}

unsafe fn check_rwlock(functions: &Functions, tid: u32) -> bool {
    let (object, attributes, preferring) = (Sample::new(), Sample::new(), Sample::new());
    attributes.0[0].store(rwlock::WRITERS_FIRST, Ordering::Relaxed);
    // SAFETY: as `check`. The position of the preference in the attributes is also verified.
    unsafe {
        let made = (functions.rwlock_init)(preferring.address(), attributes.address()) == 0;
        let preference = preferring.word(rwlock::PREFERENCE) == rwlock::WRITERS_FIRST;
        let locked = (functions.rwlock_wrlock)(object.address()) == 0;
        let held = object.word(rwlock::WRITER) == tid && object.word(rwlock::SHARED) == 0;
        let padding = object.word(rwlock::UNUSED) == 0;
        let unlocked = (functions.rwlock_unlock)(object.address()) == 0;
        let free = object.word(rwlock::WRITER) == 0;
        let shared = (functions.rwlock_rdlock)(object.address()) == 0;
        let counted = object.word(rwlock::READERS) >> rwlock::READER_SHIFT == 1;
        let left = (functions.rwlock_unlock)(object.address()) == 0;
        let empty = object.word(rwlock::READERS) >> rwlock::READER_SHIFT == 0;
        let written = locked && held && padding && unlocked && free;
        made && preference && written && shared && counted && left && empty
    }
}

unsafe fn check_cond(functions: &Functions) -> bool {
    let (object, attributes) = (Sample::new(), Sample::new());
    let (flags, mut made, mut clock) = ([cond::SHARED, cond::MONOTONIC], true, true);
    // SAFETY: as `check`.
    unsafe {
        for flag in flags {
            attributes.0[0].store(flag, Ordering::Relaxed);
            made &= (functions.cond_init)(object.address(), attributes.address()) == 0;
            clock &= object.word(cond::FLAGS) == flag;
        }
        let destroyed = (functions.cond_destroy)(object.address()) == 0;
        made && clock && destroyed && object.word(cond::FLAGS) & cond::DESTROYED != 0
    }
}

unsafe fn check_barrier(functions: &Functions) -> bool {
    const COUNT: u32 = 3;
    let object = Sample::new();
    // SAFETY: as `check`.
    unsafe {
        let made = (functions.barrier_init)(object.address(), 0, COUNT) == 0;
        let count = object.word(barrier::COUNT) == COUNT && object.word(barrier::SHARED) == 0;
        let padding = object.word(barrier::UNUSED) == 0;
        made && count && padding && (functions.barrier_destroy)(object.address()) == 0
    }
}

unsafe fn check_semaphore(functions: &Functions) -> bool {
    const VALUE: u32 = 5;
    let object = Sample::new();
    // SAFETY: as `check`.
    unsafe {
        let made = (functions.semaphore_init)(object.address(), 0, VALUE) == 0;
        let value = object.word(semaphore::VALUE) == VALUE && object.word(semaphore::SHARED) == 0;
        let padding = object.word(semaphore::UNUSED) == 0;
        let again = (functions.semaphore_init)(object.address(), 1, VALUE) == 0;
        let shared = again && object.word(semaphore::SHARED) != 0;
        let destroyed = (functions.semaphore_destroy)(object.address()) == 0;
        made && value && padding && shared && destroyed
    }
}

/// The object of [`check_once`], for its initialisation function, which sets this to null once it
/// has seen the flag.
static ONCE: AtomicPtr<u32> = AtomicPtr::new(core::ptr::null_mut());

unsafe fn check_once(functions: &Functions) -> bool {
    let object = Sample::new();
    let address = object.0[0].as_ptr();
    ONCE.store(address, Ordering::Relaxed);
    // SAFETY: as `check`.
    let called = unsafe { (functions.once)(object.address(), in_once as *const () as usize) } == 0;
    let seen = ONCE.swap(core::ptr::null_mut(), Ordering::Relaxed).is_null();
    called && seen && object.word(0) & once::RUNNING == 0
}

unsafe extern "C-unwind" fn in_once() {
    let object = ONCE.load(Ordering::Relaxed);
    // SAFETY: the object of `check_once`, which waits for this function.
    let running = !object.is_null()
        && unsafe { AtomicU32::from_ptr(object) }.load(Ordering::Relaxed) & once::RUNNING != 0;
    if running {
        ONCE.store(core::ptr::null_mut(), Ordering::Relaxed);
    }
}
