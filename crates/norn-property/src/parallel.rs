//! What happens at the same time: `x || y`.
//!
//! Huang, Luo and Rosu give two events of a `||` the same place in the order, and allow no more than
//! two. For events that is: one comes right after the other, in any order. What is longer than an
//! event lasts from its first event to its last; it happens at the same time as something else if
//! each of both begins before the other ends. No thread takes part in two: it does one thing at a time.

use crate::{
    Diagnostic, Exclusion, LinearPattern,
    linear_pattern::{MOST, Piece, check, expand, limit},
    syntax::{Expression, Pattern},
};

/// The parts of a pattern, mixed in all ways in which they happen at the same time.
pub(crate) fn linear_patterns(pattern: &Pattern) -> Result<Vec<LinearPattern>, Diagnostic> {
    let mut ways: Vec<Vec<Piece>> = vec![Vec::new()];
    for part in &pattern.parts {
        // To be repeated is to last longer, which matters here.
        let pieces = expand(part, true, true)?;
        pieces.iter().try_for_each(|it| check(it, part))?;
        let longer = ways.iter().flat_map(|way| {
            pieces.iter().map(move |it| [way.as_slice(), std::slice::from_ref(it)].concat())
        });
        ways = longer.collect();
        limit(ways.len(), part)?;
    }
    let mut linear_patterns = Vec::new();
    for way in &ways {
        linear_patterns.extend(together(way, pattern)?);
        limit(linear_patterns.len(), last(pattern))?;
    }
    linear_patterns.sort();
    linear_patterns.dedup();
    Ok(linear_patterns)
}

fn last(pattern: &Pattern) -> &Expression {
    &pattern.parts[pattern.parts.len() - 1]
}

/// Pieces in all orders in which they happen at the same time.
fn together(pieces: &[Piece], pattern: &Pattern) -> Result<Vec<LinearPattern>, Diagnostic> {
    let single = pieces.iter().filter(|it| it.items.len() == 1).count();
    let adjacent = single == pieces.len();
    if single > 1 && !adjacent {
        let text = "beside something longer, only one single event can happen at the same time";
        let hint = "split the property: `a b || c` and `c || d`";
        return Err(Diagnostic::error(pattern.span, text).hint(hint));
    }
    let mut mixture = Mixture {
        pieces,
        adjacent,
        order: Vec::new(),
        done: vec![0; pieces.len()],
        linear_patterns: vec![],
    };
    mixture.extend();
    Ok(mixture.linear_patterns)
}

/// Pieces that are being mixed.
struct Mixture<'a> {
    pieces: &'a [Piece],
    /// All are single events.
    adjacent: bool,
    /// Whose event comes next, so far.
    order: Vec<usize>,
    /// By piece: how many of its events came so far.
    done: Vec<usize>,
    linear_patterns: Vec<LinearPattern>,
}

impl Mixture<'_> {
    /// Goes on in all ways; not much further than to too many.
    fn extend(&mut self) {
        if self.linear_patterns.len() > MOST {
            return;
        }
        if self.done.iter().zip(self.pieces).all(|(done, it)| *done == it.items.len()) {
            self.linear_patterns.push(self.linear());
            return;
        }
        for at in 0..self.pieces.len() {
            if self.is_next(at) {
                self.done[at] += 1;
                self.order.push(at);
                self.extend();
                self.order.pop();
                self.done[at] -= 1;
            }
        }
    }

    /// Whether a piece can go on: nothing ends before all the others have begun.
    fn is_next(&self, at: usize) -> bool {
        let left = self.pieces[at].items.len() - self.done[at];
        let begun = |(it, done): (usize, &usize)| it == at || *done > 0;
        left > 1 || left == 1 && (self.adjacent || self.done.iter().enumerate().all(begun))
    }

    fn linear(&self) -> LinearPattern {
        let place = |piece: usize, item: usize| {
            let mut places = self.order.iter().enumerate().filter(|it| *it.1 == piece);
            places.nth(item).map_or(0, |it| it.0)
        };
        let mut linear = LinearPattern { adjacent: self.adjacent, ..LinearPattern::default() };
        let mut done = vec![0; self.pieces.len()];
        let mut names: Vec<usize> = Vec::new();
        for piece in &self.order {
            linear.items.push(self.pieces[*piece].items[done[*piece]]);
            done[*piece] += 1;
            // Numbered as they come, so that what only differs in that is the same.
            let name = names.iter().position(|it| it == piece);
            linear.parts.push(name.unwrap_or(names.len()));
            if name.is_none() {
                names.push(*piece);
            }
        }
        for (at, piece) in self.pieces.iter().enumerate() {
            let first = |item| Exclusion { after: None, before: place(at, 0), item };
            linear.exclusions.extend(piece.before.iter().copied().map(first));
            linear.exclusions.extend(piece.exclusions.iter().map(|it| Exclusion {
                after: it.after.map(|it| place(at, it)),
                before: place(at, it.before),
                item: it.item,
            }));
        }
        linear.exclusions.sort();
        linear
    }
}
