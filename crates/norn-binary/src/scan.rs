//! Finds the variables with static storage in all units.
//!
//! Only variables are parsed, all other entries are skipped: a large program has millions of
//! entries and a few thousand globals.

use gimli::{Abbreviation, AttributeValue, EntriesRaw, Expression};

use crate::dwarf::Slice;
use crate::place::{Place, place};
use crate::unit::{DieId, Units};

/// A variable before its name and type are resolved.
pub(crate) struct Found {
    pub(crate) die: DieId,
    pub(crate) place: Place,
}

/// All variables with static storage. A damaged unit yields the variables before the damage.
pub(crate) fn variables(units: &Units<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for unit in 0..units.len() {
        let _damage = scan(units, unit, &mut found);
    }
    found
}

fn scan(units: &Units<'_>, index: usize, found: &mut Vec<Found>) -> gimli::Result<()> {
    let unit = units.unit(index);
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let die = DieId { unit: index, offset: entries.next_offset() };
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if abbreviation.tag() != gimli::DW_TAG_variable {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        let location = location(&mut entries, abbreviation)?;
        let place = location.and_then(|expression| place(expression, &unit));
        found.extend(place.map(|place| Found { die, place }));
    }
    Ok(())
}

fn location<'a>(
    entries: &mut EntriesRaw<'_, Slice<'a>>,
    abbreviation: &Abbreviation,
) -> gimli::Result<Option<Expression<Slice<'a>>>> {
    let mut location = None;
    for specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(*specification)?;
        if attribute.name() != gimli::DW_AT_location {
            continue;
        }
        if let AttributeValue::Exprloc(expression) = attribute.value() {
            location = Some(expression);
        }
    }
    Ok(location)
}
