//! Names of parts of heap blocks: the type and the path to the member, and which object it is.
//!
//! `Account::mutex_ of accounts[1]`: the type is that of the block ([`HeapTypes`]), and `accounts[1]` is
//! the variable that points to it when it is named. A block to which no variable points is numbered
//! among those that were allocated at the same place, from the second one on: `Account#2::mutex_`. So
//! two blocks never have the same name.

use norn_model::{SiteId, StackId, ValueKind, ValueType};
use norn_trace::Trace;

use crate::{HeapTypes, Memory, ObjectType, Region, Symbols, heap_type::Placed, rust_name};

/// What the name of a local variable of another thread ends with, and the thread.
const OF_THREAD: &str = " of T";
/// Maximum number of pointers from a variable to a block: `list.head->next->next`.
const MAX_DEPTH: usize = 3;

/// Names the heap blocks of a run at one moment.
pub struct HeapNames<'a> {
    /// The run.
    pub trace: &'a Trace,
    /// Its symbols.
    pub symbols: &'a dyn Symbols,
    /// The types of its blocks.
    pub types: &'a HeapTypes,
    /// Its memory at that moment.
    pub memory: &'a Memory,
    /// The place of an allocation and its callers, innermost first.
    pub calls: &'a dyn Fn(SiteId, StackId) -> Vec<u64>,
}

/// The name of a part of a heap block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapName {
    /// The type and the path to the part: `Account::mutex_`.
    pub name: String,
    /// The variable that points to the block: `accounts[1]`.
    pub holder: Option<String>,
    /// How to format the value of the part, if it is a scalar.
    pub value_type: Option<ValueType>,
}

impl std::fmt::Debug for HeapNames<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeapNames").finish_non_exhaustive()
    }
}

impl HeapNames<'_> {
    /// Names what an operation on `size` bytes at an address accesses; none if it is not on the heap.
    pub fn name(&self, addr: u64, size: u64) -> Option<HeapName> {
        let Some(Region::Heap { offset, ordinal, size: block_size, .. }) = self.memory.region(addr)
        else {
            return None;
        };
        let holder = self.holder(addr, 0);
        // The pointers of an allocator are those to plain numbers: the owner of the block knows more.
        let inferred = self.part(addr, size);
        let is_number = inferred.as_ref().is_none_or(|it| it.0.of.record_of.is_none());
        let owned = if is_number { self.part_of_target(addr, size) } else { None };
        let known = owned.or(inferred);
        let is_unique = ordinal < 2 || holder.as_ref().is_some_and(|it| it.is_exact);
        let number = if is_unique { String::new() } else { format!("#{ordinal}") };
        let holder = holder.map(|it| it.name());
        let Some((of, part)) = known else {
            let name = format!("heap[{block_size}]{number}{}", plus(offset));
            return Some(HeapName { name, holder, value_type: None });
        };
        let path = match part.name.strip_prefix('.') {
            Some(member) => format!("::{member}"),
            None if part.name.is_empty() && of.count > 1 => format!("[{}]", of.count),
            None => part.name,
        };
        let name = format!("{}{number}{path}", rust_name::short(&of.of.name));
        Some(HeapName { name, holder, value_type: part.value_type })
    }

    /// The part of an object in a block.
    fn part(&self, addr: u64, size: u64) -> Option<(Placed, crate::Variable)> {
        let Region::Heap { offset, size: block_size, site, stack, .. } =
            self.memory.region(addr)?
        else {
            return None;
        };
        let all = self.types.objects((self.calls)(site, stack), block_size);
        let placed = all.iter().find(|it| it.covers(offset))?;
        let part = self.symbols.part_of(&placed.of, placed.count, offset - placed.start, size);
        Some((placed.clone(), part))
    }

    /// The same by the type of a local variable that points to the block. Code that accesses an object of Rust
    /// has the address of a number in it; the owner knows what it is.
    fn part_of_target(&self, addr: u64, size: u64) -> Option<(Placed, crate::Variable)> {
        let (block, _) = self.memory.block(addr)?;
        let Region::Heap { offset, size: block_size, .. } = self.memory.region(addr)? else {
            return None;
        };
        let target = |pointer| {
            let Some(Region::Stack(on)) = self.memory.region(pointer) else { return None };
            self.symbols.local(self.trace, on, pointer, 8).target
        };
        let fits = |it: &ObjectType| it.record_of.is_some() && it.size == block_size;
        let of = self.memory.pointers_to(block).find_map(|it| target(it).filter(fits))?;
        let part = self.symbols.part_of(&of, 1, offset, size);
        Some((Placed::whole(of), part))
    }

    /// The variable that points to the block of an address.
    fn holder(&self, addr: u64, depth: usize) -> Option<Holder> {
        let (block, _) = self.memory.block(addr)?;
        let pointers = || self.memory.pointers_to(block);
        let global = pointers().find_map(|it| self.global(it));
        if let Some(variable) = global.or_else(|| pointers().find_map(|it| self.local(it))) {
            return Some(Holder::new(&variable.name));
        }
        if depth >= MAX_DEPTH {
            return None;
        }
        pointers().find_map(|it| {
            let outer = self.holder(it, depth + 1)?;
            let part = Holder::new(&self.live_part(it)?.name);
            Some(outer.through(&part, self.symbols.member_operator()))
        })
    }

    /// The member of an object on the heap that contains a pointer. In freed memory there are none.
    fn live_part(&self, addr: u64) -> Option<crate::Variable> {
        let freed = matches!(self.memory.region(addr)?, Region::Heap { freed: true, .. });
        self.part(addr, 8).map(|it| it.1).filter(|_| !freed)
    }

    fn global(&self, addr: u64) -> Option<crate::Variable> {
        self.symbols.variable(addr, 8).filter(|it| is_of_program(&it.name))
    }

    fn local(&self, addr: u64) -> Option<crate::Variable> {
        let Some(Region::Stack(on)) = self.memory.region(addr) else { return None };
        let local = self.symbols.local(self.trace, on, addr, 8);
        let variable = local.variable?;
        let is_pointer =
            variable.value_type.as_ref().is_some_and(|it| it.kind == ValueKind::Pointer);
        let is_known = is_pointer && is_of_program(&local.name);
        is_known.then_some(crate::Variable { name: local.name, ..variable })
    }
}

/// A variable that points to a block, or from which a path leads to it.
struct Holder {
    path: String,
    /// For a local variable of another thread than the one at work: ` of T1`.
    thread: String,
    /// Whether nothing but this block can be called so at this moment.
    is_exact: bool,
}

impl Holder {
    /// Omits members that are internal to the libraries of C++ and Rust: a smart pointer is named as if it were
    /// the pointer, and the elements of a vector as if it were the array. The nodes of other containers all
    /// have the name of the container then.
    fn new(name: &str) -> Holder {
        let end = name.rfind(OF_THREAD).unwrap_or(name.len());
        let (path, thread) = name.split_at(end);
        let (path, is_exact) = Holder::without_internals(path);
        Holder { path: path.to_owned(), thread: thread.to_owned(), is_exact }
    }

    fn name(&self) -> String {
        format!("{}{}", self.path, self.thread)
    }

    /// A pointer in a part of what this one points to.
    fn through(&self, part: &Holder, operator: &str) -> Holder {
        let path = match part.path.strip_prefix('.') {
            Some(member) => format!("{}{operator}{member}", self.path),
            None => format!("{}{}", self.path, part.path),
        };
        Holder { path, thread: self.thread.clone(), is_exact: self.is_exact && part.is_exact }
    }

    fn without_internals(path: &str) -> (&str, bool) {
        const POINTERS: [&str; 4] = ["_M_start", "_M_head_impl", "_M_ptr", "_M_p"];
        // `Vec`, a pinned `Arc`, and `Arc`, `Rc` or `NonNull`.
        const RUST: [&str; 3] =
            [".buf.inner.ptr.pointer.pointer", ".pointer.ptr.pointer", ".ptr.pointer"];
        if let Some(name) = RUST.iter().find_map(|it| path.strip_suffix(it)) {
            return (name, true);
        }
        let (name, internal) = path.split_once("._M_").unwrap_or((path, ""));
        let last = internal.rsplit('.').next().unwrap_or("");
        let is_pointer = POINTERS
            .iter()
            .any(|it| it.trim_start_matches("_M_") == last.trim_start_matches("_M_"));
        (name, internal.is_empty() || is_pointer)
    }
}

/// Whether a name is one that the program's author knows.
fn is_of_program(name: &str) -> bool {
    !["std::", "__", "_IO_"].iter().any(|it| name.starts_with(it))
}

fn plus(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_named_without_the_members_of_the_library() {
        let holder = |path| {
            let holder = Holder::new(path);
            (holder.name(), holder.is_exact)
        };
        assert_eq!(holder("shared.ptr.pointer of T0.1"), ("shared of T0.1".to_owned(), true));
        let (bank, account) = (Holder::new("bank of T0.1"), Holder::new(".accounts[1]"));
        assert_eq!(bank.through(&account, "->").name(), "bank->accounts[1] of T0.1");
        assert_eq!(bank.through(&account, ".").name(), "bank.accounts[1] of T0.1");
        assert_eq!(holder("accounts[1]"), ("accounts[1]".to_owned(), true));
        assert_eq!(holder("bank.list._M_impl._M_start"), ("bank.list".to_owned(), true));
        assert_eq!(holder("cache._M_t._M_head_impl"), ("cache".to_owned(), true));
        assert_eq!(holder("map._M_h._M_before_begin._M_nxt"), ("map".to_owned(), false));
        assert_eq!(holder("first.ptr.pointer"), ("first".to_owned(), true));
        assert_eq!(
            holder("bank.list.buf.inner.ptr.pointer.pointer"),
            ("bank.list".to_owned(), true)
        );
    }
}
