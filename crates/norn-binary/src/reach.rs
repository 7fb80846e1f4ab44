//! What a thread can execute between two recorded events.
//!
//! Instrumented code calls a hook at each access. So the code between two events of a thread is what
//! control flow reaches from the first one without a call of a hook. Calls of functions in the module
//! are followed, since functions that record nothing, such as a lock in assembly, leave no trace.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    rc::Rc,
};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

use crate::{
    call::Targets,
    sync_instruction::{Recogniser, SyncInstruction, may_synchronise},
    transfer::{Direction, FirstArgument, Transfer, Transfers, moves},
};

/// What code reaches without an access that is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Instructions that may synchronise threads, each with the return addresses of the calls that
    /// lead to it, innermost first.
    pub sync: BTreeMap<SyncInstruction, Vec<u64>>,
    /// The return addresses of calls of hooks and of functions that may be recorded.
    pub calls: BTreeSet<u64>,
    /// Functions of other modules that are called, each with the return addresses of the calls that
    /// lead to it, innermost first.
    pub imports: BTreeMap<Box<str>, Vec<u64>>,
    /// Calls of functions of libc that move data between threads.
    pub transfers: Transfers,
    /// Whether the function returns to its caller.
    pub returns: bool,
    /// Whether there are calls or jumps whose targets the code does not determine.
    pub indirect: bool,
}

impl Reach {
    /// Adds what a called function reaches.
    fn add_callee(&mut self, other: &Reach, returns_to: u64) {
        for (sync, calls) in &other.sync {
            let through = || calls.iter().copied().chain([returns_to]).collect();
            self.sync.entry(sync.clone()).or_insert_with(through);
        }
        self.calls.extend(&other.calls);
        for (name, calls) in &other.imports {
            let through = || calls.iter().copied().chain([returns_to]).collect();
            self.imports.entry(name.clone()).or_insert_with(through);
        }
        for (at, transfer) in &other.transfers {
            let through = || {
                let mut transfer = transfer.clone();
                transfer.calls.push(returns_to);
                transfer
            };
            self.transfers.entry(*at).or_insert_with(through);
        }
        self.indirect |= other.indirect;
    }
}

/// Maximum depth of calls that are followed.
const DEPTH: usize = 12;
/// Maximum number of instructions that are followed in one function.
const INSTRUCTIONS: usize = 20_000;
/// The prefix of hooks, and those that record no event of their own.
const HOOK: &str = "__tsan_";
const NO_EVENT: [&str; 2] = ["__tsan_func_", "__tsan_init"];

/// Follows the code of a module.
pub(crate) struct Walker<'m, 'a> {
    pub(crate) targets: Targets<'m, 'a>,
    /// The addresses of the runtime, which is not followed.
    pub(crate) runtime: Range<u64>,
    /// Whether the code at an address is followed.
    pub(crate) is_program: &'m dyn Fn(u64) -> bool,
    /// What the functions reach that were called so far.
    known: BTreeMap<u64, Rc<Reach>>,
}

/// One function that is followed.
#[derive(Default)]
struct Walk {
    reach: Reach,
    left: Vec<u64>,
    seen: BTreeSet<u64>,
    argument: FirstArgument,
}

impl<'m, 'a> Walker<'m, 'a> {
    pub(crate) fn new(
        targets: Targets<'m, 'a>,
        runtime: Range<u64>,
        is_program: &'m dyn Fn(u64) -> bool,
    ) -> Self {
        Walker { targets, runtime, is_program, known: BTreeMap::new() }
    }

    /// What the code at an address reaches.
    pub(crate) fn reach(&mut self, from: u64, depth: usize) -> Reach {
        let mut walk = Walk { left: vec![from], ..Walk::default() };
        while let Some(at) = walk.left.pop() {
            self.block(at, depth, &mut walk);
        }
        walk.reach
    }

    /// Follows code up to the end of a block.
    fn block(&mut self, at: u64, depth: usize, walk: &mut Walk) {
        let Some(bytes) = self.targets.bytes(at) else { return };
        let mut decoder = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE);
        let (mut code, mut recogniser) = (Instruction::default(), Recogniser::default());
        walk.argument = FirstArgument::default();
        while decoder.can_decode() && walk.seen.len() < INSTRUCTIONS {
            decoder.decode_out(&mut code);
            if code.is_invalid() || !walk.seen.insert(code.ip()) {
                return;
            }
            let sync = recogniser.step_quickly(&code);
            walk.argument.follow(&code);
            walk.reach.sync.extend(sync.map(|it| (it, Vec::new())));
            match code.flow_control() {
                FlowControl::Next | FlowControl::XbeginXabortXend | FlowControl::Interrupt => {}
                FlowControl::ConditionalBranch => walk.left.push(code.near_branch_target()),
                FlowControl::UnconditionalBranch => return self.jump(&code, depth, walk),
                FlowControl::Call if is_system_call(&code) => {}
                FlowControl::Call | FlowControl::IndirectCall => {
                    if !self.call(&code, depth, walk) {
                        return;
                    }
                    walk.argument = FirstArgument::default();
                }
                FlowControl::IndirectBranch => return self.jump_indirectly(&code, walk),
                FlowControl::Return => {
                    walk.reach.returns = true;
                    return;
                }
                FlowControl::Exception => return,
            }
        }
    }

    /// A direct jump; one to a hook or to a stub is a call at the end of the function.
    fn jump(&mut self, code: &Instruction, depth: usize, walk: &mut Walk) {
        let target = code.near_branch_target();
        if !self.runtime.contains(&target) && self.targets.stub(target).is_none() {
            walk.left.push(target);
        } else if self.call(code, depth, walk) {
            walk.reach.returns = true;
        }
    }

    /// A jump through a pointer: a call of an imported function at the end of this one, or the table
    /// of a `switch`, which may lead to each block of the function.
    fn jump_indirectly(&self, code: &Instruction, walk: &mut Walk) {
        if let Some(name) = self.targets.import(code) {
            note_transfer(code, name, walk);
            walk.reach.imports.insert(name.into(), Vec::new());
            walk.reach.returns = true;
            return;
        }
        walk.reach.indirect = true;
        let Some(function) = self.targets.symbols.code.covering(code.ip()) else { return };
        let Some(bytes) = self.targets.bytes(function.address) else { return };
        let bytes = &bytes[..bytes.len().min(usize::try_from(function.size).unwrap_or(0))];
        let mut decoder = Decoder::with_ip(64, bytes, function.address, DecoderOptions::NONE);
        let ends = |it: &Instruction| {
            matches!(
                it.flow_control(),
                FlowControl::UnconditionalBranch
                    | FlowControl::IndirectBranch
                    | FlowControl::Return
            )
        };
        let after = decoder.iter().filter(ends).map(|it| it.next_ip());
        let end = function.address + function.size;
        walk.left.extend(after.filter(|it| (function.address..end).contains(it)));
    }

    /// A call; returns whether the code behind it is reached without a recorded access.
    fn call(&mut self, code: &Instruction, depth: usize, walk: &mut Walk) -> bool {
        let name = self.targets.of(code);
        let direct = code.flow_control() != FlowControl::IndirectCall;
        let target = if direct { code.near_branch_target() } else { 0 };
        let local = direct && self.targets.stub(target).is_none();
        if let Some(name) = name.filter(|it| it.starts_with(HOOK)) {
            let passes = NO_EVENT.iter().any(|it| name.starts_with(it));
            if !passes {
                walk.reach.calls.insert(code.next_ip());
            }
            return passes;
        }
        walk.reach.calls.insert(code.next_ip());
        if let Some(name) = name {
            note_transfer(code, name, walk);
        }
        match name {
            Some(name) if !local => {
                // A jump at the end of the function returns to its caller.
                let jumps = code.flow_control() == FlowControl::UnconditionalBranch;
                let through = if jumps { Vec::new() } else { vec![code.next_ip()] };
                walk.reach.imports.insert(name.into(), through);
            }
            None if !direct => walk.reach.indirect = true,
            _ if self.runtime.contains(&target) || !(self.is_program)(target) => {}
            _ => return self.callee((target, code.next_ip()), depth, walk),
        }
        true
    }

    /// Follows a function of the module.
    fn callee(&mut self, (target, returns_to): (u64, u64), depth: usize, walk: &mut Walk) -> bool {
        if depth >= DEPTH {
            return true;
        }
        let known = self.known.get(&target).cloned();
        let reach = known.unwrap_or_else(|| self.reach_of_function(target, depth));
        walk.reach.add_callee(&reach, returns_to);
        reach.returns
    }

    fn reach_of_function(&mut self, target: u64, depth: usize) -> Rc<Reach> {
        // A recursive call adds nothing but its return.
        let recursive = Reach { returns: true, ..Reach::default() };
        self.known.insert(target, Rc::new(recursive));
        let reach = Rc::new(self.reach(target, depth + 1));
        self.known.insert(target, Rc::clone(&reach));
        reach
    }
}

/// Notes a call, or a jump at the end of a function, if it moves data between threads.
fn note_transfer(code: &Instruction, name: &str, walk: &mut Walk) {
    let moves = [Direction::Send, Direction::Receive].iter().any(|it| moves(name, *it));
    if moves && !walk.argument.moves_nothing(name) {
        let calls = matches!(code.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        let returns_to = calls.then(|| code.next_ip());
        let transfer = Transfer { name: name.into(), returns_to, calls: Vec::new() };
        walk.reach.transfers.insert(code.ip(), transfer);
    }
}

impl Recogniser {
    fn step_quickly(&mut self, code: &Instruction) -> Option<SyncInstruction> {
        if may_synchronise(code) {
            return self.step(code);
        }
        self.follow(code);
        None
    }
}

/// Decoders classify system calls as calls.
fn is_system_call(code: &Instruction) -> bool {
    code.mnemonic() == iced_x86::Mnemonic::Syscall
}
