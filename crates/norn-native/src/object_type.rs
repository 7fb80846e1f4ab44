//! The types of objects on the heap, from the code that accesses them.

use norn_binary::Pointee as Found;
use norn_frontend::{ObjectType, Operation, Owner, Pointee, Variable};

use crate::{modules::Modules, symbols::is_system};

/// The types that were found, with the number of their module. The index is the `id` of the type.
#[derive(Debug, Default)]
pub(crate) struct Types(Vec<(usize, norn_binary::ObjectType)>);

impl Types {
    /// The number of a type. Each compilation unit describes the types that it uses, so a type is
    /// identified by its name and size.
    fn number(&mut self, module: usize, new: &norn_binary::ObjectType) -> usize {
        let is_same = |it: &(usize, norn_binary::ObjectType)| {
            it.0 == module && it.1.name == new.name && it.1.size == new.size
        };
        self.0.iter().position(is_same).unwrap_or_else(|| {
            self.0.push((module, new.clone()));
            self.0.len() - 1
        })
    }
}

/// The objects that an operation accesses. An address that a function got as an argument is followed
/// into its caller, which knows more about it: for a mutex, the object that contains it.
pub(crate) fn accessed(modules: &Modules, stack: &[u64], operation: Operation) -> Vec<Pointee> {
    let mut found = Vec::new();
    let mut next = stack.first().and_then(|pc| argument(modules, *pc, operation));
    let mut added = Some(0);
    for pc in stack {
        let (Some(index), Some((number, loaded))) = (next, modules.numbered(*pc)) else { break };
        let Some(binary) = loaded.binary() else { break };
        let argument = binary.argument(loaded.in_module(*pc), index);
        let pointees = argument.pointees.iter();
        found.extend(pointees.filter_map(|it| pointee(modules, number, it, added)));
        next = argument.forwarded.map(|it| it.0);
        let more = argument.forwarded.and_then(|it| it.1);
        added = added.zip(more).and_then(|(a, b): (i64, i64)| a.checked_add(b));
    }
    found
}

/// The argument in which a call gets the address of an operation.
fn argument(modules: &Modules, pc: u64, operation: Operation) -> Option<u8> {
    if let Operation::Call(index) = operation {
        return Some(index);
    }
    let (_, loaded) = modules.numbered(pc)?;
    let called = loaded.binary()?.called(loaded.in_module(pc))?;
    let is_hook = called.starts_with("__tsan_");
    // Functions that copy memory get the destination first; what others read is not known.
    (is_hook || operation == Operation::Write && is_copy(&called)).then_some(0)
}

fn is_copy(function: &str) -> bool {
    let name = function.trim_start_matches('_').trim_start_matches("wrap_");
    ["memcpy", "memmove", "memset", "strcpy", "strncpy"].iter().any(|it| name.starts_with(it))
}

/// Types of Rust through which all shared data is accessed: they are parts of every object, and say
/// nothing about the block.
const CELLS: [&str; 3] = ["core::cell::", "core::sync::atomic::", "core::mem::"];

/// Rust's allocators return pointers to this type, whatever the memory is for.
const BYTE: &str = "u8";

fn pointee(modules: &Modules, module: usize, it: &Found, added: Option<i64>) -> Option<Pointee> {
    let name = &*it.object.name;
    if name == BYTE || CELLS.iter().any(|cell| name.starts_with(cell)) {
        return None;
    }
    let distance = match it.distance.zip(added) {
        Some((distance, added)) => Some(u64::try_from(distance.checked_add(added)?).ok()?),
        None => None,
    };
    Some(Pointee { object: numbered(modules, module, &it.object)?, distance })
}

/// A type in the form of the front-end interface.
pub(crate) fn numbered(
    modules: &Modules,
    module: usize,
    of: &norn_binary::ObjectType,
) -> Option<ObjectType> {
    let id = u32::try_from(modules.types().number(module, of)).ok()?;
    let record_of = of.is_record.then(|| owner(of));
    Some(ObjectType { id, name: of.name.clone(), size: of.size, record_of })
}

/// The type of what the pointer at an address points to, if it is in a global variable.
pub(crate) fn pointer_target(modules: &Modules, addr: u64) -> Option<ObjectType> {
    let (number, loaded) = modules.numbered(addr)?;
    let target = loaded.binary()?.pointer_target(loaded.in_module(addr))?;
    numbered(modules, number, &target)
}

/// Types of Rust have no file: those of its libraries are known by their crates.
const LIBRARIES: [&str; 4] = ["std::", "core::", "alloc::", "hashbrown::"];

fn owner(of: &norn_binary::ObjectType) -> Owner {
    let library = of.file.as_deref().is_some_and(is_system)
        || LIBRARIES.iter().any(|it| of.name.starts_with(it));
    if library { Owner::Library } else { Owner::Program }
}

/// The part of objects of a type that an access touches.
pub(crate) fn part_of(
    modules: &Modules,
    of: &ObjectType,
    count: u64,
    (offset, size): (u64, u64),
) -> Variable {
    let known = usize::try_from(of.id).ok().and_then(|it| modules.types().0.get(it).cloned());
    let part = known.and_then(|(module, of)| {
        Some(modules.binary_of(module)?.part_of(&of, count, (offset, size)))
    });
    let (name, value_type) = part.unwrap_or_default();
    Variable { name, offset, value_type }
}
