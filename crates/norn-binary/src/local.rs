//! Maps bytes of a frame to local variables.
//!
//! Debug information describes the location of a variable in its function's frame. Only plain
//! locations are used: a distance from the frame. Optimising compilers give one for a range of code
//! addresses, and registers or values for the rest, although memory whose address escapes does not
//! move: a location that is the same in all its ranges is valid in the whole block of the variable.
//! Compilers place variables of different blocks, and unnamed temporaries, at the same location; so
//! a name is given only if the current code is in the variable's block and not before its
//! declaration, and if no other variable is possible.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::{AttributeValue, EntriesTreeNode, Operation, Register};

use crate::dwarf::Slice;
use crate::layout::{FrameState, Layout};
use crate::line::Frame;
use crate::name;
use crate::parameter;
use crate::types::{Type, Types};
use crate::unit::{DieId, Entry, Units};
use crate::variable::{Variable, part};

/// What is certain about a frame at a call: distances from the frame address, which is the stack
/// pointer just before the call of the function itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The address of the calling function.
    pub function: u64,
    /// The stack pointer before the call.
    pub stack: Option<i64>,
    /// The first argument.
    pub argument: Option<i64>,
    /// The first argument, relative to the first argument of the function itself.
    pub forwarded: Option<i64>,
}

/// A range of bytes in a frame.
#[derive(Clone, Copy, Debug)]
pub struct FramePart {
    /// The address of the function that owns the frame.
    pub function: u64,
    /// The return address of the function's current call; `None` if unknown.
    pub call: Option<u64>,
    /// Distance from the frame address.
    pub offset: i64,
    /// Number of bytes.
    pub size: u64,
}

/// All functions of a module that debug information describes.
#[derive(Default)]
pub(crate) struct Functions {
    /// Sorted by address.
    list: Vec<Function>,
    /// Address ranges and the index of their function, sorted by address.
    parts: Vec<(Range<u64>, usize)>,
}

struct Function {
    die: DieId,
    start: u64,
    parts: Vec<Range<u64>>,
    layout: OnceLock<Layout>,
    locals: OnceLock<Vec<Local>>,
}

impl Functions {
    pub(crate) fn load(units: &Units<'_>) -> Self {
        let mut list = Vec::new();
        parameter::each_function(units, |die, entry| {
            let parts = ranges(units, die.unit, entry);
            if let Some(start) = parts.first().map(|it| it.start) {
                let (layout, locals) = (OnceLock::new(), OnceLock::new());
                list.push(Function { die, start, parts, layout, locals });
            }
        });
        list.sort_by_key(|it| it.start);
        list.dedup_by_key(|it| it.start);
        let each = list.iter().enumerate();
        let mut parts: Vec<_> =
            each.flat_map(|(at, it)| it.parts.iter().map(move |part| (part.clone(), at))).collect();
        parts.sort_by_key(|(part, _)| part.start);
        Self { list, parts }
    }

    fn covering(&self, address: u64) -> Option<&Function> {
        let after = self.parts.partition_point(|(part, _)| part.start <= address);
        let (part, at) = self.parts.get(after.checked_sub(1)?)?;
        part.contains(&address).then(|| &self.list[*at])
    }

    /// What is certain at the call with this return address.
    pub(crate) fn call(&self, returns_to: u64, code: &[(u64, &[u8])]) -> Option<CallSite> {
        let function = self.covering(returns_to.checked_sub(1)?)?;
        let FrameState { stack, argument, forwarded, .. } = function.layout(code).at(returns_to)?;
        Some(CallSite { function: function.start, stack, argument, forwarded })
    }

    /// The variable in these bytes of a frame. `source` is the current source location of the
    /// function.
    pub(crate) fn local(
        &self,
        asked: FramePart,
        source: Option<&Frame>,
        units: &Units<'_>,
        code: &[(u64, &[u8])],
    ) -> Option<Variable> {
        let at = self.list.binary_search_by_key(&asked.function, |it| it.start).ok()?;
        let function = &self.list[at];
        let layout = function.layout(code);
        let frame_state = asked.call.and_then(|it| layout.at(it)).unwrap_or_else(|| layout.body());
        let covers = |local: &&Local| {
            !local.is_declared_behind(source)
                && local.reach(asked.call, frame_state).is_some_and(|it| it.contains(&asked.offset))
        };
        let mut found = function.locals(units).iter().filter(covers);
        let local = found.next()?;
        let start = local.reach(asked.call, frame_state)?.start;
        found.next().is_none().then(|| local.describe(asked.offset.abs_diff(start), asked.size))
    }
}

impl Function {
    fn layout(&self, code: &[(u64, &[u8])]) -> &Layout {
        self.layout.get_or_init(|| Layout::read(code, &self.parts, self.start))
    }

    fn locals(&self, units: &Units<'_>) -> &[Local] {
        self.locals.get_or_init(|| Reader::read(units, self.die).unwrap_or_default())
    }
}

/// A variable or parameter in a frame.
struct Local {
    name: String,
    shape: Arc<Type>,
    size: u64,
    /// The code ranges of its block; `None` if it is the whole function.
    block: Option<Vec<Range<u64>>>,
    /// Whether it belongs to an inlined function.
    inlined: bool,
    locations: Vec<StackLocation>,
    file: Option<Arc<str>>,
    line: Option<u32>,
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

impl Local {
    /// Its bytes in the frame, if it can be there now. If the current call is unknown, only what is
    /// valid in the whole function is certain.
    fn reach(&self, call: Option<u64>, frame_state: FrameState) -> Option<Range<i64>> {
        let runs = |range: &Range<u64>| call.is_some_and(|it| range.contains(&it.wrapping_sub(1)));
        let alive = self.block.as_ref().is_none_or(|parts| parts.iter().any(runs));
        let location = self.locations.iter().find(|it| it.during.as_ref().is_none_or(runs));
        let start = location.filter(|_| alive)?.start(frame_state)?;
        Some(start..start.checked_add_unsigned(self.size.max(1))?)
    }

    /// Before its declaration, something else may be at its location.
    fn is_declared_behind(&self, source: Option<&Frame>) -> bool {
        let same = source.filter(|it| !self.inlined && it.file.is_some() && it.file == self.file);
        same.and_then(|it| it.line).zip(self.line).is_some_and(|(now, declared)| now < declared)
    }

    fn describe(&self, offset: u64, size: u64) -> Variable {
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
    found: Vec<Local>,
}

/// The block that encloses an entry.
#[derive(Clone, Default)]
struct Block {
    parts: Option<Vec<Range<u64>>>,
    inlined: bool,
    depth: usize,
}

impl<'u, 'a> Reader<'u, 'a> {
    fn read(units: &'u Units<'a>, function: DieId) -> Option<Vec<Local>> {
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
        let locations = self.locations(entry);
        let Some(name) = name::plain(units, die).filter(|_| !locations.is_empty()) else { return };
        let shape = self.types.of(die);
        let (file, line) = name::declared_at(units, die);
        let (block, inlined) = (block.parts.clone(), block.inlined);
        let size = shape.size();
        self.found.push(Local { name, shape, size, block, inlined, locations, file, line });
    }

    fn locations(&self, entry: &Entry<'a>) -> Vec<StackLocation> {
        let unit = self.types.units.unit(self.unit);
        let Some(value) = entry.attr_value(gimli::DW_AT_location) else { return Vec::new() };
        if let AttributeValue::Exprloc(expression) = value {
            let location = self.location(None, expression.operations(unit.encoding()));
            return location.into_iter().collect();
        }
        let Ok(Some(mut list)) = unit.attr_locations(value) else { return Vec::new() };
        let mut locations = Vec::new();
        while let Ok(Some(entry)) = list.next() {
            let during = entry.range.begin..entry.range.end;
            locations.extend(self.location(Some(during), entry.data.operations(unit.encoding())));
        }
        settled(locations)
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
fn ranges<'a>(units: &Units<'a>, unit: usize, entry: &Entry<'a>) -> Vec<Range<u64>> {
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
