//! The hooks of memory accesses, for kinds that are only known at run time.

use norn_abi::{Kind, lane::Lane};

/// Calls a function of the encoder for a kind that is only known at run time.
macro_rules! dispatch {
    ($kind:expr, $code:ident => $call:expr) => {
        dispatch! { @ $kind, $code => $call;
            0x00 0x01 0x02 0x03 0x08 0x09 0x0a 0x0b
            0x10 0x11 0x12 0x13 0x18 0x19 0x1a 0x1b
            0x20 0x21 0x22 0x23 0x28 0x29 0x2a 0x2b
        }
    };
    (@ $kind:expr, $code:ident => $call:expr; $($literal:literal)*) => {
        match $kind.code() {
            $($literal => {
                const $code: u16 = $literal;
                // SAFETY: the caller guarantees it.
                unsafe { $call }
            })*
            _ => panic!("{:?} is no access of up to 8 bytes", $kind),
        }
    };
}

/// The common case of an access; returns false in the others.
pub(crate) unsafe fn access(
    lane: &mut Lane,
    kind: Kind,
    values: bool,
    addr: usize,
    pc: usize,
) -> bool {
    dispatch!(kind, CODE => if values {
        quick::<CODE, true>(lane, addr, pc)
    } else {
        quick::<CODE, false>(lane, addr, pc)
    })
}

/// Does the same as the runtime's hooks.
unsafe fn quick<const K: u16, const VALUES: bool>(lane: &mut Lane, addr: usize, pc: usize) -> bool {
    // SAFETY: the caller guarantees it.
    unsafe {
        let Some(at) = lane.locate::<K>(pc) else {
            lane.settle();
            return lane.access::<K, VALUES>(addr, pc);
        };
        if !lane.is_next(at) {
            lane.settle();
        }
        if !lane.is_next(at) {
            lane.unforeseen_access::<K, VALUES>(at, addr);
        } else if !lane.foreseen_access::<K, VALUES>(at, addr) {
            lane.moved_access::<K, VALUES>(at, addr);
        }
        true
    }
}

/// Every case of an access.
pub(crate) unsafe fn any_access(
    lane: &mut Lane,
    kind: Kind,
    values: bool,
    (addr, pc, seq): (usize, usize, Option<u64>),
) {
    dispatch!(kind, CODE => lane.any_access::<CODE>(addr, pc, seq, values));
}
