//! Follows the calls of a thread through the tree of all call stacks.
//!
//! The tree is built in the first pass over a trace, in pieces: every chunk begins with its stack,
//! so each can be followed alone, and the pieces are joined. Later passes look their stacks up in
//! the finished tree.

use norn_model::{Frame, StackId, Stacks};
use rustc_hash::FxHashMap;

/// A tree of call stacks: one that grows, or one that has all that will be asked for.
pub(crate) trait Tree {
    /// The stack with one frame more.
    fn push(&mut self, stack: StackId, frame: Frame) -> StackId;
    /// The stack with one frame less, and that frame; none for the empty stack.
    fn split(&self, stack: StackId) -> Option<(StackId, Frame)>;
}

/// Where a thread is in a tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) stack: StackId,
    depth: u64,
}

impl Calls {
    /// At the beginning of a chunk: `frames` outermost first, 8 bytes each, of `depth`.
    pub(crate) fn start(tree: &mut impl Tree, frames: &[u8], depth: u32) -> Calls {
        let mut calls = Calls::default();
        for &frame in frames.as_chunks::<8>().0 {
            calls.enter(tree, u64::from_le_bytes(frame));
        }
        let unknown = u64::from(depth).saturating_sub(calls.depth);
        if let Ok(unknown @ 1..) = u32::try_from(unknown) {
            calls.stack = tree.push(calls.stack, Frame::Unknown(unknown));
            calls.depth += u64::from(unknown);
        }
        calls
    }

    #[inline]
    pub(crate) fn enter(&mut self, tree: &mut impl Tree, call: u64) {
        self.stack = tree.push(self.stack, Frame::Call(call));
        self.depth += 1;
    }

    #[inline]
    pub(crate) fn leave(&mut self, tree: &mut impl Tree) {
        match tree.split(self.stack) {
            Some((below, Frame::Call(_))) => {
                self.stack = below;
                self.depth -= 1;
            }
            Some((below, Frame::Unknown(count))) => self.forget(tree, below, count, 1),
            None => {}
        }
    }

    /// Leaves all frames but `depth`.
    pub(crate) fn unwind(&mut self, tree: &mut impl Tree, depth: u64) {
        while self.depth > depth {
            match tree.split(self.stack) {
                Some((below, Frame::Unknown(count))) => {
                    let less = u32::try_from(self.depth - depth).unwrap_or(u32::MAX);
                    self.forget(tree, below, count, less);
                }
                Some(_) => self.leave(tree),
                None => self.depth = depth,
            }
        }
    }

    /// Leaves up to `less` of `count` unknown frames on top of `below`.
    fn forget(&mut self, tree: &mut impl Tree, below: StackId, count: u32, less: u32) {
        let less = less.min(count);
        self.depth -= u64::from(less);
        self.stack = match count - less {
            0 => below,
            left => tree.push(below, Frame::Unknown(left)),
        };
    }
}

/// The finished tree. What is asked for was put in by the first pass over the same bytes.
impl Tree for &Stacks {
    #[inline]
    fn push(&mut self, stack: StackId, frame: Frame) -> StackId {
        Stacks::push(self, stack, frame).unwrap_or_default()
    }

    #[inline]
    fn split(&self, stack: StackId) -> Option<(StackId, Frame)> {
        Stacks::split(self, stack)
    }
}

/// A tree that grows.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    nodes: Vec<Node>,
    children: FxHashMap<(StackId, Frame), StackId>,
    /// The stack that was last put on the empty one.
    last: StackId,
}

#[derive(Debug)]
struct Node {
    below: StackId,
    frame: Frame,
    /// The stack that was last put on this one: loops call the same function again and again.
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

    /// Puts all stacks of another tree into this one.
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
        drop(self.children);
        Stacks::new(&stacks)
    }
}

impl Tree for Growing {
    #[inline]
    fn push(&mut self, stack: StackId, frame: Frame) -> StackId {
        let last = *self.last(stack);
        if let Some(node) = self.node(last)
            && node.below == stack
            && node.frame == frame
        {
            return last;
        }
        let next = StackId(u32::try_from(self.nodes.len() + 1).unwrap_or(u32::MAX));
        let child = *self.children.entry((stack, frame)).or_insert(next);
        if child == next {
            self.nodes.push(Node { below: stack, frame, last: StackId(0) });
        }
        *self.last(stack) = child;
        child
    }

    #[inline]
    fn split(&self, stack: StackId) -> Option<(StackId, Frame)> {
        self.node(stack).map(|it| (it.below, it.frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(tree: &Growing, mut stack: StackId) -> Vec<Frame> {
        std::iter::from_fn(|| {
            let (below, frame) = tree.split(stack)?;
            stack = below;
            Some(frame)
        })
        .collect()
    }

    #[test]
    fn frames_that_were_not_kept_are_counted() {
        use Frame::{Call, Unknown};
        let mut tree = Growing::default();
        let mut calls = Calls::start(&mut tree, &7u64.to_le_bytes(), 3);
        assert_eq!(frames(&tree, calls.stack), [Unknown(2), Call(7)]);
        calls.enter(&mut tree, 9);
        assert_eq!(frames(&tree, calls.stack), [Call(9), Unknown(2), Call(7)]);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, calls.stack), [Unknown(1), Call(7)]);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        calls.leave(&mut tree);
        assert_eq!(frames(&tree, calls.stack), []);
    }

    #[test]
    fn a_jump_leaves_all_frames_above() {
        use Frame::{Call, Unknown};
        let mut tree = Growing::default();
        let mut calls = Calls::start(&mut tree, &7u64.to_le_bytes(), u32::MAX);
        calls.enter(&mut tree, 8);
        calls.unwind(&mut tree, 3);
        assert_eq!(frames(&tree, calls.stack), [Unknown(2), Call(7)]);
        calls.unwind(&mut tree, 5);
        assert_eq!(frames(&tree, calls.stack), [Unknown(2), Call(7)]);
        calls.unwind(&mut tree, 0);
        assert_eq!(frames(&tree, calls.stack), []);
    }

    #[test]
    fn joined_trees_hold_both() {
        let (mut one, mut other) = (Growing::default(), Growing::default());
        let mut calls = Calls::default();
        [1, 2, 3].map(|call| calls.enter(&mut one, call));
        let mut calls = Calls::default();
        [1, 4, 3].map(|call| calls.enter(&mut other, call));
        one.join(&other);
        assert_eq!(one.finish().len(), 6);
    }
}
