//! The hooks of the compiler's instrumentation, and the accesses that follow them.
//!
//! A hook gets the address in its first argument and is called just before the access. So the hook of an
//! access is the nearest one before it with an equal address and no other call between. Compilers move
//! and repeat loads, but never before their hook. Atomic operations are the hooks themselves.

use iced_x86::{FlowControl, Instruction};
use rustc_hash::FxHashMap;

use crate::{
    cfg::Cfg,
    effect::Effect,
    linear::{Linear, Root, Values},
    location::ARGUMENTS,
};

/// What a hook announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// A read of this many bytes.
    Read(u16),
    /// A read of as many bytes as its second argument says.
    ReadRange,
    /// An atomic operation that returns what it read.
    AtomicRead,
    /// An atomic operation that reads and returns whether it found what it expected.
    AtomicTest,
    /// An atomic operation that returns nothing.
    AtomicWrite,
    /// A write, or nothing that is an access.
    Other,
}

impl Hook {
    /// The hook with this name.
    pub(crate) fn named(name: &str) -> Option<Hook> {
        let hook = name.strip_prefix("__tsan_")?;
        let hook = ["unaligned_", "volatile_"]
            .iter()
            .fold(hook, |hook, prefix| hook.strip_prefix(prefix).unwrap_or(hook));
        if let Some(operation) = hook.strip_prefix("atomic") {
            let writes = operation.ends_with("_store");
            let tests = operation.contains("compare_exchange") && !operation.ends_with("_val");
            return Some(match operation.contains("fence") {
                true => Hook::Other,
                _ if writes => Hook::AtomicWrite,
                _ if tests => Hook::AtomicTest,
                _ => Hook::AtomicRead,
            });
        }
        let size = hook.strip_prefix("read_write").or(hook.strip_prefix("read"));
        Some(match size {
            Some("_range") => Hook::ReadRange,
            Some(size) => {
                let digits: String = size.chars().take_while(char::is_ascii_digit).collect();
                digits.parse().map_or(Hook::Other, Hook::Read)
            }
            None if hook == "vptr_read" => Hook::Read(8),
            None => Hook::Other,
        })
    }
}

/// A hook that was called and announces a read.
struct Announced {
    returns_to: u64,
    address: Linear,
    size: i64,
}

impl Announced {
    /// Whether an access of this size may be the announced one. Compilers step through arrays with one
    /// pointer for the hook and another for the access; nothing shows that these are equal.
    fn may_be(&self, address: &Linear, size: i64) -> bool {
        let varies = |it: &Linear| {
            it.terms.iter().any(|(root, _)| matches!(root, Root::Defined(it) if it.len() > 1))
        };
        self.size == size && varies(&self.address) && varies(address)
    }
}

/// How many blocks before that of an access are searched for its hook.
const MAX_BLOCKS: u32 = 4;

/// By instruction: the return address of the hook that announces what it reads.
pub(crate) fn announced_reads(
    cfg: &Cfg,
    effects: &[Effect],
    values: &mut Values<'_, '_>,
    hook: &dyn Fn(&Instruction) -> Option<Hook>,
) -> FxHashMap<u32, u64> {
    let mut reads = FxHashMap::default();
    let mut known: FxHashMap<u32, Option<Announced>> = FxHashMap::default();
    for at in 0..values.function.len() {
        let code = *values.function.instruction(at);
        let atomic = || matches!(hook(&code), Some(Hook::AtomicRead | Hook::AtomicTest));
        if is_call(&code) && atomic() {
            reads.insert(at, code.next_ip());
        } else if effects[at as usize].loads {
            let address = values.address(at);
            if address.is_in_frame() {
                continue;
            }
            let hooks = hooks_before(cfg, values, at, hook);
            for call in &hooks {
                known.entry(*call).or_insert_with(|| announced(*call, values, hook));
            }
            let mut near = hooks.iter().filter_map(|it| known.get(it)?.as_ref());
            let equal = near.clone().find(|it| {
                let inside = address.distance_from(&it.address);
                inside.is_some_and(|inside| (0..it.size).contains(&inside))
            });
            let size = i64::try_from(code.memory_size().size()).unwrap_or(0);
            let nearest = || near.next().filter(|it| it.may_be(&address, size));
            reads.extend(equal.or_else(nearest).map(|it| (at, it.returns_to)));
        }
    }
    reads
}

/// The calls of hooks before an instruction, nearest first, up to another call.
fn hooks_before(
    cfg: &Cfg,
    values: &Values<'_, '_>,
    at: u32,
    hook: &dyn Fn(&Instruction) -> Option<Hook>,
) -> Vec<u32> {
    let mut found = Vec::new();
    let (mut block, mut end) = (cfg.block_of[at as usize], at);
    for _ in 0..MAX_BLOCKS {
        for call in (cfg.block(block).first..end).rev() {
            let code = values.function.instruction(call);
            if is_call(code) {
                match hook(code) {
                    Some(Hook::Read(_) | Hook::ReadRange) => found.push(call),
                    Some(_) => {}
                    None => return found,
                }
            }
        }
        let [before] = cfg.block(block).predecessors[..] else { return found };
        (block, end) = (before, cfg.block(before).end);
    }
    found
}

fn announced(
    call: u32,
    values: &mut Values<'_, '_>,
    hook: &dyn Fn(&Instruction) -> Option<Hook>,
) -> Option<Announced> {
    let code = *values.function.instruction(call);
    let size = match hook(&code)? {
        Hook::Read(size) => i64::from(size),
        Hook::ReadRange => values.before(call, ARGUMENTS[1]).as_constant()?,
        Hook::AtomicRead | Hook::AtomicTest | Hook::AtomicWrite | Hook::Other => return None,
    };
    let address = values.before(call, ARGUMENTS[0]);
    Some(Announced { returns_to: code.next_ip(), address, size })
}

pub(crate) fn is_call(code: &Instruction) -> bool {
    matches!(code.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_known_by_their_names() {
        assert_eq!(Hook::named("__tsan_read4"), Some(Hook::Read(4)));
        assert_eq!(Hook::named("__tsan_unaligned_read8"), Some(Hook::Read(8)));
        assert_eq!(Hook::named("__tsan_volatile_read2"), Some(Hook::Read(2)));
        assert_eq!(Hook::named("__tsan_read_write16"), Some(Hook::Read(16)));
        assert_eq!(Hook::named("__tsan_read1_pc"), Some(Hook::Read(1)));
        assert_eq!(Hook::named("__tsan_read_range"), Some(Hook::ReadRange));
        assert_eq!(Hook::named("__tsan_vptr_read"), Some(Hook::Read(8)));
        assert_eq!(Hook::named("__tsan_atomic32_load"), Some(Hook::AtomicRead));
        assert_eq!(Hook::named("__tsan_atomic8_fetch_add"), Some(Hook::AtomicRead));
        assert_eq!(Hook::named("__tsan_atomic64_store"), Some(Hook::AtomicWrite));
        let weak = "__tsan_atomic32_compare_exchange_weak";
        assert_eq!(Hook::named(weak), Some(Hook::AtomicTest));
        let old = "__tsan_atomic32_compare_exchange_val";
        assert_eq!(Hook::named(old), Some(Hook::AtomicRead));
        assert_eq!(Hook::named("__tsan_atomic_thread_fence"), Some(Hook::Other));
        assert_eq!(Hook::named("__tsan_write4"), Some(Hook::Other));
        assert_eq!(Hook::named("memcpy"), None);
    }
}
