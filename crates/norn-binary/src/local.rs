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
use std::sync::OnceLock;

use crate::frame_variable::{self, FrameVariable};
use crate::layout::{FrameState, Layout};
use crate::line::Frame;
use crate::parameter;
use crate::unit::{DieId, Units};
use crate::variable::Variable;

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

/// A function with its code and its variables.
pub(crate) struct Function {
    pub(crate) die: DieId,
    pub(crate) start: u64,
    pub(crate) parts: Vec<Range<u64>>,
    layout: OnceLock<Layout>,
    variables: OnceLock<Vec<FrameVariable>>,
}

impl Functions {
    pub(crate) fn load(units: &Units<'_>) -> Self {
        let mut list = Vec::new();
        parameter::each_function(units, |die, entry| {
            let parts = frame_variable::ranges(units, die.unit, entry);
            if let Some(start) = parts.first().map(|it| it.start) {
                let (layout, variables) = (OnceLock::new(), OnceLock::new());
                list.push(Function { die, start, parts, layout, variables });
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

    /// The function that contains an address.
    pub(crate) fn covering(&self, address: u64) -> Option<&Function> {
        let after = self.parts.partition_point(|(part, _)| part.start <= address);
        let (part, at) = self.parts.get(after.checked_sub(1)?)?;
        part.contains(&address).then(|| &self.list[*at])
    }

    /// The function that begins at an address.
    pub(crate) fn starting(&self, address: u64) -> Option<&Function> {
        let at = self.list.binary_search_by_key(&address, |it| it.start).ok()?;
        self.list.get(at)
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
        let (local, offset) = self.at(asked, source, units, code)?;
        Some(local.describe(offset, asked.size))
    }

    /// The type of what the pointer in these bytes of a frame points to.
    pub(crate) fn local_target(
        &self,
        asked: FramePart,
        source: Option<&Frame>,
        units: &Units<'_>,
        code: &[(u64, &[u8])],
    ) -> Option<DieId> {
        let (local, offset) = self.at(asked, source, units, code)?;
        local.target_at(offset)
    }

    /// The variable at these bytes of a frame, and their distance from its begin.
    fn at(
        &self,
        asked: FramePart,
        source: Option<&Frame>,
        units: &Units<'_>,
        code: &[(u64, &[u8])],
    ) -> Option<(&FrameVariable, u64)> {
        let function = self.starting(asked.function)?;
        let layout = function.layout(code);
        let frame_state = asked.call.and_then(|it| layout.at(it)).unwrap_or_else(|| layout.body());
        let covers = |local: &&FrameVariable| {
            !local.is_declared_behind(source)
                && local.reach(asked.call, frame_state).is_some_and(|it| it.contains(&asked.offset))
        };
        let mut found = function.variables(units).iter().filter(covers);
        let local = found.next()?;
        let start = local.reach(asked.call, frame_state)?.start;
        found.next().is_none().then(|| (local, asked.offset.abs_diff(start)))
    }
}

impl Function {
    /// The positions of registers in its frame.
    pub(crate) fn layout(&self, code: &[(u64, &[u8])]) -> &Layout {
        self.layout.get_or_init(|| Layout::read(code, &self.parts, self.start))
    }

    /// Its variables and parameters, and those of the functions that are inlined into it.
    pub(crate) fn variables(&self, units: &Units<'_>) -> &[FrameVariable] {
        self.variables.get_or_init(|| frame_variable::read(units, self.die))
    }
}
