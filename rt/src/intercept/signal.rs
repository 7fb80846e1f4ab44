//! Signal handlers run on an event stream of their own: one may interrupt a hook halfway through
//! a record. Each handler of the program is called by one of ours, which switches streams.

use core::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicU32, AtomicUsize, Ordering},
};

use norn_abi::{
    Kind,
    arena::{ThreadSlot, role},
};

use super::interpose;
use crate::{arena, real, thread, tls};

const SIGNALS: usize = 65;
const SA_SIGINFO: c_int = 4;
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

type Handler = unsafe extern "C-unwind" fn(c_int, *mut c_void, *mut c_void);

/// The program's handlers and their flags.
static HANDLERS: [(AtomicUsize, AtomicU32); SIGNALS] =
    [const { (AtomicUsize::new(0), AtomicU32::new(0)) }; SIGNALS];

unsafe extern "C-unwind" fn sigaction(signal: c_int, new: usize, old: usize, _pc: usize) -> c_int {
    // SAFETY: as the caller called it.
    unsafe { change(signal, new as *const Action, old as *mut Action) }
}

unsafe fn change(signal: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: as the caller called it.
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
        if !new.is_null() && (*new).handler > 1 {
            ours = *new;
            handler.store(ours.handler, Ordering::Relaxed);
            flags.store(ours.flags as u32, Ordering::Relaxed);
            ours.handler = handle as *const () as usize;
            ours.flags |= SA_SIGINFO;
            given = &raw const ours;
        }
        let result = real(signal, given as usize, old as usize);
        if result != 0 && given != new {
            handler.store(before.0, Ordering::Relaxed);
            flags.store(before.1, Ordering::Relaxed);
        }
        if result == 0 && !old.is_null() && (*old).handler == handle as *const () as usize {
            (*old).handler = before.0;
            (*old).flags = before.1 as c_int;
        }
        result
    }
}

unsafe extern "C-unwind" fn signal(signal: c_int, handler: usize, _pc: usize) -> usize {
    // SAFETY: as the caller called it.
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

/// Our handler: the program's runs on the stream for handlers of the interrupted one.
unsafe extern "C-unwind" fn handle(signal: c_int, info: *mut c_void, context: *mut c_void) {
    // SAFETY: called by the kernel; the handler is the program's.
    unsafe {
        let host = tls::current();
        let stream = if tls::is_stand(host) { None } else { stream_of(host) };
        if let Some(stream) = stream {
            (*thread::own(stream)).handler_sp = context as usize;
            tls::set(stream);
            thread::event(stream, Kind::HandlerBegin, 0, signal as usize, &[]);
        }
        let handler = HANDLERS[signal as usize].0.load(Ordering::Relaxed);
        core::mem::transmute::<usize, Handler>(handler)(signal, info, context);
        if let Some(stream) = stream {
            thread::event(stream, Kind::HandlerEnd, 0, signal as usize, &[]);
            tls::set(host);
        }
    }
}

/// The stream for handlers that interrupt `host`; nested ones have streams of their own.
unsafe fn stream_of(host: *mut ThreadSlot) -> Option<*mut ThreadSlot> {
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

/// A jump out of handlers: back to the stream that is running at stack pointer `sp`.
pub unsafe fn leave_handlers(sp: usize) {
    // SAFETY: the slots are the current thread's.
    unsafe {
        let mut slot = tls::current();
        while !tls::is_stand(slot) && !(*thread::own(slot)).host.is_null() {
            if (*thread::own(slot)).handler_sp > sp {
                break;
            }
            thread::event(slot, Kind::HandlerEnd, 0, 0, &[]);
            slot = (*thread::own(slot)).host;
            (*slot).lane.forget();
            tls::set(slot);
        }
    }
}

interpose! {
    sigaction(3) => sigaction;
    signal(2) => signal;
    bsd_signal(2) => signal;
}
