//! The identity of a candidate for a reader: its kind and its places in the source.
//!
//! A function that is inlined has a copy at each of its calls, and each copy has addresses of its own. To a
//! reader, the same access in two copies is one place that two call stacks lead to. So a place is the access
//! with the frames of its instruction up to the first one in the program itself: an access in a template of a
//! library belongs to the line of the program that uses it.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use norn_frontend::Owner;
use norn_model::{Candidate, CandidateKind, Location, SiteId};

use crate::source::Source;

/// The identity of a candidate for a reader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceKey {
    kind: CandidateKind,
    places: Vec<Arc<SourcePlace>>,
}

/// The frames of an access, innermost first, and the kind of event.
type SourcePlace = (Vec<Location>, u16);

/// The places of one trace, each computed once.
#[derive(Debug)]
pub(crate) struct SourceKeys<'a> {
    source: &'a Source,
    places: RefCell<BTreeMap<SiteId, Arc<SourcePlace>>>,
}

impl<'a> SourceKeys<'a> {
    pub(crate) fn new(source: &'a Source) -> SourceKeys<'a> {
        SourceKeys { source, places: RefCell::default() }
    }

    pub(crate) fn key(&self, candidate: &Candidate) -> SourceKey {
        let places = candidate.sites().map(|it| self.place(it)).collect();
        SourceKey { kind: candidate.kind.clone(), places }
    }

    fn place(&self, id: SiteId) -> Arc<SourcePlace> {
        if let Some(known) = self.places.borrow().get(&id) {
            return Arc::clone(known);
        }
        let symbolized = &self.source.symbolized;
        let site = symbolized.trace.site(id);
        let frames = site.map(|it| symbolized.symbols.frames(it.pc));
        let is_program = |it: &Location| symbolized.symbols.owner(it) == Owner::Program;
        let place = until(frames.as_deref().unwrap_or_default(), is_program);
        let place = Arc::new((place, site.map_or(0, |it| it.kind.code())));
        self.places.borrow_mut().insert(id, Arc::clone(&place));
        place
    }
}

/// The frames up to the first one in the program, or all if there is none.
fn until(frames: &[Location], is_program: impl Fn(&Location) -> bool) -> Vec<Location> {
    let count = frames.iter().position(is_program).map_or(frames.len(), |it| it + 1);
    let identity = |it: &Location| Location { column: it.column, ..it.identity() };
    frames[..count].iter().map(identity).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: &str, column: u32) -> Location {
        let function = Some(function.to_owned());
        Location { function, line: Some(1), column: Some(column), ..Location::default() }
    }

    fn place(frames: &[Location]) -> Vec<Location> {
        until(frames, |it| it.function.as_deref().is_some_and(|it| !it.starts_with("std::")))
    }

    #[test]
    fn copies_of_an_inlined_function_are_one_place() {
        let one = place(&[at("add", 3), at("main", 1)]);
        assert_eq!(one, place(&[at("add", 3), at("worker", 7)]));
        assert_ne!(one, place(&[at("add", 4), at("main", 1)]));
    }

    #[test]
    fn a_template_of_a_library_belongs_to_its_use() {
        let one = place(&[at("std::get", 3), at("add", 1), at("main", 1)]);
        assert_eq!(one, place(&[at("std::get", 3), at("add", 1), at("worker", 7)]));
        assert_ne!(one, place(&[at("std::get", 3), at("take", 1), at("main", 1)]));
        assert_eq!(place(&[at("std::get", 3), at("std::run", 1)]).len(), 2);
    }
}
