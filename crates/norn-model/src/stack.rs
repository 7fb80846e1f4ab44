//! Call stacks, all in one tree: stacks with the same outer frames share them.

use crate::StackId;

/// One frame of a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frame {
    /// A call, by its return address.
    Call(u64),
    /// Up to this many frames that were too deep to be recorded.
    Unknown(u32),
}

/// All call stacks of a trace. [`StackId`] 0 is the empty one. Recursion may be folded: a repeated
/// call occurs once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stacks {
    /// The children of a node are adjacent, sorted by their frames.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    frame: Frame,
    parent: StackId,
    first: u32,
    count: u32,
}

const ROOT: Node = Node { frame: Frame::Unknown(0), parent: StackId(0), first: 1, count: 0 };
/// Up to this many children are searched linearly.
const FEW: u32 = 8;

impl Default for Stacks {
    fn default() -> Self {
        Stacks { nodes: vec![ROOT] }
    }
}

impl Stacks {
    /// Builds the tree of stacks, each of which extends an earlier one or the empty one by a frame;
    /// there are no duplicates. The ids do not depend on the order: they number the tree level by
    /// level, siblings by their frames.
    pub fn new(stacks: &[(usize, Frame)]) -> Stacks {
        let mut edges: Vec<_> = stacks
            .iter()
            .enumerate()
            .filter(|&(at, &(below, _))| below <= at)
            .map(|(at, &(below, frame))| (below, frame, at + 1))
            .collect();
        edges.sort_unstable();
        edges.dedup_by_key(|&mut (below, frame, _)| (below, frame));
        let mut nodes = vec![ROOT];
        let mut sources = vec![0];
        let mut at = 0;
        while let Some(&source) = sources.get(at) {
            let from = edges.partition_point(|&(below, ..)| below < source);
            let children = edges[from..].iter().take_while(|&&(below, ..)| below == source);
            nodes[at].first = number(nodes.len());
            for &(_, frame, child) in children {
                nodes.push(Node { frame, parent: StackId(number(at)), first: 0, count: 0 });
                sources.push(child);
            }
            nodes[at].count = number(nodes.len()) - nodes[at].first;
            at += 1;
        }
        Stacks { nodes }
    }

    /// Number of stacks.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether only the empty stack exists.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// The stack with one more frame.
    #[inline]
    pub fn push(&self, id: StackId, frame: Frame) -> Option<StackId> {
        let node = self.nodes.get(id.0 as usize)?;
        let children = self.nodes.get(node.first as usize..(node.first + node.count) as usize)?;
        let at = if node.count <= FEW {
            children.iter().position(|it| it.frame == frame)?
        } else {
            children.binary_search_by_key(&frame, |it| it.frame).ok()?
        };
        Some(StackId(node.first + number(at)))
    }

    /// The frames, innermost first.
    pub fn frames(&self, id: StackId) -> impl Iterator<Item = Frame> {
        self.below(id).map(|(_, frame)| frame)
    }

    /// The stack and its ancestors down to the empty one, each with its top frame.
    pub fn below(&self, id: StackId) -> impl Iterator<Item = (StackId, Frame)> {
        let mut at = id;
        std::iter::from_fn(move || {
            let node = self.nodes.get(at.0 as usize).filter(|_| at.0 != 0)?;
            Some((std::mem::replace(&mut at, node.parent), node.frame))
        })
    }
}

/// An index in the tree as an id; ids are 32 bits wide, and memory ends long before that.
fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(stacks: &Stacks, id: u32) -> Vec<Frame> {
        stacks.frames(StackId(id)).collect()
    }

    #[test]
    fn ids_do_not_depend_on_the_order() {
        use Frame::{Call, Unknown};
        let one = Stacks::new(&[(0, Call(7)), (1, Call(3)), (0, Call(5)), (3, Unknown(2))]);
        let other = Stacks::new(&[(0, Call(5)), (1, Unknown(2)), (0, Call(7)), (3, Call(3))]);
        assert_eq!(one, other);
        assert_eq!(frames(&one, 0), []);
        assert_eq!(frames(&one, 3), [Unknown(2), Call(5)]);
        assert_eq!(frames(&one, 4), [Call(3), Call(7)]);
        assert_eq!(one.push(StackId(1), Unknown(2)), Some(StackId(3)));
        assert_eq!(one.push(StackId(1), Call(3)), None);
    }

    #[test]
    fn many_siblings_are_found() {
        let calls: Vec<_> = (1..100).map(|pc| (0, Frame::Call(pc))).collect();
        let stacks = Stacks::new(&calls);
        for pc in 1..100 {
            let id = stacks.push(StackId(0), Frame::Call(pc)).unwrap();
            assert_eq!(frames(&stacks, id.0), [Frame::Call(pc)]);
        }
    }
}
