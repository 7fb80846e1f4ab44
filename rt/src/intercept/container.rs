//! The nodes of `std::map`, `std::set` and `std::list`. The code that links and unlinks them, and that goes from one node of
//! a tree to the next, is in GNU's C++ library, which is not instrumented, while the program's own code searches them. So
//! what these functions access is recorded here. The library makes the change as one step, as far as schedules are
//! concerned: nodes that it moves to balance a tree are left out, since a search reads the changed links on its way anyway.

use norn_abi::{Kind, arena::ThreadSlot, lane::Content};

use super::interpose;
use crate::{
    block::{touch, touched},
    control, real, thread,
};

/// Declares functions of the C++ library; `name(pc)` returns the function that is called from `pc`.
macro_rules! library {
    ($($name:ident = $symbol:literal ($($arg:ty),*) $(-> $out:ty)?;)*) => { $(
        fn $name(pc: usize) -> unsafe extern "C-unwind" fn($($arg),*) $(-> $out)? {
            static REAL: real::Symbol = real::Symbol::new(concat!($symbol, "\0"));
            // SAFETY: the function has this type.
            unsafe { core::mem::transmute(REAL.required_by(pc)) }
        }
    )* };
}

library! {
    real_insert = "_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_" (bool, usize, usize, usize);
    real_erase = "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_" (usize, usize) -> usize;
    real_increment = "_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base" (usize) -> usize;
    real_decrement = "_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base" (usize) -> usize;
    real_hook = "_ZNSt8__detail15_List_node_base7_M_hookEPS0_" (usize, usize);
    real_unhook = "_ZNSt8__detail15_List_node_base9_M_unhookEv" (usize);
    real_transfer = "_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_" (usize, usize, usize);
    real_reverse = "_ZNSt8__detail15_List_node_base10_M_reverseEv" (usize);
    real_swap = "_ZNSt8__detail15_List_node_base4swapERS0_S1_" (usize, usize);
}

const WORD: usize = size_of::<usize>();
/// Offsets in a node of a tree, after its color.
const PARENT: usize = WORD;
const LEFT: usize = 2 * WORD;
const RIGHT: usize = 3 * WORD;
/// Size of a node of a tree, without its value.
const NODE: usize = 4 * WORD;
/// Offset in a node of a list, after the link to the next one.
const BEFORE: usize = WORD;

/// # Safety
/// The address is that of a word of a node.
unsafe fn word(addr: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { *(addr as *const usize) }
}

/// Makes a call that changes some words of a node and of those around it, and records those that it did. Which words may
/// change is asked after other threads could run.
///
/// # Safety
/// The words can be read before and after the call.
unsafe fn changes<const N: usize, T>(
    (node, pc): (usize, usize),
    words: impl FnOnce() -> [usize; N],
    call: impl FnOnce() -> T,
    also: impl FnOnce(*mut ThreadSlot),
) -> T {
    let Some(slot) = thread::recorded() else { return call() };
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe {
        control::before(slot, Kind::RangeWrite, pc, node);
        (*slot).lane.settle_any();
        let words = words();
        let before = words.map(|it| word(it));
        let result = call();
        for (at, (addr, old)) in words.into_iter().zip(before).enumerate() {
            // The head of a tree may also be the node above.
            if word(addr) != old && !words[..at].contains(&addr) {
                touched(slot, Kind::RangeWrite, addr, WORD, pc, Content::Now);
            }
        }
        also(slot);
        result
    }
}

/// `std::_Rb_tree_insert_and_rebalance`.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn insert(left: bool, node: usize, at: usize, head: usize, pc: usize) {
    let [parent, leftmost, rightmost] = [head + PARENT, head + LEFT, head + RIGHT];
    let link = at + if left { LEFT } else { RIGHT };
    let words = [parent, leftmost, rightmost, link];
    // SAFETY: guaranteed by the caller; the new node is not changed by others yet.
    unsafe {
        let real = || real_insert(pc)(left, node, at, head);
        changes(
            (node, pc),
            || words,
            real,
            |slot| {
                touched(slot, Kind::RangeWrite, node, NODE, pc, Content::Now);
            },
        );
    }
}

/// `std::_Rb_tree_rebalance_for_erase`.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn erase(node: usize, head: usize, pc: usize) -> usize {
    let [top, leftmost, rightmost] = [head + PARENT, head + LEFT, head + RIGHT];
    // SAFETY: guaranteed by the caller.
    unsafe {
        let words = || {
            let parent = word(node + PARENT);
            let link = parent + if word(parent + LEFT) == node { LEFT } else { RIGHT };
            [top, leftmost, rightmost, link]
        };
        changes((node, pc), words, || real_erase(pc)(node, head), |_| ())
    }
}

/// Records that a word of a node is about to be read, and reads it.
///
/// # Safety
/// The address is that of a word of a node.
unsafe fn read(slot: *mut ThreadSlot, addr: usize, pc: usize) -> usize {
    // SAFETY: the slot is the current thread's; the rest is guaranteed by the caller.
    unsafe {
        touch(slot, Kind::RangeRead, addr, WORD, pc, Content::Now);
        word(addr)
    }
}

/// Records the reads of going from a node to the next one, if `on` is `RIGHT`, or to the one before.
///
/// # Safety
/// The node is one of a tree, and not the last one in that direction.
unsafe fn steps(node: usize, on: usize, pc: usize) {
    let Some(slot) = thread::recorded() else { return };
    let back = if on == RIGHT { LEFT } else { RIGHT };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut at = read(slot, node + on, pc);
        if at == 0 {
            // Up to the first node of which this one is on the other side; the library reads no more.
            let mut from = node;
            at = read(slot, node + PARENT, pc);
            while at != 0 && read(slot, at + on, pc) == from {
                from = at;
                at = read(slot, at + PARENT, pc);
            }
            return;
        }
        while at != 0 {
            at = read(slot, at + back, pc);
        }
    }
}

/// `std::_Rb_tree_increment`.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn increment(node: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        steps(node, RIGHT, pc);
        real_increment(pc)(node)
    }
}

/// `std::_Rb_tree_decrement`. From the end it goes to the last node, which the head knows.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn decrement(node: usize, pc: usize) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let parent = word(node + PARENT);
        let is_end = *(node as *const u32) == 0 && parent != 0 && word(parent + PARENT) == node;
        match thread::recorded().filter(|_| is_end) {
            Some(slot) => _ = read(slot, node + RIGHT, pc),
            None => steps(node, LEFT, pc),
        }
        real_decrement(pc)(node)
    }
}

/// `std::__detail::_List_node_base::_M_hook`.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn hook(node: usize, at: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let words = || [node, node + BEFORE, word(at + BEFORE), at + BEFORE];
        changes((node, pc), words, || real_hook(pc)(node, at), |_| ());
    }
}

/// `std::__detail::_List_node_base::_M_unhook`.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn unhook(node: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let words = || [word(node + BEFORE), word(node) + BEFORE];
        changes((node, pc), words, || real_unhook(pc)(node), |_| ());
    }
}

/// `std::__detail::_List_node_base::_M_transfer`, by which nodes are moved from `first` up to `last`.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn transfer(node: usize, first: usize, last: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let words = || {
            let [at, from, to] = [node, first, last].map(|it| word(it + BEFORE));
            [at, from, to, node + BEFORE, first + BEFORE, last + BEFORE]
        };
        changes((node, pc), words, || real_transfer(pc)(node, first, last), |_| ());
    }
}

/// `std::__detail::_List_node_base::_M_reverse`. Of the nodes, only the head counts: whoever goes through the list begins there.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn reverse(head: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe { changes((head, pc), || [head, head + BEFORE], || real_reverse(pc)(head), |_| ()) }
}

/// `std::__detail::_List_node_base::swap`.
///
/// # Safety
/// As for the function of the C++ library in whose place it is called.
unsafe extern "C-unwind" fn swap(one: usize, other: usize, pc: usize) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let words = || [one, one + BEFORE, other, other + BEFORE];
        changes((one, pc), words, || real_swap(pc)(one, other), |_| ());
    }
}

interpose! {
    _ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_(4) => insert;
    _ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_(2) => erase;
    _ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base(1) => increment;
    _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base(1) => increment;
    _ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base(1) => decrement;
    _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base(1) => decrement;
    _ZNSt8__detail15_List_node_base7_M_hookEPS0_(2) => hook;
    _ZNSt8__detail15_List_node_base9_M_unhookEv(1) => unhook;
    _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_(3) => transfer;
    _ZNSt8__detail15_List_node_base10_M_reverseEv(1) => reverse;
    _ZNSt8__detail15_List_node_base4swapERS0_S1_(2) => swap;
}
