//! The real functions behind the interceptors, and the few other functions of libc that the runtime
//! calls.
//!
//! In a dynamically linked program the runtime's definitions come first in the search order and the
//! real ones are the next; in a static one the linker renames them to `__real_…` (`--wrap`).

#[cfg(not(feature = "static"))]
mod dynamic;

use core::ffi::{c_int, c_long, c_uint, c_void};

type Handle = usize;

unsafe extern "C" {
    pub static environ: *const *const u8;
    pub static stdin: Handle;
    pub static stdout: Handle;
    pub static stderr: Handle;
    pub static __libc_stack_end: *const u8;
    pub fn pthread_self() -> Handle;
    pub fn pthread_getspecific(key: u32) -> *mut c_void;
    pub fn pthread_getattr_np(thread: Handle, attributes: *mut [u64; 8]) -> c_int;
    pub fn pthread_attr_getstack(a: *const [u64; 8], start: *mut usize, size: *mut usize) -> c_int;
    pub fn pthread_attr_destroy(attributes: *mut [u64; 8]) -> c_int;
    pub fn on_exit(f: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    pub fn __errno_location() -> *mut c_int;
    pub fn pthread_testcancel();
    pub fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    pub fn __chk_fail() -> !;
    pub fn fileno(stream: Handle) -> c_int;
    pub fn __register_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        module: *const c_void,
    ) -> c_int;
}

/// libc's `errno` of the current thread.
pub fn errno() -> u64 {
    // SAFETY: the address is always valid on a thread of libc.
    unsafe { *__errno_location() as u64 }
}

/// Declares real functions; `name()` returns the function.
macro_rules! reals {
    ($($name:ident($($arg:ty),*) $(-> $out:ty)?;)*) => {
        $(
            #[inline]
            #[allow(non_snake_case, reason = "named as in libc")]
            pub fn $name() -> unsafe extern "C-unwind" fn($($arg),*) $(-> $out)? {
                #[cfg(feature = "static")]
                {
                    unsafe extern "C-unwind" {
                        #[link_name = concat!("__real_", stringify!($name))]
                        fn real($(_: $arg),*) $(-> $out)?;
                    }
                    real
                }
                #[cfg(not(feature = "static"))]
                {
                    static REAL: dynamic::Symbol =
                        dynamic::Symbol::new(concat!(stringify!($name), "\0"));
                    // SAFETY: the symbol has this type.
                    unsafe { core::mem::transmute(REAL.get()) }
                }
            }
        )*

        /// Looks up all functions early in the process, before a lookup could happen on a recorded
        /// path.
        pub fn resolve() {
            $( $name(); )*
        }
    };
}

reals! {
    // Comes first, because the lookup of the others may allocate.
    malloc(usize) -> usize;
    calloc(usize, usize) -> usize;
    realloc(usize, usize) -> usize;
    free(usize);
    posix_memalign(usize, usize, usize) -> c_int;
    aligned_alloc(usize, usize) -> usize;
    memalign(usize, usize) -> usize;
    valloc(usize) -> usize;
    pvalloc(usize) -> usize;
    malloc_usable_size(usize) -> usize;

    pthread_create(usize, usize, usize, usize) -> c_int;
    pthread_join(Handle, usize) -> c_int;
    pthread_tryjoin_np(Handle, usize) -> c_int;
    pthread_timedjoin_np(Handle, usize, usize) -> c_int;
    pthread_detach(Handle) -> c_int;
    pthread_cancel(Handle) -> c_int;
    pthread_key_create(*mut u32, unsafe extern "C" fn(*mut c_void)) -> c_int;
    pthread_setspecific(u32, *const c_void) -> c_int;
    pthread_once(usize, usize) -> c_int;

    pthread_mutex_init(usize, usize) -> c_int;
    pthread_mutex_destroy(usize) -> c_int;
    pthread_mutex_lock(usize) -> c_int;
    pthread_mutex_trylock(usize) -> c_int;
    pthread_mutex_timedlock(usize, usize) -> c_int;
    pthread_mutex_clocklock(usize, c_int, usize) -> c_int;
    pthread_mutex_unlock(usize) -> c_int;
    pthread_mutex_consistent(usize) -> c_int;

    pthread_spin_init(usize, c_int) -> c_int;
    pthread_spin_destroy(usize) -> c_int;
    pthread_spin_lock(usize) -> c_int;
    pthread_spin_trylock(usize) -> c_int;
    pthread_spin_unlock(usize) -> c_int;

    pthread_rwlock_init(usize, usize) -> c_int;
    pthread_rwlock_destroy(usize) -> c_int;
    pthread_rwlock_rdlock(usize) -> c_int;
    pthread_rwlock_tryrdlock(usize) -> c_int;
    pthread_rwlock_timedrdlock(usize, usize) -> c_int;
    pthread_rwlock_clockrdlock(usize, c_int, usize) -> c_int;
    pthread_rwlock_wrlock(usize) -> c_int;
    pthread_rwlock_trywrlock(usize) -> c_int;
    pthread_rwlock_timedwrlock(usize, usize) -> c_int;
    pthread_rwlock_clockwrlock(usize, c_int, usize) -> c_int;
    pthread_rwlock_unlock(usize) -> c_int;

    pthread_cond_init(usize, usize) -> c_int;
    pthread_cond_destroy(usize) -> c_int;
    pthread_cond_wait(usize, usize) -> c_int;
    pthread_cond_timedwait(usize, usize, usize) -> c_int;
    pthread_cond_clockwait(usize, usize, c_int, usize) -> c_int;
    pthread_cond_signal(usize) -> c_int;
    pthread_cond_broadcast(usize) -> c_int;

    pthread_barrier_init(usize, usize, u32) -> c_int;
    pthread_barrier_destroy(usize) -> c_int;
    pthread_barrier_wait(usize) -> c_int;

    sem_init(usize, c_int, u32) -> c_int;
    sem_destroy(usize) -> c_int;
    sem_wait(usize) -> c_int;
    sem_trywait(usize) -> c_int;
    sem_timedwait(usize, usize) -> c_int;
    sem_clockwait(usize, c_int, usize) -> c_int;
    sem_post(usize) -> c_int;

    thrd_create(usize, usize, usize) -> c_int;
    thrd_join(Handle, usize) -> c_int;
    thrd_detach(Handle) -> c_int;
    thrd_sleep(usize, usize) -> c_int;
    thrd_yield();
    mtx_init(usize, c_int) -> c_int;
    mtx_destroy(usize);
    mtx_lock(usize) -> c_int;
    mtx_trylock(usize) -> c_int;
    mtx_timedlock(usize, usize) -> c_int;
    mtx_unlock(usize) -> c_int;
    cnd_init(usize) -> c_int;
    cnd_destroy(usize);
    cnd_wait(usize, usize) -> c_int;
    cnd_timedwait(usize, usize, usize) -> c_int;
    cnd_signal(usize) -> c_int;
    cnd_broadcast(usize) -> c_int;
    call_once(usize, usize);

    mmap(usize, usize, c_int, c_int, c_int, i64) -> usize;
    munmap(usize, usize) -> c_int;
    mremap(usize, usize, usize, c_int, usize) -> usize;

    memcpy(usize, usize, usize) -> usize;
    memmove(usize, usize, usize) -> usize;
    memset(usize, c_int, usize) -> usize;
    memcmp(usize, usize, usize) -> c_int;
    strlen(usize) -> usize;
    strcmp(usize, usize) -> c_int;
    strncmp(usize, usize, usize) -> c_int;
    strcpy(usize, usize) -> usize;
    strncpy(usize, usize, usize) -> usize;
    strcat(usize, usize) -> usize;
    strncat(usize, usize, usize) -> usize;
    stpcpy(usize, usize) -> usize;
    memchr(usize, c_int, usize) -> usize;
    strchr(usize, c_int) -> usize;
    strrchr(usize, c_int) -> usize;
    strdup(usize) -> usize;
    strndup(usize, usize) -> usize;

    fread(usize, usize, usize, usize) -> usize;
    fwrite(usize, usize, usize, usize) -> usize;
    fgets(usize, c_int, usize) -> usize;
    vsnprintf(usize, usize, usize, usize) -> c_int;
    vsprintf(usize, usize, usize) -> c_int;
    vprintf(usize, usize) -> c_int;
    vfprintf(usize, usize, usize) -> c_int;
    puts(usize) -> c_int;
    fputs(usize, usize) -> c_int;
    fputs_unlocked(usize, usize) -> c_int;
    getdelim(usize, usize, c_int, usize) -> isize;
    qsort(usize, usize, usize, usize);
    qsort_r(usize, usize, usize, usize, usize);
    localtime(usize) -> usize;
    gmtime(usize) -> usize;
    asctime(usize) -> usize;
    ctime(usize) -> usize;
    strtok_r(usize, usize, usize) -> usize;
    getenv(usize) -> usize;
    secure_getenv(usize) -> usize;
    setenv(usize, usize, c_int) -> c_int;
    unsetenv(usize) -> c_int;
    putenv(usize) -> c_int;
    clearenv() -> c_int;

    open(usize, c_int, c_uint) -> c_int;
    openat(c_int, usize, c_int, c_uint) -> c_int;
    fopen(usize, usize) -> usize;
    fclose(usize) -> c_int;
    fflush(usize) -> c_int;
    creat(usize, c_uint) -> c_int;
    unlink(usize) -> c_int;
    unlinkat(c_int, usize, c_int) -> c_int;
    remove(usize) -> c_int;
    rename(usize, usize) -> c_int;
    renameat(c_int, usize, c_int, usize) -> c_int;
    link(usize, usize) -> c_int;
    symlink(usize, usize) -> c_int;
    mkdir(usize, c_uint) -> c_int;
    mkdirat(c_int, usize, c_uint) -> c_int;
    rmdir(usize) -> c_int;
    chmod(usize, c_uint) -> c_int;
    truncate(usize, i64) -> c_int;
    ftruncate(c_int, i64) -> c_int;
    inotify_init1(c_int) -> c_int;
    opendir(usize) -> usize;
    access(usize, c_int) -> c_int;
    readlink(usize, usize, usize) -> isize;

    sched_setaffinity(c_int, usize, usize) -> c_int;
    sched_getaffinity(c_int, usize, usize) -> c_int;
    sched_setscheduler(c_int, c_int, usize) -> c_int;
    sched_getscheduler(c_int) -> c_int;
    sched_setparam(c_int, usize) -> c_int;
    sched_getparam(c_int, usize) -> c_int;
    sched_rr_get_interval(c_int, usize) -> c_int;
    getpriority(c_int, c_uint) -> c_int;
    setpriority(c_int, c_uint, c_int) -> c_int;
    srand(c_uint);
    srandom(c_uint);
    srand48(c_long);

    sleep(u32) -> u32;
    usleep(u32) -> c_int;
    nanosleep(usize, usize) -> c_int;
    clock_nanosleep(c_int, c_int, usize, usize) -> c_int;
    sched_yield() -> c_int;

    fork() -> c_int;
    _Fork() -> c_int;
    vfork() -> c_int;
    execve();
    execv();
    execvp();
    execvpe();
    execl();
    execlp();
    execle();
    fexecve();
    exit();
    _exit();
    _Exit();
    quick_exit();
    abort();

    clock_gettime(c_int, usize) -> c_int;
    timespec_get(usize, c_int) -> c_int;
    gettimeofday(usize, usize) -> c_int;
    time(usize) -> i64;
    clock() -> i64;

    read(c_int, usize, usize) -> isize;
    readv(c_int, usize, c_int) -> isize;
    recv(c_int, usize, usize, c_int) -> isize;
    recvfrom(c_int, usize, usize, c_int, usize, usize) -> isize;
    recvmsg(c_int, usize, c_int) -> isize;
    recvmmsg(c_int, usize, u32, c_int, usize) -> c_int;
    accept(c_int, usize, usize) -> c_int;
    accept4(c_int, usize, usize, c_int) -> c_int;
    write(c_int, usize, usize) -> isize;
    writev(c_int, usize, c_int) -> isize;
    preadv(c_int, usize, c_int, i64) -> isize;
    pwritev(c_int, usize, c_int, i64) -> isize;
    pwrite(c_int, usize, usize, i64) -> isize;
    send(c_int, usize, usize, c_int) -> isize;
    sendto(c_int, usize, usize, c_int, usize, u32) -> isize;
    sendmsg(c_int, usize, c_int) -> isize;
    pread(c_int, usize, usize, i64) -> isize;
    bind(c_int, usize, u32) -> c_int;
    listen(c_int, c_int) -> c_int;
    getsockname(c_int, usize, usize) -> c_int;
    getpeername(c_int, usize, usize) -> c_int;
    getsockopt(c_int, c_int, c_int, usize, usize) -> c_int;
    sendmmsg(c_int, usize, u32, c_int) -> c_int;
    close(c_int) -> c_int;
    shutdown(c_int, c_int) -> c_int;
    poll(usize, usize, c_int) -> c_int;
    ppoll(usize, usize, usize, usize) -> c_int;
    select(c_int, usize, usize, usize, usize) -> c_int;
    pselect(c_int, usize, usize, usize, usize, usize) -> c_int;
    epoll_wait(c_int, usize, c_int, c_int) -> c_int;
    epoll_pwait(c_int, usize, c_int, c_int, usize) -> c_int;
    epoll_ctl(c_int, c_int, c_int, usize) -> c_int;
    socketpair(c_int, c_int, c_int, usize) -> c_int;
    timerfd_settime(c_int, c_int, usize, usize) -> c_int;
    timerfd_gettime(c_int, usize) -> c_int;
    eventfd_read(c_int, usize) -> c_int;
    eventfd_write(c_int, u64) -> c_int;
    waitpid(c_int, usize, c_int) -> c_int;
    connect(c_int, usize, u32) -> c_int;
    kill(c_int, c_int) -> c_int;
    killpg(c_int, c_int) -> c_int;
    raise(c_int) -> c_int;
    tgkill(c_int, c_int, c_int) -> c_int;
    sigqueue(c_int, c_int, usize) -> c_int;
    pthread_kill(Handle, c_int) -> c_int;
    pthread_sigqueue(Handle, c_int, usize) -> c_int;
    pthread_sigmask(c_int, usize, usize) -> c_int;
    sigprocmask(c_int, usize, usize) -> c_int;
    sigpending(usize) -> c_int;
    sigtimedwait(usize, usize, usize) -> c_int;
    pthread_setcanceltype(c_int, usize) -> c_int;
    alarm(u32) -> u32;
    ualarm(u32, u32) -> u32;
    getitimer(c_int, usize) -> c_int;
    setitimer(c_int, usize, usize) -> c_int;
    timer_create(c_int, usize, usize) -> c_int;
    timer_settime(usize, c_int, usize, usize) -> c_int;
    timer_gettime(usize, usize) -> c_int;
    timer_getoverrun(usize) -> c_int;
    timer_delete(usize) -> c_int;
    sigwait(usize, usize) -> c_int;
    sigwaitinfo(usize, usize) -> c_int;
    sigsuspend(usize) -> c_int;
    pause() -> c_int;
    flock(c_int, c_int) -> c_int;
    fcntl(c_int, c_int, usize) -> c_int;
    fcntl64(c_int, c_int, usize) -> c_int;
    semop(c_int, usize, usize) -> c_int;
    semtimedop(c_int, usize, usize, usize) -> c_int;
    msgsnd(c_int, usize, usize, c_int) -> c_int;
    msgrcv(c_int, usize, usize, isize, c_int) -> isize;
    mq_send(c_int, usize, usize, c_uint) -> c_int;
    mq_timedsend(c_int, usize, usize, c_uint, usize) -> c_int;
    mq_receive(c_int, usize, usize, usize) -> isize;
    mq_timedreceive(c_int, usize, usize, usize, usize) -> isize;

    getrandom(usize, usize, c_uint) -> isize;
    getentropy(usize, usize) -> c_int;

    syscall();
    __assert_fail(usize, usize, u32, usize) -> c_int;
    sigaction(c_int, usize, usize) -> c_int;
    signal(c_int, usize) -> usize;
    longjmp();
    _longjmp();
    siglongjmp();
    __longjmp_chk();
}

/// The functions of the C++ library, which are absent in C programs.
#[cfg(not(feature = "static"))]
pub mod cxx {
    macro_rules! optional {
        ($($name:ident;)*) => { $(
            #[allow(non_snake_case, reason = "the linker's name")]
            pub fn $name() -> usize {
                static REAL: super::dynamic::Symbol =
                    super::dynamic::Symbol::new(concat!(stringify!($name), "\0"));
                REAL.get()
            }
        )* };
    }
    optional! {
        _Znwm; _Znam; _ZnwmRKSt9nothrow_t; _ZnamRKSt9nothrow_t; _ZnwmSt11align_val_t;
        _ZnamSt11align_val_t; _ZnwmSt11align_val_tRKSt9nothrow_t;
        _ZnamSt11align_val_tRKSt9nothrow_t; _ZdlPv; _ZdaPv; _ZdlPvm; _ZdaPvm;
        _ZdlPvRKSt9nothrow_t; _ZdaPvRKSt9nothrow_t; _ZdlPvSt11align_val_t;
        _ZdaPvSt11align_val_t; _ZdlPvmSt11align_val_t; _ZdaPvmSt11align_val_t;
    }

    macro_rules! required {
        ($($name:ident;)*) => { $(
            /// As the module that calls it from `pc` finds it.
            #[allow(non_snake_case, reason = "the linker's name")]
            pub fn $name(pc: usize) -> usize {
                static REAL: super::dynamic::Symbol =
                    super::dynamic::Symbol::new(concat!(stringify!($name), "\0"));
                REAL.required_by(pc)
            }
        )* };
    }
    required! { __cxa_begin_catch; __cxa_throw; _ZNSt13random_device9_M_getvalEv; }
}

#[cfg(not(feature = "static"))]
pub use dynamic::Symbol;

/// The address of a symbol as the program finds it; 0 if there is none. The name ends with a zero
/// byte.
#[cfg(not(feature = "static"))]
pub fn symbol(name: &[u8]) -> usize {
    dynamic::first(name)
}
