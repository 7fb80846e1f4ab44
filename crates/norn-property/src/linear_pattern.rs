//! Compiles a pattern to linear patterns: sequences of events without choice or repetition.
//!
//! A pattern matches when the events of one of its linear patterns occur in their order. Other
//! events in between do not matter, unless `!` excludes them. This is the meaning that Huang, Luo
//! and Rosu (*`GPredict`: generic predictive concurrency analysis*, ICSE 2015) give to patterns by
//! their constraints, and it makes repetition simple: a run that contains `a b b c` contains `a b
//! c`, so `b+` is equivalent to `b`, and `b*` to the empty pattern. This is exact except where `!`
//! is used: there `*` is also expanded to one repetition, and `*` and `+` to two if the repeated
//! part contains a `!`.
//!
//! `!e` before an event means that no `e` occurs before it, since the previous event of the pattern
//! or since the beginning of the run. `!(a b c)` means another order of the three: two neighbours
//! are exchanged. `x && y` means both; their events may be interleaved in any way. `x || y` is in
//! [`parallel`].

use crate::{
    Diagnostic, parallel,
    syntax::{Edge, Expression, ExpressionKind, Item, Pattern, Repetition},
};

/// The maximum number of linear patterns of a pattern.
pub(crate) const MAX_LINEAR_PATTERNS: usize = 256;

/// A sequence of events that violates a property when it occurs in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinearPattern {
    /// The events.
    pub items: Vec<Item>,
    /// Events that must not occur in between.
    pub exclusions: Vec<Exclusion>,
    /// By event: the operand of `||` that it belongs to; empty without `||`.
    pub parts: Vec<usize>,
    /// Whether the events must directly follow each other in the trace.
    pub adjacent: bool,
}

/// An event that must not occur between two events of a linear pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exclusion {
    /// After this event of the linear pattern; `None` is the beginning of the run.
    pub after: Option<usize>,
    /// Before this event of the linear pattern.
    pub before: usize,
    /// The event.
    pub item: Item,
}

/// A part of a linear pattern, with the events that must not occur before and after it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Piece {
    pub(crate) items: Vec<Item>,
    pub(crate) exclusions: Vec<Exclusion>,
    pub(crate) before: Vec<Item>,
    behind: Vec<Item>,
}

/// The linear patterns of a pattern.
pub(crate) fn linear_patterns(pattern: &Pattern) -> Result<Vec<LinearPattern>, Diagnostic> {
    if pattern.parts.len() > 1 {
        return parallel::linear_patterns(pattern);
    }
    let mut linear_patterns = Vec::new();
    for part in &pattern.parts {
        let exclusions = has_exclusion(part);
        for piece in expand(part, exclusions, false)? {
            check(&piece, part)?;
            linear_patterns.push(finish(piece));
        }
    }
    linear_patterns.sort();
    linear_patterns.dedup();
    Ok(linear_patterns)
}

/// Rejects a piece that cannot be a whole linear pattern.
pub(crate) fn check(piece: &Piece, part: &Expression) -> Result<(), Diagnostic> {
    if piece.items.is_empty() {
        let text = "this pattern is met when nothing happens";
        let hint = "at least one event must be neither optional nor negated";
        return Err(Diagnostic::error(part.span, text).hint(hint));
    }
    if !piece.behind.is_empty() {
        let text = "nothing comes behind this `!`";
        let hint = "what must not happen needs an event behind it: `a !b c`";
        return Err(Diagnostic::error(last_exclusion(part).span, text).hint(hint));
    }
    Ok(())
}

fn finish(piece: Piece) -> LinearPattern {
    let before = piece.before.iter().map(|item| Exclusion { after: None, before: 0, item: *item });
    let exclusions = before.chain(piece.exclusions).collect();
    LinearPattern { items: piece.items, exclusions, ..LinearPattern::default() }
}

/// The last `!` of an expression, or the whole expression.
fn last_exclusion(part: &Expression) -> &Expression {
    match &part.kind {
        ExpressionKind::Sequence(parts)
        | ExpressionKind::Choice(parts)
        | ExpressionKind::All(parts) => {
            let last = parts.iter().rev().map(last_exclusion);
            last.into_iter().find(|it| matches!(it.kind, ExpressionKind::Not(_))).unwrap_or(part)
        }
        ExpressionKind::Repeat(inner, _) => last_exclusion(inner),
        ExpressionKind::Event(_) | ExpressionKind::Not(_) => part,
    }
}

/// The events of a choice between single events.
fn singles(part: &Expression) -> Option<Vec<Item>> {
    match &part.kind {
        ExpressionKind::Event(item) if item.region.is_none() => Some(vec![*item]),
        ExpressionKind::Choice(parts) => {
            Some(parts.iter().map(singles).collect::<Option<Vec<_>>>()?.concat())
        }
        _ => None,
    }
}

pub(crate) fn limit(count: usize, part: &Expression) -> Result<(), Diagnostic> {
    let text = format!("this pattern can be met in more than {MAX_LINEAR_PATTERNS} ways");
    let hint = "split the property into several";
    if count > MAX_LINEAR_PATTERNS {
        Err(Diagnostic::error(part.span, text).hint(hint))
    } else {
        Ok(())
    }
}

/// Whether an expression excludes events.
fn has_exclusion(part: &Expression) -> bool {
    match &part.kind {
        ExpressionKind::Event(_) => false,
        ExpressionKind::Sequence(parts)
        | ExpressionKind::Choice(parts)
        | ExpressionKind::All(parts) => parts.iter().any(has_exclusion),
        ExpressionKind::Not(inner) => excluded(inner).is_some(),
        ExpressionKind::Repeat(inner, _) => has_exclusion(inner),
    }
}

/// The events that `!` excludes, if it stands before single events.
fn excluded(inner: &Expression) -> Option<Vec<Item>> {
    match &inner.kind {
        ExpressionKind::Repeat(inner, Repetition::Any | Repetition::AtLeastOnce) => singles(inner),
        _ => singles(inner),
    }
}

/// The pieces that an expression expands to. With `exclusions`, one repetition is distinguished
/// from none; with `lasts`, two repetitions are distinguished from one.
pub(crate) fn expand(
    part: &Expression,
    exclusions: bool,
    lasts: bool,
) -> Result<Vec<Piece>, Diagnostic> {
    let pieces = match &part.kind {
        ExpressionKind::Event(item) => vec![Piece { items: vec![*item], ..Piece::default() }],
        ExpressionKind::Sequence(parts) => {
            let mut pieces = vec![Piece::default()];
            for next in parts {
                pieces =
                    product(&pieces, &expand(next, exclusions, lasts)?, |a, b| vec![follow(a, b)]);
                limit(pieces.len(), part)?;
            }
            pieces
        }
        ExpressionKind::Choice(parts) => {
            let all: Result<Vec<_>, _> =
                parts.iter().map(|it| expand(it, exclusions, lasts)).collect();
            all?.concat()
        }
        ExpressionKind::All(parts) => {
            let mut pieces = vec![Piece::default()];
            for next in parts {
                if has_exclusion(next) {
                    let text = "`!` and `&&` do not go together";
                    return Err(
                        Diagnostic::error(next.span, text).hint("split the property in two")
                    );
                }
                let others = expand(next, exclusions, lasts)?;
                for (one, other) in pieces.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
                    limit(interleaving_count(one.items.len(), other.items.len()), part)?;
                }
                pieces = product(&pieces, &others, interleavings);
                limit(pieces.len(), part)?;
            }
            pieces
        }
        ExpressionKind::Not(inner) => not(inner, part)?,
        ExpressionKind::Repeat(inner, times) => repeat(
            &expand(inner, exclusions, lasts)?,
            *times,
            exclusions,
            lasts || has_exclusion(inner),
        ),
    };
    limit(pieces.len(), part)?;
    Ok(pieces)
}

fn product(
    left: &[Piece],
    right: &[Piece],
    join: impl Fn(&Piece, &Piece) -> Vec<Piece>,
) -> Vec<Piece> {
    left.iter().flat_map(|a| right.iter().flat_map(|b| join(a, b)).collect::<Vec<_>>()).collect()
}

fn repeat(once: &[Piece], times: Repetition, exclusions: bool, inside: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if times != Repetition::AtLeastOnce {
        pieces.push(Piece::default());
    }
    if times == Repetition::AtLeastOnce || exclusions {
        pieces.extend_from_slice(once);
    }
    if times != Repetition::AtMostOnce && inside {
        pieces.extend(product(once, once, |a, b| vec![follow(a, b)]));
    }
    pieces
}

fn not(inner: &Expression, whole: &Expression) -> Result<Vec<Piece>, Diagnostic> {
    if let Some(items) = excluded(inner) {
        return Ok(vec![Piece { before: items.clone(), behind: items, ..Piece::default() }]);
    }
    let ExpressionKind::Sequence(parts) = &inner.kind else { return Err(no_negation(whole)) };
    let items: Option<Vec<Item>> = parts
        .iter()
        .map(|it| if let ExpressionKind::Event(item) = it.kind { Some(item) } else { None })
        .collect();
    let items = items.ok_or_else(|| no_negation(whole))?;
    let exchanged = |it: &[Item]| Piece { items: vec![it[1], it[0]], ..Piece::default() };
    Ok(items.windows(2).map(exchanged).collect())
}

fn no_negation(whole: &Expression) -> Diagnostic {
    let text = "`!` stands before an event, a choice of events, or a sequence of events";
    let hint =
        "`!a` and `!(a | b)`: neither comes in between; `!(a b c)`: they come in another order";
    Diagnostic::error(whole.span, text).hint(hint)
}

/// Concatenates two pieces.
fn follow(a: &Piece, b: &Piece) -> Piece {
    let mut gap = a.behind.clone();
    gap.extend_from_slice(&b.before);
    match (a.items.len(), b.items.is_empty()) {
        // A piece without events is one gap: its exclusions hold on both sides.
        (0, true) => Piece { before: gap.clone(), behind: gap, ..Piece::default() },
        (0, false) => Piece { before: gap, ..b.clone() },
        (_, true) => Piece { behind: gap, ..a.clone() },
        (count, false) => {
            let mut all = a.clone();
            all.items.extend_from_slice(&b.items);
            all.exclusions.extend(gap.into_iter().map(|item| Exclusion {
                after: Some(count - 1),
                before: count,
                item,
            }));
            all.exclusions.extend(b.exclusions.iter().map(|it| Exclusion {
                after: it.after.map(|it| it + count),
                before: it.before + count,
                ..*it
            }));
            all.behind.clone_from(&b.behind);
            all
        }
    }
}

/// The number of interleavings of `a` events with `b` others; approximate if there are too many.
fn interleaving_count(a: usize, b: usize) -> usize {
    let few = a.min(b);
    (1..=few).fold(1, |ways, it| {
        if ways > MAX_LINEAR_PATTERNS { ways } else { ways * (a + b - few + it) / it }
    })
}

/// All interleavings of two pieces without exclusions. An event that both have may be shared.
fn interleavings(a: &Piece, b: &Piece) -> Vec<Piece> {
    let piece = |items| Piece { items, ..Piece::default() };
    interleaved(&a.items, &b.items).into_iter().map(piece).collect()
}

fn interleaved(a: &[Item], b: &[Item]) -> Vec<Vec<Item>> {
    let (Some(first), Some(second)) = (a.first(), b.first()) else {
        return vec![[a, b].concat()];
    };
    let led = |item: &Item, rest: Vec<Vec<Item>>| -> Vec<Vec<Item>> {
        rest.into_iter().map(|it| [&[*item], it.as_slice()].concat()).collect()
    };
    let mut all = led(first, interleaved(&a[1..], b));
    all.extend(led(second, interleaved(a, &b[1..])));
    if first == second {
        all.extend(led(first, interleaved(&a[1..], &b[1..])));
    }
    all.sort();
    all.dedup();
    all
}

impl LinearPattern {
    /// The event that ends the region that the event at `at` begins, if it begins one.
    pub fn end_of(&self, at: usize) -> Option<usize> {
        let (Edge::Begin, region) = self.items[at].region? else { return None };
        let ends = |it: &Item| it.region == Some((Edge::End, region));
        self.items[at..].iter().position(ends).map(|it| at + it)
    }
}
