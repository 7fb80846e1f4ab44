//! The identity of a candidate for a reader: its kind and its places in the source.
//!
//! A function that is inlined has a copy at each of its calls, and each copy has addresses of its own. To a
//! reader, the same access in two copies is one place that two call stacks lead to. So a place is the access
//! with its line in the program.
//!
//! What a library accesses in one call of the program is one place, too: whether the size of a queue or its first element is
//! read by `pop_front` makes no difference to the program that calls it.

use std::{cell::RefCell, collections::BTreeMap, sync::Arc};

use norn_frontend::Owner;
use norn_model::{Candidate, CandidateKind, Location, SiteId, StackId, Step};

use crate::{describe::stack_of, source::Source};

/// The identity of a candidate for a reader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourceKey {
    kind: CandidateKind,
    places: Vec<Arc<SourcePlace>>,
}

/// A line of the program, with the function of a library that it calls or else with the kind of event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SourcePlace {
    frames: Vec<Location>,
    event: Option<u16>,
}

/// The places of one trace, each computed once.
#[derive(Debug)]
pub(crate) struct SourceKeys<'a> {
    source: &'a Source,
    places: RefCell<BTreeMap<Origin, Arc<SourcePlace>>>,
}

/// The site and the call stack of an event.
type Origin = (SiteId, Option<StackId>);

impl<'a> SourceKeys<'a> {
    pub(crate) fn new(source: &'a Source) -> SourceKeys<'a> {
        SourceKeys { source, places: RefCell::default() }
    }

    pub(crate) fn key(&self, candidate: &Candidate) -> SourceKey {
        let places = candidate.steps.iter().chain(&candidate.stuck).map(|it| self.place(it));
        SourceKey { kind: candidate.kind.clone(), places: places.collect() }
    }

    fn place(&self, step: &Step) -> Arc<SourcePlace> {
        let stack = self.source.trace.event(step.event).map(|it| it.stack);
        let known = self.places.borrow().get(&(step.site, stack)).cloned();
        known.unwrap_or_else(|| {
            let symbolized = &self.source.symbolized;
            let is_program = |it: &Location| symbolized.symbols.owner(it) == Owner::Program;
            let code = symbolized.trace.site(step.site).map(|it| it.kind.code());
            let place = Arc::new(place(&stack_of(self.source, step), is_program, code));
            self.places.borrow_mut().insert((step.site, stack), Arc::clone(&place));
            place
        })
    }
}

/// The place of an event, given its frames, innermost first.
fn place(
    frames: &[Location],
    is_program: impl Fn(&Location) -> bool,
    event: Option<u16>,
) -> SourcePlace {
    let identity = |it: &Location| Location { column: it.column, ..it.identity() };
    match frames.iter().position(is_program) {
        // Its own line in the library says nothing about the call.
        Some(caller) if caller > 0 => {
            let function = frames[caller - 1].function.clone();
            let called = Location { function, ..Location::default() };
            SourcePlace { frames: vec![called, identity(&frames[caller])], event: None }
        }
        Some(_) => SourcePlace { frames: vec![identity(&frames[0])], event },
        None => SourcePlace { frames: frames.iter().map(identity).collect(), event },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(function: &str, column: u32) -> Location {
        let function = Some(function.to_owned());
        Location { function, line: Some(1), column: Some(column), ..Location::default() }
    }

    fn of(frames: &[Location]) -> SourcePlace {
        let is_program =
            |it: &Location| it.function.as_deref().is_some_and(|it| !it.starts_with("std::"));
        place(frames, is_program, Some(7))
    }

    #[test]
    fn copies_of_an_inlined_function_are_one_place() {
        let one = of(&[at("add", 3), at("main", 1)]);
        assert_eq!(one, of(&[at("add", 3), at("worker", 7)]));
        assert_ne!(one, of(&[at("add", 4), at("main", 1)]));
    }

    #[test]
    fn a_template_of_a_library_belongs_to_its_use() {
        let one = of(&[at("std::get", 3), at("add", 1), at("main", 1)]);
        assert_eq!(one, of(&[at("std::get", 3), at("add", 1), at("worker", 7)]));
        assert_ne!(one, of(&[at("std::get", 3), at("take", 1), at("main", 1)]));
        assert_eq!(of(&[at("std::get", 3), at("std::run", 1)]).frames.len(), 2);
    }

    #[test]
    fn all_accesses_in_one_call_of_a_library_are_one_place() {
        let one = of(&[at("std::len", 3), at("std::pop", 1), at("main", 1)]);
        assert_eq!(one, of(&[at("std::head", 3), at("std::pop", 9), at("main", 1)]));
        assert_ne!(one, of(&[at("std::len", 3), at("std::push", 1), at("main", 1)]));
        assert_ne!(one, of(&[at("main", 1)]));
    }
}
