//! The variables of functions, as debug information describes them: their types, and where their values
//! are while the code runs, in the frame or in registers.

use std::ops::Range;
use std::sync::Arc;

use gimli::{AttributeValue, EntriesTreeNode, Expression, Operation, Register};

use crate::dwarf::Slice;
use crate::layout::FrameState;
use crate::line::Frame;
use crate::name;
use crate::types::{Type, Types};
use crate::unit::{DieId, Entry, Units};
use crate::variable::{Variable, part};

/// A variable or parameter of a function.
pub(crate) struct FrameVariable {
    pub(crate) name: String,
    pub(crate) shape: Arc<Type>,
    size: u64,
    /// Whether it is a parameter of the function itself.
    pub(crate) is_parameter: bool,
    /// The code ranges of its block; `None` if it is the whole function.
    block: Option<Vec<Range<u64>>>,
    /// Whether it belongs to an inlined function.
    inlined: bool,
    locations: Vec<StackLocation>,
    registers: Vec<RegisterLocation>,
    file: Option<Arc<str>>,
    line: Option<u32>,
}

/// A register from which the value of a variable follows, while the code is in a range, or always.
struct RegisterLocation {
    during: Option<Range<u64>>,
    /// DWARF's number of the register.
    register: u16,
    /// What has to be added to the register.
    distance: i64,
}

/// The location of a variable while the code is in a range, or always.
struct StackLocation {
    during: Option<Range<u64>>,
    base: Base,
    offset: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Address,
    Stack,
    Frame,
}

impl StackLocation {
    fn start(&self, frame_state: FrameState) -> Option<i64> {
        let base = match self.base {
            Base::Address => 0,
            Base::Stack => frame_state.stack?,
            Base::Frame => frame_state.frame?,
        };
        base.checked_add(self.offset)
    }
}

impl FrameVariable {
    /// Its bytes in the frame, if it can be there now. If the current call is unknown, only what is
    /// valid in the whole function is certain.
    pub(crate) fn reach(&self, call: Option<u64>, frame_state: FrameState) -> Option<Range<i64>> {
        let runs = |range: &Range<u64>| call.is_some_and(|it| range.contains(&it.wrapping_sub(1)));
        let alive = self.block.as_ref().is_none_or(|parts| parts.iter().any(runs));
        let location = self.locations.iter().find(|it| it.during.as_ref().is_none_or(runs));
        let start = location.filter(|_| alive)?.start(frame_state)?;
        Some(start..start.checked_add_unsigned(self.size.max(1))?)
    }

    /// What has to be added to a register to get its value before the instruction at an address.
    pub(crate) fn in_register(&self, register: u16, pc: u64) -> Option<i64> {
        let here = |it: &&RegisterLocation| {
            it.register == register && it.during.as_ref().is_none_or(|range| range.contains(&pc))
        };
        self.registers.iter().find(here).map(|it| it.distance)
    }

    /// Before its declaration, something else may be at its location.
    pub(crate) fn is_declared_behind(&self, source: Option<&Frame>) -> bool {
        let same = source.filter(|it| !self.inlined && it.file.is_some() && it.file == self.file);
        same.and_then(|it| it.line).zip(self.line).is_some_and(|(now, declared)| now < declared)
    }

    /// The type of what the pointer at an offset points to.
    pub(crate) fn target_at(&self, offset: u64) -> Option<DieId> {
        self.shape.target_at(offset)
    }

    /// The part of it that an access touches.
    pub(crate) fn describe(&self, offset: u64, size: u64) -> Variable {
        let (part, value_type) = part(&self.shape, offset, size);
        Variable {
            name: format!("{}{part}", self.name),
            symbol: self.name.clone(),
            offset,
            size: self.size,
            file: self.file.clone(),
            line: self.line,
            address: 0,
            is_thread_local: false,
            value_type,
        }
    }
}

/// Collects the variables of a function.
struct Reader<'u, 'a> {
    types: Types<'u, 'a>,
    unit: usize,
    base: Option<Base>,
    found: Vec<FrameVariable>,
}

/// The block that encloses an entry.
#[derive(Clone, Default)]
struct Block {
    parts: Option<Vec<Range<u64>>>,
    inlined: bool,
    depth: usize,
}

/// The variables of a function, and of those that are inlined into it.
pub(crate) fn read(units: &Units<'_>, function: DieId) -> Vec<FrameVariable> {
    Reader::read(units, function).unwrap_or_default()
}

impl<'u, 'a> Reader<'u, 'a> {
    fn read(units: &'u Units<'a>, function: DieId) -> Option<Vec<FrameVariable>> {
        let unit = units.unit(function.unit);
        let base = match units.entry(function)?.attr_value(gimli::DW_AT_frame_base)? {
            AttributeValue::Exprloc(expression) => {
                frame_base(expression.operations(unit.encoding()))
            }
            _ => None,
        };
        let types = Types::new(units);
        let mut reader = Reader { types, unit: function.unit, base, found: Vec::new() };
        let mut tree = unit.entries_tree(Some(function.offset)).ok()?;
        reader.block(tree.root().ok()?, &Block::default());
        Some(reader.found)
    }

    fn block(&mut self, node: EntriesTreeNode<'_, '_, Slice<'a>>, block: &Block) {
        // Real nesting is shallow; damaged nesting is cut.
        const MAX_DEPTH: usize = 64;
        let mut children = node.children();
        while let Ok(Some(child)) = children.next() {
            match child.entry().tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    self.variable(child.entry(), block);
                }
                tag @ (gimli::DW_TAG_lexical_block
                | gimli::DW_TAG_inlined_subroutine
                | gimli::DW_TAG_try_block
                | gimli::DW_TAG_catch_block)
                    if block.depth < MAX_DEPTH =>
                {
                    let parts = ranges(self.types.units, self.unit, child.entry());
                    let parts = if parts.is_empty() { block.parts.clone() } else { Some(parts) };
                    let inlined = block.inlined || tag == gimli::DW_TAG_inlined_subroutine;
                    self.block(child, &Block { parts, inlined, depth: block.depth + 1 });
                }
                _ => {}
            }
        }
    }

    fn variable(&mut self, entry: &Entry<'a>, block: &Block) {
        let (units, die) = (self.types.units, DieId { unit: self.unit, offset: entry.offset() });
        let (locations, registers) = self.locations(entry);
        let known = !(locations.is_empty() && registers.is_empty());
        let Some(name) = name::plain(units, die).filter(|_| known) else { return };
        let is_parameter = entry.tag() == gimli::DW_TAG_formal_parameter && block.depth == 0;
        let shape = self.types.of(die);
        let (file, line) = name::declared_at(units, die);
        let (block, inlined) = (block.parts.clone(), block.inlined);
        let size = shape.size();
        self.found.push(FrameVariable {
            name,
            shape,
            size,
            is_parameter,
            block,
            inlined,
            locations,
            registers,
            file,
            line,
        });
    }

    fn locations(&self, entry: &Entry<'a>) -> (Vec<StackLocation>, Vec<RegisterLocation>) {
        let unit = self.types.units.unit(self.unit);
        let (mut stack, mut registers) = (Vec::new(), Vec::new());
        let mut note = |during: Option<Range<u64>>, expression: Expression<Slice<'a>>| {
            let operations = || expression.operations(unit.encoding());
            stack.extend(self.location(during.clone(), operations()));
            registers.extend(in_register(during, operations()));
        };
        match entry.attr_value(gimli::DW_AT_location) {
            None => {}
            Some(AttributeValue::Exprloc(expression)) => note(None, expression),
            Some(value) => {
                let mut list = unit.attr_locations(value).ok().flatten();
                while let Some(Ok(Some(entry))) = list.as_mut().map(gimli::LocListIter::next) {
                    note(Some(entry.range.begin..entry.range.end), entry.data);
                }
            }
        }
        (settled(stack), registers)
    }

    /// A single operation with a base and an offset.
    fn location<R: gimli::Reader>(
        &self,
        during: Option<Range<u64>>,
        mut operations: gimli::OperationIter<R>,
    ) -> Option<StackLocation> {
        let (base, offset) = match operations.next().ok()?? {
            Operation::FrameOffset { offset } => (self.base?, offset),
            Operation::RegisterOffset { register, offset, .. } => (base_of(register)?, offset),
            _ => return None,
        };
        operations.next().ok()?.is_none().then_some(StackLocation { during, base, offset })
    }
}

/// A register that has the value, or the value after an addition.
fn in_register<R: gimli::Reader>(
    during: Option<Range<u64>>,
    mut operations: gimli::OperationIter<R>,
) -> Option<RegisterLocation> {
    let (register, distance) = match operations.next().ok()?? {
        Operation::Register { register } => (register, 0),
        Operation::RegisterOffset { register, offset, .. } => {
            let Operation::StackValue = operations.next().ok()?? else { return None };
            (register, offset)
        }
        _ => return None,
    };
    let register = register.0;
    operations.next().ok()?.is_none().then_some(RegisterLocation { during, register, distance })
}

/// A location that is the same in all ranges is always valid.
fn settled(mut locations: Vec<StackLocation>) -> Vec<StackLocation> {
    let place = |it: &StackLocation| (it.base, it.offset);
    if locations.windows(2).all(|it| place(&it[0]) == place(&it[1])) {
        locations.truncate(1);
        for location in &mut locations {
            location.during = None;
        }
    }
    locations
}

fn frame_base<R: gimli::Reader>(mut operations: gimli::OperationIter<R>) -> Option<Base> {
    let base = match operations.next().ok()?? {
        Operation::CallFrameCFA => Base::Address,
        Operation::Register { register } => base_of(register)?,
        _ => return None,
    };
    operations.next().ok()?.is_none().then_some(base)
}

/// DWARF's numbers of rbp and rsp.
fn base_of(register: Register) -> Option<Base> {
    match register.0 {
        6 => Some(Base::Frame),
        7 => Some(Base::Stack),
        _ => None,
    }
}

/// The code ranges of an entry. Code that the linker discarded begins at zero.
pub(crate) fn ranges<'a>(units: &Units<'a>, unit: usize, entry: &Entry<'a>) -> Vec<Range<u64>> {
    let unit = units.unit(unit);
    let mut found = Vec::new();
    let Ok(mut ranges) = unit.die_ranges(entry) else { return found };
    while let Ok(Some(range)) = ranges.next() {
        if range.begin != 0 && range.begin < range.end {
            found.push(range.begin..range.end);
        }
    }
    found
}
