//! What was not seen of properties, which a reader might have expected to be.

use std::io::{self, Write};

use crate::Property;

/// A line for each thing that was not seen, and what can be done about it.
pub(super) fn properties(out: &mut dyn Write, properties: &[Property]) -> io::Result<()> {
    for property in properties {
        let name = &property.name;
        if !property.never.is_empty() {
            writeln!(out, "{name}: never seen in the recorded run: {}", property.never.join(", "))?;
        }
        for it in &property.unseen {
            writeln!(out, "{name}: {}: {}", it.event, it.text)?;
            if let Some(hint) = &it.hint {
                writeln!(out, "  hint: {hint}")?;
            }
        }
        if let Some(left_out) = &property.left_out {
            writeln!(out, "{name}: the search is incomplete: {}", left_out.text)?;
        }
    }
    Ok(())
}
