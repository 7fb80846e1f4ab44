//! Control dependence: which branches decide whether a block is executed.
//!
//! Ferrante, Ottenstein and Warren (1987): a block depends on a branch if it post-dominates one of the
//! branch's successors, but not the branch itself. Endless loops and code without a way out get an edge
//! to a common exit, so that post-dominators are defined everywhere.

use smallvec::SmallVec;

use crate::cfg::Cfg;
use crate::dominators::Dominators;

/// Branches: the blocks that they end, and their successors that lead to what depends on them.
pub(crate) type Branches = SmallVec<[(u32, u32); 2]>;

/// By block: the branches that decide whether it is executed.
pub(crate) fn control_dependence(cfg: &Cfg) -> Vec<Branches> {
    let exit = cfg.len();
    let tree = post_dominators(cfg);
    let mut depends = vec![Branches::new(); cfg.blocks.len()];
    for (from, block) in (0..).zip(&cfg.blocks) {
        if block.successors.len() < 2 {
            continue;
        }
        let stop = tree.parent(from);
        for successor in &block.successors {
            let mut node = *successor;
            while node != exit && Some(node) != stop {
                depends[node as usize].push((from, *successor));
                match tree.parent(node) {
                    Some(parent) if parent != node => node = parent,
                    _ => break,
                }
            }
        }
    }
    depends
}

/// The tree of post-dominators; its root is one more than the last block.
fn post_dominators(cfg: &Cfg) -> Dominators {
    let exit = cfg.len();
    let mut reversed: Vec<Vec<u32>> =
        cfg.blocks.iter().map(|it| it.predecessors.to_vec()).chain([Vec::new()]).collect();
    let leaves = (0..).zip(&cfg.blocks).filter(|(_, it)| it.successors.is_empty());
    reversed[exit as usize] = leaves.map(|(at, _)| at).collect();
    let mut reached = vec![false; cfg.blocks.len()];
    mark(&reversed, &reversed[exit as usize], &mut reached);
    // The latest block of an endless loop is usually the one that jumps back.
    for block in (0..exit).rev() {
        if !reached[block as usize] {
            reversed[exit as usize].push(block);
            mark(&reversed, &[block], &mut reached);
        }
    }
    Dominators::new(&reversed, exit)
}

fn mark(edges: &[Vec<u32>], from: &[u32], reached: &mut [bool]) {
    let mut left = from.to_vec();
    while let Some(node) = left.pop() {
        if !std::mem::replace(&mut reached[node as usize], true) {
            left.extend(&edges[node as usize]);
        }
    }
}
