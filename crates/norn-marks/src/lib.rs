//! Marks of a Rust program for Norn: named events, and regions that should be atomic.
//!
//! ```
//! # struct Account { balance: u32, owner: u32 }
//! # let mut account = Account { balance: 1, owner: 2 };
//! // An event, with an object or a number, for properties.
//! norn_marks::event!("auth", account.owner);
//! // A region that should be atomic; it ends with the guard, also by a panic.
//! {
//!     let _atomic = norn_marks::region();
//!     account.balance += 1;
//!     account.owner += 1;
//! }
//! norn_marks::atomic(|| account.balance -= 1);
//! ```
//!
//! In a program without Norn's runtime, and in a run that is not recorded, marks have no effect. The crate
//! has no dependencies and does not need the standard library. It is the counterpart of `norn.h`.
#![no_std]
#![allow(unsafe_code, reason = "marks call functions that Norn's runtime defines")]
#![allow(clippy::inline_always, reason = "marks are to be in the functions of their callers")]

mod runtime;

use core::{ffi::CStr, marker::PhantomData};

#[doc(hidden)]
pub use runtime::{Name, event_at};

/// Records a named event with an object, a reference, or a number. The name is a literal.
#[macro_export]
macro_rules! event {
    ($name:literal) => {
        $crate::event!($name, 0_u64)
    };
    ($name:literal, $object:expr) => {{
        static NAME: $crate::Name = $crate::Name::new($crate::name(concat!($name, "\0")));
        $crate::event_at(&NAME, $crate::Object::value($object));
    }};
}

/// What an event can be about.
pub trait Object {
    /// The number that identifies it in a trace; of a reference, the address.
    fn value(self) -> u64;
}

impl<T: ?Sized> Object for &T {
    fn value(self) -> u64 {
        core::ptr::from_ref(self).cast::<u8>() as u64
    }
}

impl<T: ?Sized> Object for &mut T {
    fn value(self) -> u64 {
        Object::value(&*self)
    }
}

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Object for $type {
            #[allow(
                clippy::cast_lossless,
                clippy::cast_sign_loss,
                trivial_numeric_casts,
                reason = "all numbers are recorded as 64 bits"
            )]
            fn value(self) -> u64 {
                self as u64
            }
        }
    )*};
}

number!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize bool char);

/// The name of an event as C wants it.
#[doc(hidden)]
pub const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the name of an event contains a NUL character"),
    }
}

/// A region of one thread that should be atomic. It ends when this is dropped.
#[derive(Debug)]
#[must_use = "the region ends when the guard is dropped"]
pub struct Region {
    /// A region belongs to its thread: the guard is not `Send`.
    thread: PhantomData<*const ()>,
}

/// Begins a region that should be atomic.
#[inline(always)]
pub fn region() -> Region {
    runtime::begin();
    Region { thread: PhantomData }
}

/// Runs a function as a region that should be atomic.
#[inline(always)]
pub fn atomic<T>(body: impl FnOnce() -> T) -> T {
    let _region = region();
    body()
}

impl Drop for Region {
    #[inline(always)]
    fn drop(&mut self) {
        runtime::end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_runtime_marks_have_no_effect() {
        let object = 7_u32;
        event!("start");
        event!("auth", &object);
        event!("amount", 3);
        assert_eq!(atomic(|| object + 1), 8);
    }

    #[test]
    fn objects_are_addresses_and_numbers() {
        let object = 7_u32;
        let reference = &object;
        assert_eq!(Object::value(reference), &raw const object as u64);
        assert_eq!(Object::value(-1_i64), u64::MAX);
        assert_eq!(Object::value("text"), "text".as_ptr() as u64);
    }
}
