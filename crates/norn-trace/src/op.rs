//! From what the runtime wrote to what it means.
#![expect(
    clippy::cast_possible_truncation,
    reason = "records have 64 bits for all; threads, errors and signals have 32 in the subject"
)]

use norn_abi::{
    Kind, LockClass, ObjectClass,
    atomic::{self, AtomicRequest},
    lock::{OWNER_DIED, QUEUED, TIMED, TRY},
};
use norn_model::{
    AtomicOp, LockMode, Object, Op, Ordering, Outcome, RmwOp, ThreadId, Value, WokenBy,
    descriptor_object,
};

/// The parts of a record that its meaning depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) kind: Kind,
    pub(crate) addr: u64,
    /// The length of a block.
    pub(crate) len: u64,
    pub(crate) args: [u64; 3],
    /// The content of a block.
    pub(crate) content: &'a [u8],
    /// For an atomic operation of 16 bytes, the high halves of its values.
    pub(crate) high: [u64; 2],
}

/// What a record says, except for accesses of up to 8 bytes. What only the thread's or the
/// trace's past can tell is left open: in which mode a read-write lock is released, and what woke
/// a wait. None for records that are no events.
#[expect(clippy::too_many_lines, reason = "an arm for each kind")]
#[expect(clippy::unnested_or_patterns, reason = "one of the patterns is a macro")]
pub(crate) fn op(parts: &Parts<'_>) -> Option<Op> {
    let Parts { kind, addr, args, .. } = *parts;
    let thread = thread(addr);
    Some(match kind {
        Kind::Begin => Op::Begin { stack: addr, size: args[0] },
        Kind::End => Op::End,
        Kind::Fork => Op::Fork(thread),
        Kind::Join => Op::Join(thread),
        Kind::Detach => Op::Detach(thread),
        Kind::Cancel => Op::Cancel(thread),
        Kind::HandlerBegin => Op::HandlerBegin { signal: number(addr) },
        Kind::HandlerEnd => Op::HandlerEnd,
        Kind::Acquire => Op::Acquire { lock: addr, mode: mode(args[0]), how: how(args[0]) },
        Kind::AcquireFailed => {
            let (mode, how) = (mode(args[0]), how(args[0]));
            Op::AcquireFailed { lock: addr, mode, how, error: number(args[1]) }
        }
        Kind::Release => Op::Release { lock: addr, mode: mode(args[0]) },
        Kind::WaitRelease => Op::WaitRelease { lock: addr },
        Kind::Wait => Op::Wait { cond: addr, lock: args[0], timed: false },
        Kind::TimedWait => Op::Wait { cond: addr, lock: args[0], timed: true },
        Kind::WaitAcquire => Op::WaitAcquire { cond: args[0], lock: addr, woken: WokenBy::Nothing },
        Kind::Signal => Op::Signal { cond: addr },
        Kind::Broadcast => Op::Broadcast { cond: addr },
        Kind::BarrierEnter => Op::BarrierEnter { barrier: addr },
        Kind::BarrierLeave => Op::BarrierLeave { barrier: addr, serial: args[0] != 0 },
        Kind::SemPost => Op::SemPost { semaphore: addr },
        Kind::SemWait => Op::SemWait { semaphore: addr, timed: false },
        Kind::TimedSemWait => Op::SemWait { semaphore: addr, timed: true },
        Kind::SemFailed => Op::SemFailed { semaphore: addr, error: number(args[0]) },
        Kind::OnceBegin => Op::OnceBegin { once: addr },
        Kind::OnceEnd => Op::OnceEnd { once: addr, done: args[0] != 0 },
        Kind::OnceDone => Op::OnceDone { once: addr },
        Kind::Fence => Op::Fence(ordering(addr)),
        Kind::HappensAfter => Op::HappensAfter { object: addr },
        Kind::HappensBefore => Op::HappensBefore { object: addr },
        // The positions follow from all sends and receives of the channel.
        Kind::Send => Op::Send { channel: addr, from: 0, to: 0 },
        Kind::Receive => Op::Receive { channel: addr, from: 0, to: 0, timed: false },
        Kind::TimedReceive => Op::Receive { channel: addr, from: 0, to: 0, timed: true },
        Kind::Ready => Op::Ready { channel: addr, from: 0, to: 0 },
        Kind::NotReady => Op::NotReady { error: number(addr) },
        Kind::Alloc => Op::Alloc { addr, size: args[0] },
        Kind::Free => Op::Free { addr },
        Kind::Map => Op::Map { addr, size: args[0] },
        Kind::Unmap => Op::Unmap { addr, size: args[0] },
        Kind::Init => Op::Init { object: addr, class: object(args[0]), detail: args[1] },
        Kind::Destroy => {
            let (object, class) = object_at(addr, args[0]);
            Op::Destroy { object, class }
        }
        Kind::Use => {
            let (object, class) = object_at(addr, args[0]);
            Op::Use { object, class }
        }
        Kind::RegionBegin => Op::RegionBegin,
        Kind::RegionEnd => Op::RegionEnd,
        Kind::Sleep => Op::Sleep { nanoseconds: addr },
        Kind::Yield => Op::Yield,
        Kind::ProcessFork => Op::ProcessFork { process: addr as u32 },
        Kind::Exec => Op::Exec,
        Kind::Exit => Op::Exit { status: number(addr) },
        Kind::Abort => Op::Abort,
        Kind::RangeRead | Kind::RangeWrite | norn_abi::access_kinds!() => return block(parts),
        Kind::AtomicLoad
        | Kind::AtomicStore
        | Kind::AtomicRmw
        | Kind::AtomicCas
        | Kind::AtomicCasFailed => return atomic(parts),
        // Calls and marks need the names of the trace, which `ChunkEvents` has. The others are no
        // events of their own.
        Kind::Call
        | Kind::Return
        | Kind::Mark
        | Kind::Enter
        | Kind::Unwind
        | Kind::Futex
        | Kind::CallRest
        | Kind::Name
        | Kind::Module
        | Kind::HighHalves
        | Kind::Turn
        | Kind::Expired => return None,
    })
}

/// An error, a result, a status or a signal: an `int` of the subject's.
pub(crate) fn number(field: u64) -> i32 {
    field as i32
}

/// A thread, by its number.
pub(crate) fn thread(field: u64) -> ThreadId {
    ThreadId(field as u32)
}

/// An access to a block, or one of 16 bytes. Its value is kept if it is no longer than that.
fn block(parts: &Parts<'_>) -> Option<Op> {
    let Parts { kind, addr, len, content, .. } = *parts;
    let (write, size, volatile) = match kind {
        Kind::RangeRead => (false, len, false),
        Kind::RangeWrite => (true, len, false),
        _ => {
            let (class, write, size) = kind.as_access()?;
            (write, u64::from(size), class == norn_abi::AccessClass::Volatile)
        }
    };
    let value = value(content, size);
    Some(access(write, addr, size, value, volatile))
}

/// A plain access.
#[inline]
pub(crate) fn access(write: bool, addr: u64, size: u64, value: Value, volatile: bool) -> Op {
    if write {
        Op::Write { addr, size, value, volatile }
    } else {
        Op::Read { addr, size, value, volatile }
    }
}

/// The value of a block of `size` bytes, if all its content is there and it is a short one.
pub(crate) fn value(content: &[u8], size: u64) -> Value {
    let mut bytes = [0; 16];
    let whole = !content.is_empty() && content.len() as u64 == size;
    bytes.get_mut(..content.len()).filter(|_| whole)?.copy_from_slice(content);
    Some(u128::from_le_bytes(bytes))
}

fn atomic(parts: &Parts<'_>) -> Option<Op> {
    let Parts { kind, addr, args: [argument, first, second], high, .. } = *parts;
    let request = AtomicRequest::unpack(argument);
    let wide = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
    let (first, second) = (wide(first, high[0]), wide(second, high[1]));
    let op = match kind {
        Kind::AtomicLoad => AtomicOp::Load(first),
        Kind::AtomicStore => AtomicOp::Store(first),
        Kind::AtomicRmw => AtomicOp::Rmw { op: rmw(request.op), old: first, new: second },
        Kind::AtomicCas => AtomicOp::Cas { old: first, new: second },
        Kind::AtomicCasFailed => AtomicOp::CasFailed { seen: first, expected: second },
        _ => return None,
    };
    let order = match op {
        AtomicOp::CasFailed { .. } => request.failure_order,
        _ => request.order,
    };
    Some(Op::Atomic { addr, size: request.size(), ordering: ordering(order.into()), op })
}

/// What a lock of this class is held for.
pub(crate) fn mode(class: u64) -> LockMode {
    match LockClass::of(class) {
        LockClass::Mutex => LockMode::Mutex,
        LockClass::Spin => LockMode::Spin,
        LockClass::Read => LockMode::Read,
        LockClass::Write => LockMode::Write,
    }
}

fn how(class: u64) -> Outcome {
    match class {
        _ if class & OWNER_DIED != 0 => Outcome::OwnerDied,
        _ if class & TIMED != 0 => Outcome::Timed,
        _ if class & TRY != 0 => Outcome::Tried,
        _ if class & QUEUED != 0 => Outcome::Queued,
        _ => Outcome::Waited,
    }
}

fn object(class: u64) -> Object {
    match ObjectClass::of(class) {
        ObjectClass::Mutex => Object::Mutex,
        ObjectClass::Spin => Object::Spin,
        ObjectClass::RwLock => Object::RwLock,
        ObjectClass::Cond => Object::Cond,
        ObjectClass::Barrier => Object::Barrier,
        ObjectClass::Semaphore => Object::Semaphore,
        ObjectClass::Key => Object::Key,
        ObjectClass::Descriptor => Object::Descriptor,
    }
}

/// An object, and its class. Descriptors have numbers instead of addresses.
fn object_at(addr: u64, class: u64) -> (u64, Object) {
    match object(class) {
        Object::Descriptor => (descriptor_object(addr), Object::Descriptor),
        class => (addr, class),
    }
}

/// As in C's `memory_order`.
fn ordering(code: u64) -> Ordering {
    match code {
        0 => Ordering::Relaxed,
        1 => Ordering::Consume,
        2 => Ordering::Acquire,
        3 => Ordering::Release,
        4 => Ordering::AcqRel,
        _ => Ordering::SeqCst,
    }
}

fn rmw(op: atomic::RmwOp) -> RmwOp {
    match op {
        atomic::RmwOp::Exchange => RmwOp::Exchange,
        atomic::RmwOp::Add => RmwOp::Add,
        atomic::RmwOp::Sub => RmwOp::Sub,
        atomic::RmwOp::And => RmwOp::And,
        atomic::RmwOp::Or => RmwOp::Or,
        atomic::RmwOp::Xor => RmwOp::Xor,
        atomic::RmwOp::Nand => RmwOp::Nand,
    }
}
