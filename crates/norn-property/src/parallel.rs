//! Compiles parallel patterns: `x || y`.
//!
//! Huang, Luo and Rosu give two events of a `||` the same position in the order, and allow no more
//! than two. For single events this means: one directly follows the other, in either order. A
//! longer part lasts from its first event to its last; two parts are parallel if each begins before
//! the other ends. No thread takes part in two of them, because a thread executes one event at a
//! time.

use crate::{
    Diagnostic, Exclusion, LinearPattern,
    linear_pattern::{MAX_LINEAR_PATTERNS, Piece, check, expand, limit},
    syntax::{Expression, Pattern},
};

/// The linear patterns of a pattern: all interleavings in which its parts are parallel.
pub(crate) fn linear_patterns(pattern: &Pattern) -> Result<Vec<LinearPattern>, Diagnostic> {
    let mut ways: Vec<Vec<Piece>> = vec![Vec::new()];
    for part in &pattern.parts {
        // A repetition makes a part last longer, which matters for overlaps.
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
        linear_patterns.extend(parallel_orders(way, pattern)?);
        limit(linear_patterns.len(), last(pattern))?;
    }
    linear_patterns.sort();
    linear_patterns.dedup();
    Ok(linear_patterns)
}

fn last(pattern: &Pattern) -> &Expression {
    &pattern.parts[pattern.parts.len() - 1]
}

/// All interleavings of pieces in which they are parallel.
fn parallel_orders(pieces: &[Piece], pattern: &Pattern) -> Result<Vec<LinearPattern>, Diagnostic> {
    let single = pieces.iter().filter(|it| it.items.len() == 1).count();
    let adjacent = single == pieces.len();
    if single > 1 && !adjacent {
        let text = "beside something longer, only one single event can happen at the same time";
        let hint = "split the property: `a b || c` and `c || d`";
        return Err(Diagnostic::error(pattern.span, text).hint(hint));
    }
    let mut interleaving = Interleaving {
        pieces,
        adjacent,
        order: Vec::new(),
        done: vec![0; pieces.len()],
        linear_patterns: vec![],
    };
    interleaving.extend();
    Ok(interleaving.linear_patterns)
}

/// The enumeration of the interleavings of pieces.
struct Interleaving<'a> {
    pieces: &'a [Piece],
    /// Whether all pieces are single events, which must be adjacent.
    adjacent: bool,
    /// The interleaving so far: the piece of each event.
    order: Vec<usize>,
    /// By piece: the number of its events in the interleaving so far.
    done: Vec<usize>,
    linear_patterns: Vec<LinearPattern>,
}

impl Interleaving<'_> {
    /// Extends the interleaving in all ways; stops soon after the maximum number is exceeded.
    fn extend(&mut self) {
        if self.linear_patterns.len() > MAX_LINEAR_PATTERNS {
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

    /// Whether the next event of a piece can come next: no piece may end before all others have
    /// begun.
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
            // Parts are numbered by first occurrence, so that patterns that differ only in the
            // numbers are equal.
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
