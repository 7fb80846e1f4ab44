//! What runs lead to, in words.

use norn_model::{Consequence, Limit, MemoryFault, Misuse};

use super::place;

/// What a run led to.
pub fn consequence(consequence: &Consequence) -> String {
    match consequence {
        Consequence::None => "no failure".to_owned(),
        Consequence::Exit(status) => format!("exit status {status}"),
        Consequence::Signal { signal, at: None } => format!("signal {signal}"),
        Consequence::Signal { signal, at: Some(at) } => format!("signal {signal} at {}", place(at)),
        Consequence::Assertion(text) => format!("assertion failed: {text}"),
        Consequence::Exception { class, what: None } => {
            format!("uncaught exception of type {class}")
        }
        Consequence::Exception { class, what: Some(what) } => {
            format!("uncaught exception of type {class}: {what}")
        }
        Consequence::Panic { message, at: None } => format!("panic: {message}"),
        Consequence::Panic { message, at: Some(at) } => {
            format!("panic at {}: {message}", place(at))
        }
        Consequence::Abort => "abort".to_owned(),
        Consequence::Memory(fault) => memory_fault(*fault).to_owned(),
        Consequence::Misuse(misuse) => misused(*misuse).to_owned(),
        Consequence::Deadlock => "deadlock".to_owned(),
        Consequence::Livelock => "livelock".to_owned(),
        Consequence::Unfinished(Limit::Steps(steps)) => {
            format!("not finished after {steps} events")
        }
        Consequence::Unfinished(Limit::Seconds(seconds)) => {
            format!("not finished after {seconds} seconds")
        }
        Consequence::Check(status) => format!("check failed with status {status}"),
    }
}

/// The name of a memory error.
pub fn memory_fault(fault: MemoryFault) -> &'static str {
    match fault {
        MemoryFault::UseAfterFree => "use after free",
        MemoryFault::DoubleFree => "double free",
        MemoryFault::BadFree => "free of an address that is not a heap block",
        MemoryFault::OutOfBounds => "heap access out of bounds",
        MemoryFault::UseAfterDestroy => "use of a destroyed object",
    }
}

/// The name of a misuse.
pub fn misused(misuse: Misuse) -> &'static str {
    match misuse {
        Misuse::UnlockNotHeld => "lock misuse: unlock by a thread that does not hold the lock",
        Misuse::WaitNotHeld => "lock misuse: wait with a mutex that the thread does not hold",
        Misuse::Relock => "lock misuse: lock by the thread that already holds it",
        Misuse::DestroyInUse => "lock misuse: destruction of an object in use",
        Misuse::EndHoldingLock => "lock misuse: end of a thread that holds a lock",
        Misuse::UseAfterClose => "use of a descriptor after another thread closed it",
        Misuse::DoubleClose => "close of a descriptor that another thread closed",
        Misuse::CloseInUse => "close of a descriptor that another thread uses",
    }
}
