//! What a pattern means: a few words, each a list of events in their order.
//!
//! A pattern is met when the events of one of its words happen in their order. What else happens
//! in between does not matter, unless `!` forbids it. That is the meaning that Huang, Luo and Rosu
//! (*`GPredict`: generic predictive concurrency analysis*, ICSE 2015) give to patterns by their
//! constraints, and it makes repetition simple: who finds `a b b c` in a run finds `a b c` in it, so
//! `b+` means no more than `b`, and `b*` no more than nothing at all. This is exact. It is not where `!`
//! is used: there `*` also stands for once, and `*` and `+` for twice if there is a `!` in what they repeat.
//!
//! `!e` before an event means that no `e` comes before it, from the event before it on, or from the
//! beginning. `!(a b c)` means another order of the three: two neighbours are exchanged. `x && y`
//! means both; their events may be mixed in any way. `x || y` is in [`parallel`].

use crate::{
    Mistake, parallel,
    tree::{Edge, Expression, Item, Kind, Pattern, Times},
};

/// Words of a pattern, at most.
pub(crate) const MOST: usize = 256;

/// Events in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    /// The events.
    pub items: Vec<Item>,
    /// What must not come in between.
    pub bans: Vec<Ban>,
    /// By event: which of the parts that happen at the same time it belongs to; nothing without `||`.
    pub parts: Vec<usize>,
    /// Whether nothing at all may come in between.
    pub adjacent: bool,
}

/// An event that must not come between two of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ban {
    /// After this one; none is the beginning of the run.
    pub after: Option<usize>,
    /// And before this one.
    pub before: usize,
    /// What.
    pub item: Item,
}

/// A piece of a word, with what must not come before and behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Piece {
    pub(crate) items: Vec<Item>,
    pub(crate) bans: Vec<Ban>,
    pub(crate) before: Vec<Item>,
    behind: Vec<Item>,
}

/// The words of a pattern.
pub(crate) fn words(pattern: &Pattern) -> Result<Vec<Word>, Mistake> {
    if pattern.parts.len() > 1 {
        return parallel::words(pattern);
    }
    let mut words = Vec::new();
    for part in &pattern.parts {
        let bans = has_ban(part);
        for piece in expand(part, bans, false)? {
            check(&piece, part)?;
            words.push(finish(piece));
        }
    }
    words.sort();
    words.dedup();
    Ok(words)
}

/// Whether a piece can be all that there is.
pub(crate) fn check(piece: &Piece, part: &Expression) -> Result<(), Mistake> {
    if piece.items.is_empty() {
        let text = "this pattern is met when nothing happens";
        let hint = "at least one event must be neither optional nor negated";
        return Err(Mistake::error(part.span, text).hint(hint));
    }
    if !piece.behind.is_empty() {
        let text = "nothing comes behind this `!`";
        let hint = "what must not happen needs an event behind it: `a !b c`";
        return Err(Mistake::error(last_ban(part).span, text).hint(hint));
    }
    Ok(())
}

fn finish(piece: Piece) -> Word {
    let before = piece.before.iter().map(|item| Ban { after: None, before: 0, item: *item });
    let bans = before.chain(piece.bans).collect();
    Word { items: piece.items, bans, ..Word::default() }
}

/// The last `!` of an expression, or the whole.
fn last_ban(part: &Expression) -> &Expression {
    match &part.kind {
        Kind::Sequence(parts) | Kind::Choice(parts) | Kind::All(parts) => {
            let last = parts.iter().rev().map(last_ban);
            last.into_iter().find(|it| matches!(it.kind, Kind::Not(_))).unwrap_or(part)
        }
        Kind::Repeat(inner, _) => last_ban(inner),
        Kind::Event(_) | Kind::Not(_) => part,
    }
}

/// The events of a choice between single events.
fn singles(part: &Expression) -> Option<Vec<Item>> {
    match &part.kind {
        Kind::Event(item) if item.region.is_none() => Some(vec![*item]),
        Kind::Choice(parts) => {
            Some(parts.iter().map(singles).collect::<Option<Vec<_>>>()?.concat())
        }
        _ => None,
    }
}

pub(crate) fn limit(count: usize, part: &Expression) -> Result<(), Mistake> {
    let text = format!("this pattern can be met in more than {MOST} ways");
    let hint = "split the property into several";
    if count > MOST { Err(Mistake::error(part.span, text).hint(hint)) } else { Ok(()) }
}

/// Whether something must not come in between.
fn has_ban(part: &Expression) -> bool {
    match &part.kind {
        Kind::Event(_) => false,
        Kind::Sequence(parts) | Kind::Choice(parts) | Kind::All(parts) => parts.iter().any(has_ban),
        Kind::Not(inner) => banned(inner).is_some(),
        Kind::Repeat(inner, _) => has_ban(inner),
    }
}

/// What `!` forbids, if it stands before single events.
fn banned(inner: &Expression) -> Option<Vec<Item>> {
    match &inner.kind {
        Kind::Repeat(inner, Times::Any | Times::AtLeastOnce) => singles(inner),
        _ => singles(inner),
    }
}

/// The pieces that an expression stands for. Where there are `bans`, to happen is not the same as
/// not to; where it `lasts`, to happen twice is not the same as to happen once.
pub(crate) fn expand(part: &Expression, bans: bool, lasts: bool) -> Result<Vec<Piece>, Mistake> {
    let pieces = match &part.kind {
        Kind::Event(item) => vec![Piece { items: vec![*item], ..Piece::default() }],
        Kind::Sequence(parts) => {
            let mut pieces = vec![Piece::default()];
            for next in parts {
                pieces = product(&pieces, &expand(next, bans, lasts)?, |a, b| vec![follow(a, b)]);
                limit(pieces.len(), part)?;
            }
            pieces
        }
        Kind::Choice(parts) => {
            let all: Result<Vec<_>, _> = parts.iter().map(|it| expand(it, bans, lasts)).collect();
            all?.concat()
        }
        Kind::All(parts) => {
            let mut pieces = vec![Piece::default()];
            for next in parts {
                if has_ban(next) {
                    let text = "`!` and `&&` do not go together";
                    return Err(Mistake::error(next.span, text).hint("split the property in two"));
                }
                let others = expand(next, bans, lasts)?;
                for (one, other) in pieces.iter().flat_map(|a| others.iter().map(move |b| (a, b))) {
                    limit(mixtures_of(one.items.len(), other.items.len()), part)?;
                }
                pieces = product(&pieces, &others, mixtures);
                limit(pieces.len(), part)?;
            }
            pieces
        }
        Kind::Not(inner) => not(inner, part)?,
        Kind::Repeat(inner, times) => {
            repeat(&expand(inner, bans, lasts)?, *times, bans, lasts || has_ban(inner))
        }
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

fn repeat(once: &[Piece], times: Times, bans: bool, inside: bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if times != Times::AtLeastOnce {
        pieces.push(Piece::default());
    }
    if times == Times::AtLeastOnce || bans {
        pieces.extend_from_slice(once);
    }
    if times != Times::AtMostOnce && inside {
        pieces.extend(product(once, once, |a, b| vec![follow(a, b)]));
    }
    pieces
}

fn not(inner: &Expression, whole: &Expression) -> Result<Vec<Piece>, Mistake> {
    if let Some(items) = banned(inner) {
        return Ok(vec![Piece { before: items.clone(), behind: items, ..Piece::default() }]);
    }
    let Kind::Sequence(parts) = &inner.kind else { return Err(no_negation(whole)) };
    let items: Option<Vec<Item>> = parts
        .iter()
        .map(|it| if let Kind::Event(item) = it.kind { Some(item) } else { None })
        .collect();
    let items = items.ok_or_else(|| no_negation(whole))?;
    let exchanged = |it: &[Item]| Piece { items: vec![it[1], it[0]], ..Piece::default() };
    Ok(items.windows(2).map(exchanged).collect())
}

fn no_negation(whole: &Expression) -> Mistake {
    let text = "`!` stands before an event, a choice of events, or a sequence of events";
    let hint =
        "`!a` and `!(a | b)`: neither comes in between; `!(a b c)`: they come in another order";
    Mistake::error(whole.span, text).hint(hint)
}

/// One piece behind another.
fn follow(a: &Piece, b: &Piece) -> Piece {
    let mut gap = a.behind.clone();
    gap.extend_from_slice(&b.before);
    match (a.items.len(), b.items.is_empty()) {
        // A piece without events is one gap: what is forbidden there is forbidden on both sides.
        (0, true) => Piece { before: gap.clone(), behind: gap, ..Piece::default() },
        (0, false) => Piece { before: gap, ..b.clone() },
        (_, true) => Piece { behind: gap, ..a.clone() },
        (count, false) => {
            let mut all = a.clone();
            all.items.extend_from_slice(&b.items);
            all.bans.extend(gap.into_iter().map(|item| Ban {
                after: Some(count - 1),
                before: count,
                item,
            }));
            all.bans.extend(b.bans.iter().map(|it| Ban {
                after: it.after.map(|it| it + count),
                before: it.before + count,
                ..*it
            }));
            all.behind.clone_from(&b.behind);
            all
        }
    }
}

/// How many ways there are to mix so many events with so many others; about, if there are too many.
fn mixtures_of(a: usize, b: usize) -> usize {
    let few = a.min(b);
    (1..=few).fold(1, |ways, it| if ways > MOST { ways } else { ways * (a + b - few + it) / it })
}

/// All ways to mix two pieces in which nothing is forbidden. An event that both have can be the same.
fn mixtures(a: &Piece, b: &Piece) -> Vec<Piece> {
    let piece = |items| Piece { items, ..Piece::default() };
    mixed(&a.items, &b.items).into_iter().map(piece).collect()
}

fn mixed(a: &[Item], b: &[Item]) -> Vec<Vec<Item>> {
    let (Some(first), Some(second)) = (a.first(), b.first()) else {
        return vec![[a, b].concat()];
    };
    let led = |item: &Item, rest: Vec<Vec<Item>>| -> Vec<Vec<Item>> {
        rest.into_iter().map(|it| [&[*item], it.as_slice()].concat()).collect()
    };
    let mut all = led(first, mixed(&a[1..], b));
    all.extend(led(second, mixed(a, &b[1..])));
    if first == second {
        all.extend(led(first, mixed(&a[1..], &b[1..])));
    }
    all.sort();
    all.dedup();
    all
}

impl Word {
    /// The event that ends a region which the event at `at` begins, if it begins one.
    pub fn end_of(&self, at: usize) -> Option<usize> {
        let (Edge::Begin, region) = self.items[at].region? else { return None };
        let ends = |it: &Item| it.region == Some((Edge::End, region));
        self.items[at..].iter().position(ends).map(|it| at + it)
    }
}
