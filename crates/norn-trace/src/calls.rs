//! Tracks the calls of a thread in the tree of all call stacks.
//!
//! Recursion is folded: a call that is already on the stack leads back to its first occurrence.
//! Otherwise a divide-and-conquer program would have as many stacks as calls, and the tree would
//! outgrow the trace. Ammons, Ball and Larus (*Exploiting hardware performance counters with flow
//! and context sensitive profiling*, PLDI 1997) fold by function, we by call.
//! [`crate::Trace::backtrace`] has the unfolded calls.
//!
//! The first pass over a trace builds the tree in pieces: every chunk begins with its stack, so
//! each chunk can be processed alone, and the pieces are merged. Later passes look up stacks in the
//! finished tree.

use norn_model::{Frame, StackId, Stacks};
use rustc_hash::FxHashMap;

/// Maximum number of stacks of a tree; a call that would exceed it is left out.
const MAX_STACKS: usize = 1 << 22;

/// A tree of call stacks, either growing or finished.
pub(crate) trait Tree {
    /// The stack with one more frame, folded.
    fn push(&mut self, stack: StackId, frame: Frame) -> StackId;
}

/// The open calls of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    /// Its current stack.
    pub(crate) stack: StackId,
    /// The stack of each caller, outermost first.
    callers: Vec<StackId>,
    /// Number of unknown frames, above the first `known` callers.
    unknown: u64,
    known: usize,
}

impl Calls {
    /// The state at the beginning of a chunk: `frames` (outermost first, 8 bytes each) out of
    /// `depth`.
    pub(crate) fn start(tree: &mut impl Tree, frames: &[u8], depth: u32) -> Calls {
        let mut calls = Calls::default();
        for &frame in frames.as_chunks::<8>().0 {
            calls.enter(tree, u64::from_le_bytes(frame));
        }
        calls.known = calls.callers.len();
        let unknown = u64::from(depth).saturating_sub(calls.known as u64);
        if unknown > 0 {
            calls.callers.push(calls.stack);
            calls.hide(tree, unknown);
        }
        calls
    }

    #[inline]
    pub(crate) fn enter(&mut self, tree: &mut impl Tree, call: u64) {
        self.callers.push(self.stack);
        self.stack = tree.push(self.stack, Frame::Call(call));
    }

    #[inline]
    pub(crate) fn leave(&mut self, tree: &mut impl Tree) {
        if self.unknown > 0 && self.callers.len() == self.known + 1 {
            return self.hide(tree, self.unknown - 1);
        }
        self.stack = self.callers.pop().unwrap_or_default();
    }

    /// Removes all frames but `depth`.
    pub(crate) fn unwind(&mut self, tree: &mut impl Tree, depth: u64) {
        let known = self.known as u64;
        let keep = match depth {
            _ if self.unknown == 0 || depth <= known => depth,
            _ if depth <= known + self.unknown => {
                self.shorten(known + 1);
                return self.hide(tree, depth - known);
            }
            _ => depth - self.unknown + 1,
        };
        self.shorten(keep);
    }

    fn shorten(&mut self, callers: u64) {
        let callers = usize::try_from(callers).unwrap_or(usize::MAX);
        if let Some(&stack) = self.callers.get(callers) {
            self.stack = stack;
            self.callers.truncate(callers);
            if callers <= self.known {
                self.unknown = 0;
            }
        }
    }

    /// Adds unknown frames on top of the known ones. Their number is rounded, because otherwise
    /// each depth of a deep recursion would be another stack.
    fn hide(&mut self, tree: &mut impl Tree, unknown: u64) {
        if unknown == 0 {
            return self.shorten(self.known as u64);
        }
        self.unknown = unknown;
        let roughly = u32::try_from(unknown.next_power_of_two()).unwrap_or(u32::MAX);
        let below = self.callers.get(self.known).copied().unwrap_or_default();
        self.stack = tree.push(below, Frame::Unknown(roughly));
    }
}

/// The finished tree. The first pass over the same bytes has inserted every stack that is looked
/// up, unless it was left out.
impl Tree for &Stacks {
    #[inline]
    fn push(&mut self, stack: StackId, frame: Frame) -> StackId {
        Stacks::push(self, stack, frame).unwrap_or_else(|| {
            let mut on_stack = self.below(stack).filter(|(_, it)| *it == frame);
            on_stack.next().map_or(stack, |(at, _)| at)
        })
    }
}

/// A growing tree.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    nodes: Vec<Node>,
    /// The stack that a frame leads to from another stack: a child, or an ancestor after folding.
    ways: FxHashMap<(StackId, Frame), StackId>,
    /// The last stack that was entered from the empty stack.
    last: StackId,
}

#[derive(Debug)]
struct Node {
    below: StackId,
    frame: Frame,
    /// The last stack that was entered from here: loops call the same function repeatedly.
    last: StackId,
}

impl Growing {
    fn node(&self, stack: StackId) -> Option<&Node> {
        self.nodes.get((stack.0 as usize).checked_sub(1)?)
    }

    fn last(&mut self, stack: StackId) -> &mut StackId {
        match (stack.0 as usize).checked_sub(1).and_then(|at| self.nodes.get_mut(at)) {
            Some(node) => &mut node.last,
            None => &mut self.last,
        }
    }

    /// The target of a frame that is new on this stack.
    fn new_child(&mut self, stack: StackId, frame: Frame) -> StackId {
        let mut at = stack;
        while let Some(node) = self.node(at) {
            if node.frame == frame {
                return at;
            }
            at = node.below;
        }
        if self.nodes.len() >= MAX_STACKS {
            return stack;
        }
        self.nodes.push(Node { below: stack, frame, last: StackId(0) });
        StackId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX))
    }

    /// Merges all stacks of another tree into this one.
    pub(crate) fn join(&mut self, other: &Growing) {
        let mut here = vec![StackId(0)];
        for node in &other.nodes {
            let below = here.get(node.below.0 as usize).copied().unwrap_or_default();
            here.push(self.push(below, node.frame));
        }
    }

    /// The finished tree.
    pub(crate) fn finish(self) -> Stacks {
        let stacks: Vec<_> = self.nodes.iter().map(|it| (it.below.0 as usize, it.frame)).collect();
        Stacks::new(&stacks)
    }
}

impl Tree for Growing {
    #[inline]
    fn push(&mut self, stack: StackId, frame: Frame) -> StackId {
        let last = *self.last(stack);
        if self.node(last).is_some_and(|it| it.frame == frame) {
            return last;
        }
        let known = self.ways.get(&(stack, frame)).copied();
        let way = known.unwrap_or_else(|| self.new_child(stack, frame));
        if known.is_none() {
            self.ways.insert((stack, frame), way);
        }
        *self.last(stack) = way;
        way
    }
}

#[cfg(test)]
mod tests {
    use Frame::{Call, Unknown};

    use super::*;

    fn frames(tree: &Growing, calls: &Calls) -> Vec<Frame> {
        let mut at = calls.stack;
        std::iter::from_fn(|| {
            let node = tree.node(at)?;
            at = node.below;
            Some(node.frame)
        })
        .collect()
    }

    #[test]
    fn recursion_is_folded() {
        let mut tree = Growing::default();
        let mut calls = Calls::default();
        for call in [1, 2, 2, 3, 2] {
            calls.enter(&mut tree, call);
        }
        assert_eq!(frames(&tree, &calls), [Call(2), Call(1)]);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, &calls), [Call(3), Call(2), Call(1)]);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, &calls), [Call(1)]);
    }

    #[test]
    fn frames_that_were_not_kept_are_counted() {
        let mut tree = Growing::default();
        let mut calls = Calls::start(&mut tree, &7u64.to_le_bytes(), 4);
        assert_eq!(frames(&tree, &calls), [Unknown(4), Call(7)]);
        calls.enter(&mut tree, 9);
        assert_eq!(frames(&tree, &calls), [Call(9), Unknown(4), Call(7)]);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, &calls), [Unknown(2), Call(7)]);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, &calls), [Call(7)]);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, &calls), []);
    }

    #[test]
    fn a_jump_removes_all_frames_above() {
        let mut tree = Growing::default();
        let mut calls = Calls::start(&mut tree, &7u64.to_le_bytes(), u32::MAX);
        calls.enter(&mut tree, 8);
        calls.enter(&mut tree, 9);
        let all = u64::from(u32::MAX);
        for (depth, expected) in [
            (all + 2, vec![Call(9), Call(8), Unknown(u32::MAX), Call(7)]),
            (all + 1, vec![Call(8), Unknown(u32::MAX), Call(7)]),
            (all, vec![Unknown(u32::MAX), Call(7)]),
            (3, vec![Unknown(2), Call(7)]),
            (5, vec![Unknown(2), Call(7)]),
            (1, vec![Call(7)]),
        ] {
            calls.unwind(&mut tree, depth);
            assert_eq!(frames(&tree, &calls), expected, "{depth}");
        }
        calls.enter(&mut tree, 8);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, &calls), [Call(7)]);
        calls.unwind(&mut tree, 0);
        assert_eq!(frames(&tree, &calls), []);
    }

    #[test]
    fn joined_trees_contain_both() {
        let (mut one, mut other) = (Growing::default(), Growing::default());
        let (mut here, mut there) = (Calls::default(), Calls::default());
        for (call, other_call) in [(1, 1), (2, 4), (3, 3)] {
            here.enter(&mut one, call);
            there.enter(&mut other, other_call);
        }
        one.join(&other);
        assert_eq!(one.finish().len(), 6);
    }
}
