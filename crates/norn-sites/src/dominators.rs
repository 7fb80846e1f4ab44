//! Dominators of a graph: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
//!
//! With the edges reversed, the result is the tree of post-dominators.

/// The immediate dominator of each node; the root is its own, and nodes that it does not reach have none.
#[derive(Clone, Debug)]
pub(crate) struct Dominators {
    parent: Vec<Option<u32>>,
}

impl Dominators {
    /// Computes the dominators of a graph with these edges from each node.
    pub(crate) fn new(edges: &[Vec<u32>], root: u32) -> Dominators {
        let order = reverse_postorder(edges, root);
        let mut number = vec![u32::MAX; edges.len()];
        (0..).zip(&order).for_each(|(at, node)| number[*node as usize] = at);
        let mut incoming = vec![Vec::new(); edges.len()];
        for from in &order {
            edges[*from as usize].iter().for_each(|to| incoming[*to as usize].push(*from));
        }
        let mut tree = Dominators { parent: vec![None; edges.len()] };
        tree.set(root, root);
        let mut changed = true;
        while changed {
            changed = false;
            for node in order.iter().skip(1) {
                let known =
                    incoming[*node as usize].iter().filter(|it| tree.parent(**it).is_some());
                let best = known.copied().reduce(|a, b| tree.common(a, b, &number));
                if let Some(best) = best.filter(|it| tree.parent(*node) != Some(*it)) {
                    tree.set(*node, best);
                    changed = true;
                }
            }
        }
        tree
    }

    /// The immediate dominator of a node.
    pub(crate) fn parent(&self, node: u32) -> Option<u32> {
        self.parent.get(node as usize).copied().flatten()
    }

    /// Whether each way from the root to the second node leads through the first one.
    pub(crate) fn dominates(&self, first: u32, mut second: u32) -> bool {
        while first != second {
            match self.parent(second) {
                Some(parent) if parent != second => second = parent,
                _ => return false,
            }
        }
        true
    }

    fn set(&mut self, node: u32, parent: u32) {
        self.parent[node as usize] = Some(parent);
    }

    /// The nearest node that dominates both.
    fn common(&self, mut a: u32, mut b: u32, number: &[u32]) -> u32 {
        let order = |node: u32| number[node as usize];
        while a != b {
            let (later, earlier) = if order(a) > order(b) { (a, b) } else { (b, a) };
            // The root has the smallest number, so the later node has a parent.
            (a, b) = (self.parent(later).unwrap_or(earlier), earlier);
        }
        a
    }
}

/// The nodes that a root reaches, each before its successors except along cycles.
pub(crate) fn reverse_postorder(edges: &[Vec<u32>], root: u32) -> Vec<u32> {
    let mut seen = vec![false; edges.len()];
    let mut order = Vec::new();
    let mut stack = Vec::new();
    if let Some(first) = seen.get_mut(root as usize) {
        *first = true;
        stack.push((root, 0));
    }
    while let Some((node, next)) = stack.last_mut() {
        if let Some(to) = edges[*node as usize].get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[*to as usize], true) {
                stack.push((*to, 0));
            }
        } else {
            order.push(*node);
            stack.pop();
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_is_dominated_by_the_branch() {
        // 0 → 1, 2; 1 → 3; 2 → 3; 3 → 1: an irreducible cycle; 4 is not reached.
        let tree = Dominators::new(&[vec![1, 2], vec![3], vec![3], vec![1], vec![3]], 0);
        let parents: Vec<_> = (0..5).map(|it| tree.parent(it)).collect();
        assert_eq!(parents, [Some(0), Some(0), Some(0), Some(0), None]);
    }

    #[test]
    fn a_chain() {
        let tree = Dominators::new(&[vec![1], vec![2], vec![]], 0);
        assert_eq!((tree.parent(1), tree.parent(2)), (Some(0), Some(1)));
    }
}
