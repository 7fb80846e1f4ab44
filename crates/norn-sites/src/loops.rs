//! Loops of a control-flow graph, natural and irreducible ones.
//!
//! Bourdoncle (1993), as in the ConSeq paper: a strongly connected component is a loop. Without its head,
//! what is left of it decomposes into further components: the inner loops.

use crate::cfg::Cfg;

/// The blocks of a loop, ascending.
pub(crate) type Loop = Vec<u32>;

/// Nesting deeper than this is not decomposed.
const MAX_DEPTH: usize = 32;

/// All loops, outer ones before their inner ones.
pub(crate) fn loops(cfg: &Cfg) -> Vec<Loop> {
    let mut found = Vec::new();
    decompose(cfg, &(0..cfg.len()).collect::<Vec<_>>(), 0, &mut found);
    found
}

fn decompose(cfg: &Cfg, among: &[u32], depth: usize, found: &mut Vec<Loop>) {
    if depth > MAX_DEPTH {
        return;
    }
    for component in components(cfg, among) {
        let repeats = |it: u32| cfg.block(it).successors.contains(&it);
        if component.len() < 2 && !component.iter().any(|it| repeats(*it)) {
            continue;
        }
        let head = head(cfg, &component);
        let rest: Vec<u32> = component.iter().copied().filter(|it| Some(*it) != head).collect();
        found.push(component);
        decompose(cfg, &rest, depth + 1, found);
    }
}

/// The first block that is entered from outside. An irreducible region has several.
fn head(cfg: &Cfg, component: &[u32]) -> Option<u32> {
    let outside = |it: &u32| component.binary_search(it).is_err();
    let entered = |it: &u32| *it == 0 || cfg.block(*it).predecessors.iter().any(outside);
    component.iter().find(|it| entered(it)).or(component.first()).copied()
}

/// The strongly connected components of a part of the graph (Tarjan 1972, without recursion).
fn components(cfg: &Cfg, among: &[u32]) -> Vec<Vec<u32>> {
    let mut search = Search {
        order: vec![u32::MAX; cfg.blocks.len()],
        low: vec![0; cfg.blocks.len()],
        open: vec![false; cfg.blocks.len()],
        inside: vec![false; cfg.blocks.len()],
        ..Search::default()
    };
    for block in among {
        search.inside[*block as usize] = true;
    }
    for root in among {
        if search.order[*root as usize] == u32::MAX {
            search.visit(cfg, *root);
        }
    }
    search.found.sort_unstable();
    search.found
}

#[derive(Default)]
struct Search {
    order: Vec<u32>,
    low: Vec<u32>,
    open: Vec<bool>,
    inside: Vec<bool>,
    next: u32,
    path: Vec<u32>,
    found: Vec<Vec<u32>>,
}

impl Search {
    fn visit(&mut self, cfg: &Cfg, root: u32) {
        let mut stack = vec![(root, 0)];
        self.enter(root);
        while let Some((node, next)) = stack.last_mut() {
            let node = *node;
            if let Some(to) = cfg.block(node).successors.get(*next).copied() {
                *next += 1;
                if !self.inside[to as usize] {
                    continue;
                }
                if self.order[to as usize] == u32::MAX {
                    self.enter(to);
                    stack.push((to, 0));
                } else if self.open[to as usize] {
                    self.lower(node, self.order[to as usize]);
                }
                continue;
            }
            stack.pop();
            if let Some((parent, _)) = stack.last() {
                self.lower(*parent, self.low[node as usize]);
            }
            if self.low[node as usize] == self.order[node as usize] {
                self.close(node);
            }
        }
    }

    fn enter(&mut self, node: u32) {
        self.order[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.open[node as usize] = true;
        self.next += 1;
        self.path.push(node);
    }

    fn lower(&mut self, node: u32, to: u32) {
        let low = &mut self.low[node as usize];
        *low = (*low).min(to);
    }

    fn close(&mut self, root: u32) {
        let mut component = Vec::new();
        while let Some(node) = self.path.pop() {
            self.open[node as usize] = false;
            component.push(node);
            if node == root {
                break;
            }
        }
        component.sort_unstable();
        self.found.push(component);
    }
}
