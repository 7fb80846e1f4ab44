//! Places in the code, in a form that is the same in all runs.
//!
//! A compiler copies code: it inlines functions and unrolls loops. Patterns in different copies are one
//! pattern for the user, and only together do they show how well they separate failing from passing
//! runs. So a place is a place in the source, if that is known.

use norn_frontend::Owner;
use norn_model::Location;
use norn_replay::SymbolizedTrace;
use serde::{Deserialize, Serialize};

/// A place in the code: the function, and those into which it was inlined, up to the first one of the
/// program itself. Accesses to all vectors, for example, are in the same line of the C++ library.
/// Without debug information it is a module and an offset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CodeSite {
    /// The locations, innermost first.
    pub frames: Vec<Location>,
}

impl CodeSite {
    /// The place of an address in the code. The runtime's own accesses have none.
    pub(crate) fn new(symbolized: &SymbolizedTrace, pc: u64) -> Option<CodeSite> {
        let module = symbolized.symbols.module(pc)?;
        let mut frames = Vec::new();
        for frame in symbolized.symbols.frames(pc).iter().filter(|it| it.line.is_some()) {
            frames.push(Location { column: frame.column, ..frame.identity() });
            if symbolized.symbols.owner(frame) == Owner::Program {
                break;
            }
        }
        if frames.is_empty() {
            frames.push(Location {
                module: Some(module.path.display().to_string()),
                offset: Some(pc - module.start),
                ..Location::default()
            });
        }
        Some(CodeSite { frames })
    }
}
