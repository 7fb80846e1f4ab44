//! The decoded code of one function.

use std::ops::Range;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use norn_binary::{CodeFunction, CodeView};
use rustc_hash::FxHashMap;

/// A function larger than this is not analysed: it is generated, and its slices say nothing.
const MAX_INSTRUCTIONS: usize = 100_000;
/// The suffix of the part of a function that compilers expect to be executed rarely.
const COLD: &str = ".cold";

/// The code of one function.
#[derive(Debug, Default)]
pub(crate) struct Function {
    /// The address of its first instruction.
    pub(crate) address: u64,
    /// Its instructions, part by part, by ascending address.
    pub(crate) code: Vec<Instruction>,
    /// By address: the index in `code`.
    index: FxHashMap<u64, u32>,
}

impl Function {
    /// Decodes a function and the parts that belong to it.
    pub(crate) fn decode(
        view: &CodeView<'_>,
        function: CodeFunction<'_>,
        cold: &ColdParts,
    ) -> Self {
        let mut code = Vec::new();
        decode(view, range(function), &mut code);
        // Jumps into a cold part make it a part of this function. Tables lead there, too, but they are
        // found later.
        let mut parts: Vec<_> = code.iter().filter_map(|it| cold.target(it)).collect();
        parts.extend(cold.named(function.name));
        parts.sort_unstable_by_key(|it| it.start);
        parts.dedup();
        for part in parts {
            decode(view, part, &mut code);
        }
        Self::new(function.address, code)
    }

    /// A function of these instructions.
    pub(crate) fn new(address: u64, mut code: Vec<Instruction>) -> Self {
        code.truncate(MAX_INSTRUCTIONS);
        let index = code.iter().zip(0..).map(|(it, at)| (it.ip(), at)).collect();
        Self { address, code, index }
    }

    /// The index of the instruction at an address.
    pub(crate) fn at(&self, address: u64) -> Option<u32> {
        self.index.get(&address).copied()
    }

    /// The instruction with an index.
    pub(crate) fn instruction(&self, at: u32) -> &Instruction {
        &self.code[at as usize]
    }

    /// The number of instructions.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.code.len()).unwrap_or(u32::MAX)
    }
}

fn range(function: CodeFunction<'_>) -> Range<u64> {
    function.address..function.address.saturating_add(function.size)
}

/// Decodes a range of code. Bytes that do not decode are skipped one by one.
fn decode(view: &CodeView<'_>, range: Range<u64>, code: &mut Vec<Instruction>) {
    let Some(bytes) = view.bytes(range.start) else { return };
    let size = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    instructions(range.start, &bytes[..bytes.len().min(size)], code);
}

/// Decodes bytes at an address.
pub(crate) fn instructions(address: u64, bytes: &[u8], code: &mut Vec<Instruction>) {
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    while decoder.can_decode() {
        let instruction = decoder.decode();
        if !instruction.is_invalid() {
            code.push(instruction);
            continue;
        }
        let next = instruction.ip() + 1;
        let position = usize::try_from(next - address).unwrap_or(usize::MAX);
        decoder.set_ip(next);
        if decoder.set_position(position).is_err() {
            return;
        }
    }
}

/// Parts of functions that lie elsewhere, by ascending address.
#[derive(Debug, Default)]
pub(crate) struct ColdParts {
    ranges: Vec<Range<u64>>,
    by_name: FxHashMap<Box<str>, Vec<Range<u64>>>,
}

impl ColdParts {
    /// Separates the cold parts from the functions.
    pub(crate) fn split<'a>(
        all: impl Iterator<Item = CodeFunction<'a>>,
    ) -> (ColdParts, Vec<CodeFunction<'a>>) {
        let (cold, functions): (Vec<_>, Vec<_>) = all.partition(|it| it.name.contains(COLD));
        let mut parts = ColdParts::default();
        for part in cold {
            let name = part.name.split(COLD).next().unwrap_or_default();
            parts.by_name.entry(name.into()).or_default().push(range(part));
            parts.ranges.push(range(part));
        }
        (parts, functions)
    }

    /// The part of the only function with a name.
    fn named(&self, function: &str) -> Option<Range<u64>> {
        match &self.by_name.get(function)?[..] {
            [part] => Some(part.clone()),
            _ => None,
        }
    }

    /// The cold part to which an instruction jumps.
    fn target(&self, instruction: &Instruction) -> Option<Range<u64>> {
        let (FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch) =
            instruction.flow_control()
        else {
            return None;
        };
        let target = instruction.near_branch_target();
        let after = self.ranges.partition_point(|it| it.start <= target);
        let part = self.ranges.get(after.checked_sub(1)?)?;
        part.contains(&target).then(|| part.clone())
    }
}
