//! How events of atomic operations say what was requested: the first argument packs the size, the
//! memory orders and the operation. The runtime packs it, the tools unpack it.
//!
//! | bits | 0–2 | 3–5 | 6–9 | 10–12 |
//! |---|---|---|---|---|
//! | | log2 of the size | order | operation of a read-modify-write | order on failure |

const SIZE: u64 = 7;
const ORDER: u64 = 7;
const ORDER_SHIFT: u32 = 3;
const OP: u64 = 15;
const OP_SHIFT: u32 = 6;
const FAILURE_SHIFT: u32 = 10;

/// The logarithm of the largest size: 16 bytes.
pub const WIDEST: u8 = 4;

/// What the program requested of an atomic operation, besides its kind, address and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicRequest {
    /// The logarithm of the size in bytes.
    pub log2_size: u8,
    /// The memory order, as C's `memory_order` numbers it.
    pub order: u8,
    /// The memory order of a compare-exchange that fails.
    pub failure_order: u8,
    /// The operation of a read-modify-write.
    pub op: RmwOp,
}

/// How a read-modify-write changes the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RmwOp {
    /// Replaces it.
    Exchange = 0,
    /// Adds.
    Add = 1,
    /// Subtracts.
    Sub = 2,
    /// Bitwise and.
    And = 3,
    /// Bitwise or.
    Or = 4,
    /// Bitwise exclusive or.
    Xor = 5,
    /// Bitwise and, negated.
    Nand = 6,
}

impl RmwOp {
    /// The operation with a code. Codes that no version has defined are taken for exchanges.
    #[inline]
    pub const fn of(code: u64) -> RmwOp {
        match code {
            1 => RmwOp::Add,
            2 => RmwOp::Sub,
            3 => RmwOp::And,
            4 => RmwOp::Or,
            5 => RmwOp::Xor,
            6 => RmwOp::Nand,
            _ => RmwOp::Exchange,
        }
    }
}

impl AtomicRequest {
    /// The argument of the event. Of the orders only the lowest bits are kept: compilers may add
    /// hints above them.
    #[inline]
    pub const fn pack(self) -> u64 {
        (self.log2_size as u64 & SIZE)
            | (self.order as u64 & ORDER) << ORDER_SHIFT
            | (self.op as u64) << OP_SHIFT
            | (self.failure_order as u64 & ORDER) << FAILURE_SHIFT
    }

    /// What an argument says.
    #[inline]
    pub const fn unpack(argument: u64) -> AtomicRequest {
        AtomicRequest {
            log2_size: (argument & SIZE) as u8,
            order: (argument >> ORDER_SHIFT & ORDER) as u8,
            failure_order: (argument >> FAILURE_SHIFT & ORDER) as u8,
            op: RmwOp::of(argument >> OP_SHIFT & OP),
        }
    }

    /// The size in bytes. Sizes that no version has defined are taken for the largest.
    #[inline]
    pub const fn size(self) -> u8 {
        if self.log2_size > WIDEST { 1 << WIDEST } else { 1 << self.log2_size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for log2_size in 0..=WIDEST {
            for (order, failure_order) in [(0, 0), (5, 2), (2, 5), (4, 0)] {
                for op in (0..7).map(RmwOp::of) {
                    let request = AtomicRequest { log2_size, order, failure_order, op };
                    assert_eq!(AtomicRequest::unpack(request.pack()), request);
                    assert_eq!(request.size(), 1 << log2_size);
                }
            }
        }
    }

    #[test]
    fn the_layout_is_that_of_traces() {
        let (op, order, failure_order) = (RmwOp::Nand, 5, 2);
        let request = AtomicRequest { log2_size: 3, order, failure_order, op };
        assert_eq!(request.pack(), 3 | 5 << 3 | 6 << 6 | 2 << 10);
    }

    #[test]
    fn operations_have_their_codes() {
        for code in 0..7 {
            assert_eq!(RmwOp::of(code) as u64, code);
        }
    }
}
