//! The hooks that compilers insert before memory accesses and around functions.
//!
//! Each hook is a stub of a few instructions: load the thread's slot, take the return address as the
//! site, and jump through the slot's table. The table determines what a hook does, so neither the
//! question whether the thread is recorded nor whether values are recorded costs a test of its own; only
//! the table of the usual mode is recognized, because a direct jump is faster. [`RECORD`] and its variants
//! append an event; their fast path contains no call, no lock and no loop.

// Long because the table, the hooks that it names and the stubs that jump to them are one thing: which of them
// the compiler merges is tested by their names.

mod collecting;
mod compound;
mod virtual_table;

use core::arch::global_asm;

use norn_abi::{AccessClass, Kind, arena::ThreadSlot, lane::Located};

use crate::{
    arena, capture, collect,
    control::{self, heap},
    function, number, thread, tls,
};

use collecting::{collect_access, collect_burst, collect_some};

macro_rules! table {
    ($access:ident, $enter:ident, $leave:ident) => {
        Table {
            access: table!(@rows $access 0x00 0x10 0x20),
            enter: $enter,
            leave: $leave,
        }
    };
    (@rows $access:ident $($row:literal)*) => {
        [$(
            $access::<{ $row }>, $access::<{ $row + 1 }>, $access::<{ $row + 2 }>,
            $access::<{ $row + 3 }>, $access::<{ $row + 4 }>, idle, idle, idle,
            $access::<{ $row + 8 }>, $access::<{ $row + 9 }>, $access::<{ $row + 10 }>,
            $access::<{ $row + 11 }>, $access::<{ $row + 12 }>, idle, idle, idle,
        )*]
    };
}

/// An access hook; arguments: the address, the site, the thread's slot.
pub type Access = unsafe extern "C" fn(usize, usize, *mut ThreadSlot);
/// A function-entry hook; arguments: the call site, the site, the slot, the stack pointer.
pub type Enter = unsafe extern "C" fn(usize, usize, *mut ThreadSlot, usize);
/// A function-exit hook; argument: the slot.
pub type Leave = unsafe extern "C" fn(*mut ThreadSlot);

/// The hooks of one mode.
#[repr(C)]
pub struct Table {
    access: [Access; 0x30],
    pub enter: Enter,
    pub leave: Leave,
}

impl Table {
    /// The hooks of a watched thread, which continue with those of another table.
    pub const fn watching() -> Table {
        use capture::{access, enter, leave};
        table!(access, enter, leave)
    }
}

/// For a process that is not recorded.
pub static IDLE: Table = Table { access: [idle; 0x30], enter: idle_enter, leave: idle_leave };
/// For a thread that the runtime has not seen before.
pub static FIRST: Table = table!(first, first_enter, idle_leave);
/// For a thread that has ended its recording: later events are counted as lost.
pub static LATE: Table = Table { access: [late; 0x30], enter: idle_enter, leave: idle_leave };
/// For a thread whose recording has stopped: events are counted as lost.
pub static STOPPED: Table = table!(stopped, idle_enter, idle_leave);
/// The same in a controlled run: the scheduler still counts events and decides at them.
pub static CONTROL_STOPPED: Table = table!(control_stopped, idle_enter, idle_leave);
/// Records with values.
pub static RECORD: Table = table!(record_values, enter, leave);
/// Records without values.
pub static RECORD_BARE: Table = table!(record_bare, enter, leave);
/// Records in one total order.
pub static GLOBAL: Table = table!(cold, enter, leave);
/// Records with values in a controlled run.
pub static CONTROL: Table = table!(control_values, enter, leave);
/// Records without values in a controlled run.
pub static CONTROL_BARE: Table = table!(control_bare, enter, leave);

/// Collects patterns, and records nothing.
pub static COLLECT: Table = table!(collect_access, idle_enter, idle_leave);
/// The same, but most executions of frequent sites are left out.
pub static COLLECT_SOME: Table = table!(collect_some, idle_enter, idle_leave);
/// The same during a burst.
pub static COLLECT_BURST: Table = table!(collect_burst, idle_enter, idle_leave);
/// Neither records nor collects anything, in a process whose events nobody needs.
pub static SILENT: Table = Table { access: [idle; 0x30], enter: idle_enter, leave: idle_leave };

/// For a thread in a region whose accesses are ignored: records calls, but no accesses.
pub static IGNORE: Table = Table { access: [idle; 0x30], enter, leave };
/// The same, for programs in which the return addresses of traced functions are replaced.
pub static IGNORE_NAMED: Table = Table { access: [idle; 0x30], enter: enter_named, leave };

/// The five recording tables, for programs in which the return addresses of traced functions are
/// replaced.
pub static NAMED: [Table; 5] = [
    table!(record_values, enter_named, leave),
    table!(record_bare, enter_named, leave),
    table!(cold, enter_named, leave),
    table!(control_values, enter_named, leave),
    table!(control_bare, enter_named, leave),
];

/// Whether a table is that of a thread that records in local order, outside of controlled runs.
#[inline(always)]
pub fn is_usual(table: *const Table) -> bool {
    core::ptr::eq(table, &raw const RECORD) || core::ptr::eq(table, &raw const RECORD_BARE)
}

/// Announces an access by its code, as a hook does.
///
/// # Safety
/// The current thread is about to make the access.
pub unsafe fn access(code: usize, addr: usize, pc: usize) {
    let slot = tls::current();
    // SAFETY: the slot, or placeholder, is the current thread's.
    unsafe { ((*(*slot).table.cast::<Table>()).access[code])(addr, pc, slot) };
}

/// Enters a function of a call stack that is restored.
///
/// # Safety
/// The slot is the current thread's and not a placeholder.
pub unsafe fn enter_again(call: usize, pc: usize, slot: *mut ThreadSlot, sp: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { enter(call, pc, slot, sp) };
}

/// # Safety
/// Called by a hook, with the current thread's slot or placeholder.
unsafe extern "C" fn idle(_: usize, _: usize, _: *mut ThreadSlot) {}
/// # Safety
/// Called by a hook, with the current thread's slot or placeholder.
unsafe extern "C" fn idle_enter(_: usize, _: usize, _: *mut ThreadSlot, _: usize) {}
/// # Safety
/// Called by a hook, with the current thread's slot or placeholder.
unsafe extern "C" fn idle_leave(_: *mut ThreadSlot) {}

/// # Safety
/// Called by a hook, with the current thread's slot or placeholder.
unsafe extern "C" fn late(_: usize, _: usize, _: *mut ThreadSlot) {
    arena::lose_late();
}

/// # Safety
/// Called by a hook, with the current thread's slot.
unsafe extern "C" fn stopped<const K: u16>(_: usize, _: usize, slot: *mut ThreadSlot) {
    // SAFETY: the slot is this thread's.
    unsafe { arena::lose(slot) };
}

/// Defines the access hook of a mode without a total order. If the value of the previous write has
/// still to be read back, if site or address are not as predicted, or if the site is not in its first
/// slot, the hook does more work; these parts are separate functions, so that the usual path needs few
/// registers.
macro_rules! recorder {
    (
        $values:literal,
        $name:ident,
        $moved:ident,
        $unforeseen:ident,
        $settled:ident,
        $elsewhere:ident,
        $elsewhere_settled:ident
    ) => {
        /// # Safety
        /// Called by a hook, with the current thread's slot.
        unsafe extern "C" fn $name<const K: u16>(addr: usize, pc: usize, slot: *mut ThreadSlot) {
            // SAFETY: the compiler calls hooks right before the access that they announce.
            unsafe {
                if K & 7 == 4 {
                    return cold::<K>(addr, pc, slot);
                }
                let Some(at) = (*slot).lane.locate::<K>(pc) else {
                    return $elsewhere::<K>(addr, pc, slot);
                };
                if !(*slot).lane.is_next(at) {
                    return $unforeseen::<K>(addr, at, slot);
                }
                if !(*slot).lane.foreseen_access::<K, $values>(at, addr) {
                    $moved::<K>(addr, at, slot);
                }
            }
        }

        /// # Safety
        /// Called by a hook, with the current thread's slot and the site of the access, which is the
        /// predicted one.
        #[inline(never)]
        unsafe extern "C" fn $moved<const K: u16>(addr: usize, at: Located, slot: *mut ThreadSlot) {
            // SAFETY: as above.
            unsafe { (*slot).lane.moved_access::<K, $values>(at, addr) };
        }

        /// # Safety
        /// Called by a hook, with the current thread's slot and the site of the access.
        #[inline(never)]
        unsafe extern "C" fn $unforeseen<const K: u16>(
            addr: usize,
            at: Located,
            slot: *mut ThreadSlot,
        ) {
            // SAFETY: as above.
            unsafe {
                if $values && (*slot).lane.pending() {
                    return $settled::<K>(addr, at, slot);
                }
                (*slot).lane.unforeseen_access::<K, $values>(at, addr);
            }
        }

        /// # Safety
        /// Called by a hook, with the current thread's slot and the site of the access.
        #[inline(never)]
        unsafe extern "C" fn $settled<const K: u16>(
            addr: usize,
            at: Located,
            slot: *mut ThreadSlot,
        ) {
            // SAFETY: as above; nothing is pending afterwards.
            unsafe {
                (*slot).lane.settle();
                if !(*slot).lane.is_next(at) {
                    return $unforeseen::<K>(addr, at, slot);
                }
                if !(*slot).lane.foreseen_access::<K, $values>(at, addr) {
                    $moved::<K>(addr, at, slot);
                }
            }
        }

        /// # Safety
        /// Called by a hook, with the current thread's slot.
        #[inline(never)]
        unsafe extern "C" fn $elsewhere<const K: u16>(
            addr: usize,
            pc: usize,
            slot: *mut ThreadSlot,
        ) {
            // SAFETY: as above.
            unsafe {
                if $values && (*slot).lane.pending() {
                    return $elsewhere_settled::<K>(addr, pc, slot);
                }
                if !(*slot).lane.access::<K, $values>(addr, pc) {
                    cold::<K>(addr, pc, slot);
                }
            }
        }

        /// # Safety
        /// Called by a hook, with the current thread's slot.
        #[inline(never)]
        unsafe extern "C" fn $elsewhere_settled<const K: u16>(
            addr: usize,
            pc: usize,
            slot: *mut ThreadSlot,
        ) {
            // SAFETY: as above; nothing is pending afterwards.
            unsafe {
                (*slot).lane.settle();
                $elsewhere::<K>(addr, pc, slot);
            }
        }
    };
}

recorder!(
    true,
    record_values,
    record_values_moved,
    record_values_unforeseen,
    record_values_settled,
    record_values_elsewhere,
    record_values_elsewhere_settled
);
recorder!(
    false,
    record_bare,
    record_bare_moved,
    record_bare_unforeseen,
    record_bare_settled,
    record_bare_elsewhere,
    record_bare_elsewhere_settled
);

/// Defines the access hook of a mode of controlled runs.
macro_rules! controller {
    ($name:ident, $record:ident) => {
        /// # Safety
        /// Called by a hook, with the current thread's slot.
        unsafe extern "C" fn $name<const K: u16>(addr: usize, pc: usize, slot: *mut ThreadSlot) {
            // SAFETY: as above.
            unsafe {
                control::before(slot, Kind::of_constant::<K>(), pc, addr);
                if !heap::is_good(addr) {
                    heap::complain(slot, addr, pc);
                }
                (*slot).steps += 1;
                (*slot).access = (pc, addr);
                if K & 8 != 0 && !thread::is_near_stack(addr) {
                    (*slot).effect = (*slot).steps;
                }
                if collect::is_on() {
                    collect::access(slot, K & 8 != 0, (addr, 1 << (K & 7)), pc);
                }
                $record::<K>(addr, pc, slot);
            }
        }
    };
}

controller!(control_values, record_values);
controller!(control_bare, record_bare);
controller!(control_stopped, stopped);

/// An access in the unusual cases: its site has no slot in the encoder yet, the chunk is full, or
/// the access is 16 bytes wide. In the mode with a total order, where the shared counter dominates
/// the cost, all accesses take this path.
///
/// # Safety
/// Called by a hook, with the current thread's slot.
unsafe extern "C" fn cold<const K: u16>(addr: usize, pc: usize, slot: *mut ThreadSlot) {
    // SAFETY: as above.
    unsafe {
        if !arena::make_room(slot) {
            return arena::lose(slot);
        }
        if K & 7 == 4 {
            let content = arena::content(K & 8 != 0);
            (*slot).lane.wide(Kind::of_constant::<K>(), pc, addr, number::of_access(), content);
        } else {
            arena::define(slot, pc, Kind::of_constant::<K>());
            (*slot).lane.any_access::<K>(addr, pc, number::of_access(), arena::values());
        }
    }
}

/// # Safety
/// Called by a hook of a thread that has no slot yet.
unsafe extern "C" fn first<const K: u16>(addr: usize, pc: usize, _: *mut ThreadSlot) {
    // SAFETY: as above; `meet` gives the thread a slot, or a placeholder whose table does nothing.
    unsafe {
        let slot = thread::meet();
        ((*(*slot).table.cast::<Table>()).access[K as usize])(addr, pc, slot);
    }
}

/// # Safety
/// Called by a hook of a thread that has no slot yet.
unsafe extern "C" fn first_enter(call: usize, pc: usize, _: *mut ThreadSlot, sp: usize) {
    // SAFETY: as above.
    unsafe {
        let slot = thread::meet();
        ((*(*slot).table.cast::<Table>()).enter)(call, pc, slot, sp);
    }
}

/// # Safety
/// Called by a hook, with the current thread's slot.
unsafe extern "C" fn enter(call: usize, pc: usize, slot: *mut ThreadSlot, sp: usize) {
    // SAFETY: the slot is this thread's.
    unsafe {
        (*slot).lane.settle();
        let depth = (*slot).depth;
        if depth < norn_abi::arena::FRAMES {
            let frame = (&raw mut (*slot).frames).cast::<norn_abi::arena::Frame>().add(depth);
            *frame = norn_abi::arena::Frame { call, sp };
        }
        if !(*slot).lane.enter(call, pc) {
            return cold_enter(call, pc, slot, sp);
        }
        (*slot).depth = depth + 1;
    }
}

/// Records the entry of a function that may return to the runtime first: its caller is taken from
/// the shadow stack.
///
/// # Safety
/// Called by a hook, with the current thread's slot.
unsafe extern "C" fn enter_named(call: usize, pc: usize, slot: *mut ThreadSlot, sp: usize) {
    // SAFETY: the slot is this thread's.
    unsafe { enter(function::true_caller(call, sp), pc, slot, sp) };
}

/// # Safety
/// Called by a hook, with the current thread's slot.
#[cold]
unsafe extern "C" fn cold_enter(call: usize, pc: usize, slot: *mut ThreadSlot, sp: usize) {
    // SAFETY: the slot is this thread's.
    unsafe {
        if arena::make_room(slot) {
            arena::define(slot, pc, Kind::Enter);
            ((*(*slot).table.cast::<Table>()).enter)(call, pc, slot, sp);
        }
    }
}

/// # Safety
/// Called by a hook, with the current thread's slot.
unsafe extern "C" fn leave(slot: *mut ThreadSlot) {
    // SAFETY: the slot is this thread's.
    unsafe {
        if (*slot).lane.full() {
            return cold_leave(slot);
        }
        (*slot).lane.settle();
        (*slot).lane.leave();
        (*slot).depth = (*slot).depth.saturating_sub(1);
    }
}

/// # Safety
/// Called by a hook, with the current thread's slot.
#[cold]
unsafe extern "C" fn cold_leave(slot: *mut ThreadSlot) {
    // SAFETY: the slot is this thread's.
    unsafe {
        if arena::make_room(slot) {
            ((*(*slot).table.cast::<Table>()).leave)(slot);
        }
    }
}

const fn plain(write: bool, log2: u16) -> usize {
    Kind::access_code(AccessClass::Plain, write, log2) as usize
}
const fn volatile(write: bool, log2: u16) -> usize {
    Kind::access_code(AccessClass::Volatile, write, log2) as usize
}
const fn vptr(write: bool) -> usize {
    Kind::access_code(AccessClass::Vptr, write, 3) as usize
}

/// Exports the access hooks: stubs that jump through the slot's table. Recording with values is the usual
/// mode, and its table is recognized by its address: that jump is a direct one. The indirect jump has
/// more than one target in the life of a thread, so that processors predict it from the branches before
/// it, and often wrongly where these are irregular. A stub lies in one cache line.
macro_rules! stubs {
    ($($name:literal $kind:expr;)*) => { $(
        global_asm!(
            ".p2align 6",
            concat!(".globl ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            "mov rdx, qword ptr fs:[norn_slot@tpoff]",
            "mov rsi, qword ptr [rsp]",
            "lea rax, [rip + {usual}]",
            "cmp qword ptr [rdx], rax",
            "je {record}",
            "mov rax, qword ptr [rdx]",
            "jmp qword ptr [rax + 8 * {kind}]",
            concat!(".size ", $name, ", . - ", $name),
            kind = const $kind,
            usual = sym RECORD,
            record = sym record_values::<{ $kind as u16 }>,
        );
    )* };
}

stubs! {
    "__tsan_read1" plain(false, 0);
    "__tsan_read2" plain(false, 1);
    "__tsan_read4" plain(false, 2);
    "__tsan_read8" plain(false, 3);
    "__tsan_read16" plain(false, 4);
    "__tsan_write1" plain(true, 0);
    "__tsan_write2" plain(true, 1);
    "__tsan_write4" plain(true, 2);
    "__tsan_write8" plain(true, 3);
    "__tsan_write16" plain(true, 4);
    "__tsan_unaligned_read2" plain(false, 1);
    "__tsan_unaligned_read4" plain(false, 2);
    "__tsan_unaligned_read8" plain(false, 3);
    "__tsan_unaligned_read16" plain(false, 4);
    "__tsan_unaligned_write2" plain(true, 1);
    "__tsan_unaligned_write4" plain(true, 2);
    "__tsan_unaligned_write8" plain(true, 3);
    "__tsan_unaligned_write16" plain(true, 4);
    "__tsan_volatile_read1" volatile(false, 0);
    "__tsan_volatile_read2" volatile(false, 1);
    "__tsan_volatile_read4" volatile(false, 2);
    "__tsan_volatile_read8" volatile(false, 3);
    "__tsan_volatile_read16" volatile(false, 4);
    "__tsan_volatile_write1" volatile(true, 0);
    "__tsan_volatile_write2" volatile(true, 1);
    "__tsan_volatile_write4" volatile(true, 2);
    "__tsan_volatile_write8" volatile(true, 3);
    "__tsan_volatile_write16" volatile(true, 4);
    "__tsan_unaligned_volatile_read2" volatile(false, 1);
    "__tsan_unaligned_volatile_read4" volatile(false, 2);
    "__tsan_unaligned_volatile_read8" volatile(false, 3);
    "__tsan_unaligned_volatile_read16" volatile(false, 4);
    "__tsan_unaligned_volatile_write2" volatile(true, 1);
    "__tsan_unaligned_volatile_write4" volatile(true, 2);
    "__tsan_unaligned_volatile_write8" volatile(true, 3);
    "__tsan_unaligned_volatile_write16" volatile(true, 4);
    "__tsan_vptr_read" vptr(false);
}

// gcc may call `__tsan_func_exit` by a tail call, so its return address is meaningless.
global_asm!(
    ".globl __tsan_func_entry",
    ".type __tsan_func_entry,@function",
    "__tsan_func_entry:",
    "mov rdx, qword ptr fs:[norn_slot@tpoff]",
    "mov rsi, qword ptr [rsp]",
    "lea rcx, [rsp + 8]",
    "mov rax, qword ptr [rdx]",
    "jmp qword ptr [rax + {enter}]",
    ".size __tsan_func_entry, . - __tsan_func_entry",
    ".globl __tsan_func_exit",
    ".type __tsan_func_exit,@function",
    "__tsan_func_exit:",
    "mov rdi, qword ptr fs:[norn_slot@tpoff]",
    "mov rax, qword ptr [rdi]",
    "jmp qword ptr [rax + {leave}]",
    ".size __tsan_func_exit, . - __tsan_func_exit",
    enter = const core::mem::offset_of!(Table, enter),
    leave = const core::mem::offset_of!(Table, leave),
);
