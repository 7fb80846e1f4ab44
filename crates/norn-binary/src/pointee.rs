//! The types of the objects into which the arguments of a call point.
//!
//! A hook gets the address that the program is about to access. Its type is in no record, but in the
//! code: the address was computed from a pointer, and debug information has the types of pointers. So
//! the code before the call is followed backwards, instruction by instruction, from the argument's
//! register: `lea rdi, [rbx+8]` makes it what is 8 bytes behind `rbx`. Wherever debug information says
//! that a variable is in the register, or a variable or member from which it was loaded, or the result
//! of a call, the target of that type is an object into which the argument points. There may be
//! several: with an inlined `m.lock()` the address is that of a mutex, and that of a member of what
//! contains it.
//!
//! Only straight-line code is followed: what holds on all paths at a join is not determined. But what a place of the frame has
//! that only one instruction writes is known wherever it is read. An
//! argument that is computed from a parameter points where the caller's argument points, so the search
//! can be continued there.

use std::sync::Arc;

use iced_x86::{
    FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use rustc_hash::FxHashSet;

use crate::frame_register::{CALLER_SAVED, constant, is_call};
use crate::layout::{FrameState, instructions};
use crate::local::{Function, Functions};
use crate::parameter;
use crate::types::{Type, Types};
use crate::unit::{DieId, Units};
use crate::variable::Variables;

/// Maximum number of pointers that are followed to find the type of the last one: `a->b->c`.
const MAX_DEPTH: usize = 4;

/// Maximum number of intermediate results in the frame that are followed one after the other.
const MAX_SPILLS: usize = 8;

/// The registers of integer arguments, in the order of the calling convention.
const ARGUMENTS: [Register; 6] =
    [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

/// DWARF's order of the general registers.
const NUMBERED: [Register; 16] = [
    Register::RAX,
    Register::RDX,
    Register::RCX,
    Register::RBX,
    Register::RSI,
    Register::RDI,
    Register::RBP,
    Register::RSP,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::R13,
    Register::R14,
    Register::R15,
];

/// What the code says about an argument of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointers {
    /// The types of objects into which it points, and its distance from their beginning. None if an
    /// index was added.
    pub(crate) objects: Vec<(DieId, Option<i64>)>,
    /// The parameter of the calling function from which it was computed, and its distance from that.
    pub(crate) forwarded: Option<(u8, Option<i64>)>,
}

/// What is needed of a module.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c, 'a> {
    pub(crate) units: &'c Units<'a>,
    pub(crate) functions: &'c Functions,
    pub(crate) globals: &'c Variables,
    pub(crate) code: &'c [(u64, &'a [u8])],
}

/// What the code says about an argument of the call with this return address.
pub(crate) fn pointers(context: Context<'_, '_>, returns_to: u64, argument: u8) -> Pointers {
    let find = || {
        let function = context.functions.covering(returns_to.checked_sub(1)?)?;
        let mut walk = Walk::new(context, function, returns_to)?;
        let call = walk.code.iter().position(|it| it.next_ip() == returns_to && is_call(it))?;
        let register = *ARGUMENTS.get(usize::from(argument))?;
        let found = walk.follow(call, Address { register, distance: Some(0) }, 0);
        let objects = found.objects.into_iter().filter_map(|it| Some((it.die?, it.distance)));
        Some(Pointers { objects: objects.collect(), forwarded: found.forwarded })
    };
    find().unwrap_or_default()
}

/// An address: a register plus a distance, which is unknown after an index was added.
#[derive(Clone, Copy)]
struct Address {
    register: Register,
    distance: Option<i64>,
}

impl Address {
    fn plus(self, more: Option<i64>) -> Address {
        let distance = self.distance.zip(more).and_then(|(a, b)| a.checked_add(b));
        Address { distance, ..self }
    }
}

/// An object into which an address points. A variable itself has a type but is no target of a pointer.
struct Pointed {
    shape: Arc<Type>,
    die: Option<DieId>,
    distance: Option<i64>,
}

impl Pointed {
    /// The target of the pointer to which the address points.
    fn target(&self) -> Option<DieId> {
        match self.distance {
            Some(distance) => self.shape.target_at(u64::try_from(distance).ok()?),
            None => self.shape.element_target(),
        }
    }
}

#[derive(Default)]
struct Found {
    objects: Vec<Pointed>,
    forwarded: Option<(u8, Option<i64>)>,
}

struct Walk<'c, 'a> {
    context: Context<'c, 'a>,
    function: &'c Function,
    types: Types<'c, 'a>,
    code: Vec<Instruction>,
    /// Addresses to which the function jumps.
    joins: FxHashSet<u64>,
    frame: FrameState,
    facts: InstructionInfoFactory,
    /// Number of intermediate results in the frame that may still be followed.
    spills: usize,
}

impl<'c, 'a> Walk<'c, 'a> {
    fn new(
        context: Context<'c, 'a>,
        function: &'c Function,
        returns_to: u64,
    ) -> Option<Walk<'c, 'a>> {
        let code = instructions(context.code, &function.parts)?;
        let jumps = code.iter().filter(|it| it.is_jcc_short_or_near() || it.is_jmp_short_or_near());
        let joins = jumps.map(Instruction::near_branch_target).collect();
        let layout = function.layout(context.code);
        Some(Walk {
            context,
            function,
            types: Types::new(context.units),
            code,
            joins,
            frame: layout.at(returns_to).unwrap_or_else(|| layout.body()),
            facts: InstructionInfoFactory::new(),
            spills: MAX_SPILLS,
        })
    }

    /// Follows the computation of an address backwards from the instruction at `at`.
    fn follow(&mut self, mut at: usize, mut address: Address, depth: usize) -> Found {
        let mut found = Found::default();
        loop {
            self.note_variables(at, address, &mut found);
            let is_entry = self.code[at].ip() == self.function.start;
            let Some(before) = at.checked_sub(1).filter(|_| !is_entry) else {
                let argument = ARGUMENTS.iter().zip(0..).find(|it| *it.0 == address.register);
                if let Some((_, number)) = argument {
                    self.note_argument(number, address.distance, &mut found);
                }
                return found;
            };
            let adjacent = self.code[before].next_ip() == self.code[at].ip();
            if !adjacent || self.joins.contains(&self.code[at].ip()) {
                return found;
            }
            at = before;
            match self.before(at, address, depth, &mut found) {
                Some(next) => address = next,
                None => return found,
            }
        }
    }

    /// The variables that debug information places in the register before an instruction.
    fn note_variables(&mut self, at: usize, address: Address, found: &mut Found) {
        let Some(number) = (0..).zip(NUMBERED).find(|it| it.1 == address.register) else { return };
        let pc = self.code[at].ip();
        for variable in self.function.variables(self.context.units) {
            let Some(distance) = variable.in_register(number.0, pc) else { continue };
            let address = address.plus(distance.checked_neg());
            self.note_target(variable.shape.target_at(0), address.distance, found);
            if variable.is_parameter {
                self.note_parameter(&variable.name, address.distance, found);
            }
        }
    }

    /// The address before an instruction, if the instruction computed the register from another one.
    fn before(
        &mut self,
        at: usize,
        address: Address,
        depth: usize,
        found: &mut Found,
    ) -> Option<Address> {
        let instruction = self.code[at];
        if is_call(&instruction) {
            if address.register == Register::RAX {
                let result = self.result(&instruction);
                self.note_target(result, address.distance, found);
            }
            return (!CALLER_SAVED.contains(&address.register)).then_some(address);
        }
        if !matches!(instruction.flow_control(), FlowControl::Next | FlowControl::ConditionalBranch)
        {
            return None;
        }
        if !self.writes(&instruction, address.register) {
            return Some(address);
        }
        let is_whole = instruction.op0_register() == address.register;
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        let second = instruction.op1_register();
        match instruction.mnemonic() {
            _ if !is_whole => None,
            Mnemonic::Mov if second.is_gpr64() => Some(Address { register: second, ..address }),
            Mnemonic::Mov if base != Register::None || index != Register::None => {
                self.note_loaded(at, address.distance, depth, found);
                None
            }
            Mnemonic::Lea if base == Register::RIP => {
                let to = instruction.ip_rel_memory_address();
                self.note_global(to, address.distance, found);
                None
            }
            Mnemonic::Lea if base.is_gpr64() => {
                found.objects.extend(self.indexed(at, depth).objects);
                let more = instruction.memory_displacement64().cast_signed();
                let more = Some(more).filter(|_| index == Register::None);
                Some(Address { register: base, ..address.plus(more) })
            }
            Mnemonic::Add if second.is_gpr64() => {
                // Either operand may be the pointer; the other one is the index.
                let index = Address { register: second, distance: None };
                found.objects.extend(self.follow(at, index, depth + 1).objects);
                Some(address.plus(None))
            }
            Mnemonic::Add => Some(address.plus(Some(constant(&instruction)?))),
            Mnemonic::Sub => Some(address.plus(Some(constant(&instruction)?.checked_neg()?))),
            _ => None,
        }
    }

    /// The register was loaded from memory: from a variable, or through another pointer.
    fn note_loaded(&mut self, at: usize, distance: Option<i64>, depth: usize, found: &mut Found) {
        let instruction = self.code[at];
        let (base, index) = (instruction.memory_base(), instruction.memory_index());
        let displacement = instruction.memory_displacement64().cast_signed();
        let plain = Some(displacement).filter(|_| index == Register::None);
        if base == Register::RIP {
            let mut variable = Found::default();
            self.note_global(instruction.ip_rel_memory_address(), Some(0), &mut variable);
            self.note_targets(&variable, distance, found);
        } else if let Some(slot) = plain.and_then(|it| self.slot(base)?.checked_add(it)) {
            self.note_slot(at, slot, distance, found);
            self.note_spilled(&instruction, distance, depth, found);
        } else if depth < MAX_DEPTH && base.is_gpr64() {
            let pointer = Address { register: base, distance: plain };
            let pointer = self.follow(at, pointer, depth + 1);
            self.note_targets(&pointer, distance, found);
            let pointer = self.indexed(at, depth);
            self.note_targets(&pointer, distance, found);
        }
    }

    /// The register was loaded from a place of the frame that has no name.
    fn note_spilled(
        &mut self,
        load: &Instruction,
        distance: Option<i64>,
        depth: usize,
        found: &mut Found,
    ) {
        // A loop may compute the stored value from the loaded one.
        let Some(left) = self.spills.checked_sub(1) else { return };
        let Some((store, register)) = self.spilled(load) else { return };
        self.spills = left;
        let stored = self.follow(store, Address { register, distance }, depth);
        self.spills = left + 1;
        found.objects.extend(stored.objects);
        found.forwarded = found.forwarded.or(stored.forwarded);
    }

    /// The only instruction that stores to the part of the frame that another one loads, and the register that it stores.
    /// Code without optimisation keeps each intermediate result in a place of its own.
    fn spilled(&self, load: &Instruction) -> Option<(usize, Register)> {
        let place =
            |it: &Instruction| (it.memory_base(), it.memory_index(), it.memory_displacement64());
        let is_there = |it: &Instruction| {
            let has_memory = (0..it.op_count()).any(|at| it.op_kind(at) == OpKind::Memory);
            has_memory && place(it) == place(load)
        };
        let mut uses = self.code.iter().enumerate().filter(|(_, it)| is_there(it));
        let stores = |it: &Instruction| it.op0_kind() == OpKind::Memory;
        let is_move = |it: &Instruction| it.mnemonic() == Mnemonic::Mov;
        if !uses.clone().all(|(_, it)| is_move(it)) {
            return None;
        }
        let (at, store) = uses.by_ref().find(|(_, it)| stores(it))?;
        let register = Some(store.op1_register()).filter(|it| it.is_gpr64())?;
        uses.all(|(_, it)| !stores(it)).then_some((at, register))
    }

    /// Where the index register of an operand points: without a scale, it may be the pointer, and the base
    /// register the index.
    fn indexed(&mut self, at: usize, depth: usize) -> Found {
        let instruction = self.code[at];
        let register = instruction.memory_index();
        let may_be_pointer = register.is_gpr64() && instruction.memory_index_scale() == 1;
        if may_be_pointer && depth < MAX_DEPTH {
            self.follow(at, Address { register, distance: None }, depth + 1)
        } else {
            Found::default()
        }
    }

    /// The distance of a register from the frame address.
    fn slot(&self, register: Register) -> Option<i64> {
        match register {
            Register::RSP => self.frame.stack,
            Register::RBP => self.frame.frame,
            _ => None,
        }
    }

    /// The register was loaded from the frame.
    fn note_slot(&mut self, at: usize, slot: i64, distance: Option<i64>, found: &mut Found) {
        let behind = self.code[at].ip() + 1;
        for variable in self.function.variables(self.context.units) {
            let reach = variable.reach(Some(behind), self.frame);
            let Some(start) = reach.filter(|it| it.contains(&slot)).map(|it| it.start) else {
                continue;
            };
            let target = variable.shape.target_at(slot.abs_diff(start));
            self.note_target(target, distance, found);
            if variable.is_parameter {
                self.note_parameter(&variable.name, distance, found);
            }
        }
    }

    fn note_global(&mut self, address: u64, distance: Option<i64>, found: &mut Found) {
        if let Some((shape, offset)) = self.context.globals.shape_at(address) {
            let offset = i64::try_from(offset).ok();
            let distance = distance.zip(offset).and_then(|(a, b)| a.checked_add(b));
            found.objects.push(Pointed { shape, die: None, distance });
        }
    }

    fn note_targets(&mut self, pointers: &Found, distance: Option<i64>, found: &mut Found) {
        for pointer in &pointers.objects {
            self.note_target(pointer.target(), distance, found);
        }
    }

    fn note_target(&mut self, die: Option<DieId>, distance: Option<i64>, found: &mut Found) {
        let Some(die) = die else { return };
        if !found.objects.iter().any(|it| (it.die, it.distance) == (Some(die), distance)) {
            let shape = self.types.build(die);
            found.objects.push(Pointed { shape, die: Some(die), distance });
        }
    }

    /// The register has an argument that the function got: what its parameter points to.
    fn note_argument(&mut self, number: u8, distance: Option<i64>, found: &mut Found) {
        let Function { die, start, .. } = *self.function;
        let parameters = parameter::parameters(self.context.units, die, start);
        let name = parameters.iter().find(|it| it.register == Some(number)).map(|it| &it.name);
        for variable in self.function.variables(self.context.units) {
            if variable.is_parameter && Some(&variable.name) == name {
                self.note_target(variable.shape.target_at(0), distance, found);
            }
        }
        found.forwarded = found.forwarded.or(Some((number, distance)));
    }

    fn note_parameter(&self, name: &str, distance: Option<i64>, found: &mut Found) {
        let Function { die, start, .. } = *self.function;
        let all = parameter::parameters(self.context.units, die, start);
        let register = all.iter().find(|it| it.name == name).and_then(|it| it.register);
        found.forwarded = found.forwarded.or(register.map(|it| (it, distance)));
    }

    /// The type of what the called function returns a pointer to.
    fn result(&mut self, call: &Instruction) -> Option<DieId> {
        let function = self.context.functions.starting(call.near_branch_target())?;
        self.types.of(function.die).target_at(0)
    }

    fn writes(&mut self, instruction: &Instruction, register: Register) -> bool {
        let written = |it: &iced_x86::UsedRegister| {
            it.register().full_register() == register
                && !matches!(it.access(), OpAccess::Read | OpAccess::CondRead)
        };
        self.facts.info(instruction).used_registers().iter().any(written)
    }
}
