//! All patterns in one search: accesses are sorted by variable, and each variable is searched alone
//! and in parallel with the others.

use norn_model::{Scope, Trace};
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};

use crate::{
    access::Touch,
    couple::Couple,
    general::{self, Field},
    keep::{Instance, Kept, Key, Place},
    life::Lives,
    pattern::Pattern,
    unit::{Class, Classes},
    weave::Weave,
};

/// A search for patterns in a trace.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) field: Field<'a>,
    pub(crate) lives: Lives,
    pub(crate) patterns: &'a [Pattern],
    pub(crate) weaves: Vec<Weave>,
    /// How many instances of each finding are kept.
    pub(crate) instances: usize,
    /// Whether accesses that merely follow each other are taken for regions.
    pub(crate) unmarked: bool,
}

impl Search<'_> {
    /// Searches each variable. The accesses are sorted by variable, and each thread's are together
    /// and in its order.
    pub(crate) fn singles(&self, touches: &[Touch]) -> Kept {
        let empty = || Kept::new(self.instances);
        touches
            .par_chunk_by(|a, b| a.granule == b.granule)
            .fold(empty, |mut kept, touches| {
                for life in self.lives(touches) {
                    self.variable(&life, &mut kept);
                }
                kept
            })
            .reduce(empty, Kept::merge)
    }

    /// Searches each pair of variables. The couples are sorted by them.
    pub(crate) fn couples(&self, couples: &[Couple]) -> Kept {
        let empty = || Kept::new(self.instances);
        couples
            .par_chunk_by(|a, b| a.variables() == b.variables())
            .fold(empty, |mut kept, couples| {
                let mut classes = Classes::default();
                for it in couples.iter().filter(|it| self.wants(it.scope)) {
                    classes.add(it.touches, it.gap, it.scope);
                }
                self.weave(&classes.all, |it| !it.frees && it.width == 2, &mut kept);
                kept
            })
            .reduce(empty, Kept::merge)
    }

    /// Searches each block of memory that is given back. The accesses are sorted by block.
    pub(crate) fn blocks(&self, touches: &[Touch]) -> Kept {
        let empty = || Kept::new(self.instances);
        let frees = |it: &&Weave| it.frees && it.width == 1;
        touches
            .par_chunk_by(|a, b| a.granule == b.granule)
            .fold(empty, |mut kept, touches| {
                if is_shared(touches) {
                    self.weave(&self.classes(touches).all, frees, &mut kept);
                }
                kept
            })
            .reduce(empty, Kept::merge)
    }

    /// Searches for the patterns that are no simple weaves.
    pub(crate) fn generals(&self, touches: &[Touch], uses: &[Touch]) -> (Kept, Vec<String>) {
        let mut kept = Kept::new(self.instances);
        let mut more = Vec::new();
        let woven = |it: usize| self.weaves.iter().any(|weave| usize::from(weave.pattern) == it);
        let others: Vec<_> = (0..self.patterns.len()).filter(|it| !woven(*it)).collect();
        if others.is_empty() {
            return (kept, more);
        }
        let granules = touches.par_chunk_by(|a, b| a.granule == b.granule);
        let lives = granules.flat_map_iter(|it| self.lives(it));
        let variables: Vec<_> = lives.filter(|it| is_shared(it)).map(|it| represent(&it)).collect();
        let blocks = uses.par_chunk_by(|a, b| a.granule == b.granule);
        let blocks: Vec<_> = blocks.filter(|it| is_shared(it)).map(represent).collect();
        for number in others {
            let pattern = &self.patterns[number];
            let variables = if pattern.frees() { &blocks } else { &variables };
            let (found, over) = general::search(self.field, pattern, variables);
            more.extend(over.then(|| pattern.name().to_owned()));
            for (scope, touches) in found.into_iter().filter(|it| self.wants(it.0)) {
                self.keep(number, scope, &touches, &mut kept);
            }
        }
        (kept, more)
    }

    fn wants(&self, scope: Scope) -> bool {
        self.unmarked || scope != Scope::Unmarked
    }

    /// The accesses of each life of a granule.
    pub(crate) fn lives<'t>(&self, touches: &'t [Touch]) -> Vec<std::borrow::Cow<'t, [Touch]>> {
        if !touches.first().is_some_and(|it| self.lives.has(it.granule)) {
            return vec![touches.into()];
        }
        let mut lives: Vec<Vec<Touch>> = Vec::new();
        for touch in touches {
            let life = self.lives.of(self.trace, touch);
            if lives.len() <= life {
                lives.resize(life + 1, Vec::new());
            }
            lives[life].push(*touch);
        }
        lives.into_iter().map(Into::into).collect()
    }

    fn variable(&self, touches: &[Touch], kept: &mut Kept) {
        let wanted = |it: &&Weave| !it.frees && it.width == 1;
        if is_shared(touches) && self.weaves.iter().any(|it| wanted(&it)) {
            self.weave(&self.classes(touches).all, wanted, kept);
        }
    }

    /// The units of one variable: single accesses, and two that follow each other.
    fn classes(&self, touches: &[Touch]) -> Classes {
        let mut classes = Classes::default();
        for touch in touches {
            classes.add([*touch; 2], touch.set, Scope::Single);
        }
        let mut pair = |first: &Touch, last: &Touch| {
            let scope = self.field.regions.scope(first, last).filter(|it| self.wants(*it));
            if let Some(scope) = scope {
                classes.add([*first, *last], self.gap(first, last), scope);
            }
        };
        let one = touches.iter().all(|it| it.mask == touches[0].mask);
        if one {
            for [first, last] in touches.array_windows() {
                if first.thread == last.thread && first.index != last.index {
                    pair(first, last);
                }
            }
        } else {
            consecutive(touches).for_each(|(first, last)| pair(first, last));
        }
        classes
    }

    fn gap(&self, first: &Touch, last: &Touch) -> u32 {
        if first.section != last.section {
            return 0;
        }
        let outline = &self.field.outlines[usize::from(first.thread)];
        self.field.sets.smallest(outline, first.index, last.index)
    }

    fn weave(&self, classes: &[Class], which: impl Fn(&&Weave) -> bool, kept: &mut Kept) {
        for weave in self.weaves.iter().filter(which) {
            let unit = |unit| classes.iter().filter(move |it| weave.takes(unit, it));
            let others: Vec<_> = unit(1).collect();
            for one in unit(0) {
                for other in &others {
                    if weave.fits(self.field.sets, [one, other]) {
                        self.join(weave, [one, other], kept);
                    }
                }
            }
        }
    }

    /// Keeps the first instances of two classes that can be ordered as wanted.
    fn join(&self, weave: &Weave, classes: [&Class; 2], kept: &mut Kept) {
        let atomic = |it: &&Class| it.touches.iter().any(|it| it.kind.is_atomic());
        let order = self.field.orders[usize::from(classes.iter().any(atomic))];
        let pairs = classes[0].shares.iter().flat_map(|one| {
            let others = classes[1].shares.iter().filter(|it| it.thread != one.thread);
            others.map(move |other| [one, other])
        });
        let instances = pairs.flat_map(|shares| {
            let members = shares[0].members.iter();
            members.filter_map(move |a| {
                let b = weave.instance(order, shares, *a)?;
                Some((shares.map(|it| it.thread), [*a, b]))
            })
        });
        for (threads, members) in instances.take(self.instances) {
            let touches = touches(weave, classes, threads, members);
            let scope = classes[0].scope.max(classes[1].scope);
            if !self.keep(weave.pattern.into(), scope, &touches, kept) {
                return;
            }
        }
    }

    /// Keeps an instance; false if there are cheaper ones enough.
    fn keep(&self, pattern: usize, scope: Scope, touches: &[Touch], kept: &mut Kept) -> bool {
        let slots = &self.patterns[pattern].slots;
        let addr = |at: usize| {
            let same = |it: usize| it != at && slots[it].variable == slots[at].variable;
            let other = (0..slots.len()).find(|it| same(*it)).unwrap_or(at);
            touches[at].addr(&touches[other])
        };
        let steps = touches.iter().enumerate().map(|(at, it)| Place {
            thread: it.thread,
            index: it.index,
            addr: addr(at),
        });
        let locked = touches.iter().rev().fold(0, |bits, it| bits << 1 | u16::from(it.set != 0));
        let key = Key {
            scope,
            pattern: u16::try_from(pattern).unwrap_or(u16::MAX),
            sites: touches.iter().map(|it| it.site).collect(),
            locked,
        };
        let steps: SmallVec<[Place; 4]> = steps.collect();
        // How far each thread must come.
        let far = |at: usize| {
            let later = steps[at + 1..].iter().any(|it| it.thread == steps[at].thread);
            if later { 0 } else { u64::from(steps[at].index) }
        };
        let cost = (0..steps.len()).map(far).sum();
        let apart =
            if scope == Scope::Unmarked { apart(&self.patterns[pattern], &steps) } else { 0 };
        kept.add(key, Instance { apart, cost, steps })
    }
}

/// Whether accesses, which are sorted by thread, are of several threads.
fn is_shared(touches: &[Touch]) -> bool {
    touches.first().zip(touches.last()).is_some_and(|(a, b)| a.thread != b.thread)
}

/// Accesses of one thread with nothing of that thread in between that has to do with both. A granule
/// can be home to several variables, so what follows each other is seen byte by byte.
fn consecutive(touches: &[Touch]) -> impl Iterator<Item = (&Touch, &Touch)> {
    let mut bytes: [Option<&Touch>; 8] = [None; 8];
    touches.iter().flat_map(move |last| {
        let mut pairs: SmallVec<[(&Touch, &Touch); 1]> = SmallVec::new();
        for (_, byte) in bytes.iter_mut().enumerate().filter(|it| last.mask >> it.0 & 1 != 0) {
            let before = byte.replace(last);
            let first = before.filter(|it| it.thread == last.thread && it.index != last.index);
            let known = pairs.last().map(|it| it.0.index);
            pairs.extend(first.filter(|it| known != Some(it.index)).map(|it| (it, last)));
        }
        pairs
    })
}

/// Of the accesses to a variable those that stand for all others like them.
fn represent(touches: &[Touch]) -> Vec<Touch> {
    let mut classes = Classes::default();
    for touch in touches {
        classes.add([*touch; 2], touch.set, Scope::Single);
    }
    let of = |class: Class| {
        let touch = class.touches[0];
        class.shares.into_iter().flat_map(move |share| {
            let thread = share.thread;
            let members = share.members.into_iter();
            members.map(move |it| Touch { index: it[0], thread, ..touch })
        })
    };
    let mut all: Vec<_> = classes.all.into_iter().flat_map(of).collect();
    all.sort_unstable_by_key(|it| (it.index, it.thread));
    all
}

/// How many events there are from the first to the last access of each region, all together.
fn apart(pattern: &Pattern, steps: &[Place]) -> u64 {
    let region = |region: usize| {
        let indices = pattern.unit(region).map(|at| steps[at].index);
        let bounds = |(from, to): (u32, u32), it: u32| (from.min(it), to.max(it));
        let (first, last) = indices.fold((u32::MAX, 0), bounds);
        u64::from(last.saturating_sub(first))
    };
    (0..pattern.regions()).map(region).sum()
}

/// The accesses of two units, in the pattern's order.
fn touches(
    weave: &Weave,
    classes: [&Class; 2],
    threads: [u16; 2],
    members: [[u32; 2]; 2],
) -> SmallVec<[Touch; 4]> {
    let len = weave.places[0].len() + weave.places[1].len();
    let mut touches: SmallVec<[Touch; 4]> = smallvec![classes[0].touches[0]; len];
    for unit in 0..2 {
        for (at, place) in weave.places[unit].iter().enumerate() {
            let (index, thread) = (members[unit][at], threads[unit]);
            touches[*place] = Touch { index, thread, ..classes[unit].touches[at] };
        }
    }
    touches
}
