//! All units of a module's DWARF, and the references between their entries.
//!
//! An entry may point within its unit, into another unit of the same file (link-time optimisation,
//! `dwz`), into the supplementary file, or to a type by its signature (`-fdebug-types-section`). A
//! [`DieId`] names an entry across all of them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::{
    AttributeValue, DebugInfoOffset, DebuggingInformationEntry, DwAt, DwarfFileType, DwoId,
    UnitOffset, UnitRef, UnitType,
};
use rustc_hash::FxHashMap;

use crate::dwarf::{Dwarf, Slice};
use crate::scope::{Scope, Scopes};
use crate::split::{DwoName, Split};

/// One debugging information entry of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DieId {
    pub(crate) unit: usize,
    pub(crate) offset: UnitOffset,
}

pub(crate) type Entry<'a> = DebuggingInformationEntry<Slice<'a>>;
pub(crate) type Value<'a> = AttributeValue<Slice<'a>>;

/// The units, grouped by the section they come from.
#[derive(Default)]
pub(crate) struct Units<'a> {
    list: Vec<Unit<'a>>,
    /// The units of one section are adjacent, in the order of their offsets.
    groups: Vec<Range<usize>>,
    /// The group of the supplementary file.
    supplementary: Option<usize>,
    signatures: FxHashMap<u64, DieId>,
    split: FxHashMap<DwoId, usize>,
}

struct Unit<'a> {
    dwarf: Arc<Dwarf<'a>>,
    content: gimli::Unit<Slice<'a>>,
    group: usize,
    scopes: OnceLock<Scopes>,
}

impl<'a> Units<'a> {
    /// Parses the headers of all units, including those in split and supplementary files.
    pub(crate) fn load(sections: &Arc<Dwarf<'a>>, split: &Split<'a>) -> Self {
        let mut units = Self::default();
        units.add_file(sections, None);
        if let Some(supplementary) = sections.sup.as_ref() {
            units.supplementary = Some(units.groups.len());
            units.add_file(supplementary, None);
        }
        units.add_split(sections, split);
        units
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The unit with its sections; the index is that of a [`DieId`].
    pub(crate) fn unit(&self, index: usize) -> UnitRef<'_, Slice<'a>> {
        let unit = &self.list[index];
        unit.content.unit_ref(&unit.dwarf)
    }

    /// The index of a unit from another source.
    pub(crate) fn index_of(&self, unit: &UnitRef<'_, Slice<'a>>) -> Option<usize> {
        if unit.dwarf.file_type == DwarfFileType::Dwo {
            return self.split.get(&unit.dwo_id?).copied();
        }
        self.find_unit(0, unit.header.debug_info_offset()?)
    }

    /// Reads one entry with its attributes.
    pub(crate) fn entry(&self, die: DieId) -> Option<Entry<'a>> {
        self.unit(die.unit).entry(die.offset).ok().filter(|entry| !entry.is_null())
    }

    /// The entry that an attribute of unit `from` refers to.
    pub(crate) fn follow(&self, from: usize, value: Value<'a>) -> Option<DieId> {
        match value {
            AttributeValue::UnitRef(offset) => Some(DieId { unit: from, offset }),
            AttributeValue::DebugInfoRef(offset) => self.find(self.list[from].group, offset),
            AttributeValue::DebugInfoRefSup(offset) => self.find(self.supplementary?, offset),
            AttributeValue::DebugTypesRef(signature) => self.signatures.get(&signature.0).copied(),
            _ => None,
        }
    }

    /// An attribute of the entry, or of the declaration or abstract instance that it completes.
    /// Returned with its unit, because file numbers and references are relative to it.
    pub(crate) fn inherited(&self, die: DieId, names: &[DwAt]) -> Option<(usize, Value<'a>)> {
        self.chain(die).find_map(|(die, entry)| {
            let value = names.iter().find_map(|name| entry.attr_value(*name))?;
            Some((die.unit, value))
        })
    }

    /// The entry that declares what this one completes; the entry itself if it stands alone.
    pub(crate) fn declaration(&self, die: DieId) -> DieId {
        self.chain(die).last().map_or(die, |(die, _)| die)
    }

    /// The scopes around an entry, outermost first.
    pub(crate) fn scopes(&self, die: DieId) -> Vec<Scope> {
        let scopes = &self.list[die.unit].scopes;
        scopes.get_or_init(|| Scopes::read(&self.unit(die.unit))).around(die.offset)
    }

    /// The text of a string attribute of this unit.
    pub(crate) fn text(&self, unit: usize, value: Value<'a>) -> Option<Cow<'a, str>> {
        let text = self.unit(unit).attr_string(value).ok()?;
        Some(String::from_utf8_lossy(text.slice()))
    }

    /// The entry, the entry that it completes, and so on.
    fn chain(&self, die: DieId) -> impl Iterator<Item = (DieId, Entry<'a>)> {
        // Real chains have two or three links; damaged ones may be cyclic.
        const MAX_LINKS: usize = 16;
        let with_entry = |die| Some((die, self.entry(die)?));
        let next = move |(die, entry): &(DieId, Entry<'a>)| {
            let origin = entry.attr_value(gimli::DW_AT_abstract_origin);
            let origin = origin.or_else(|| entry.attr_value(gimli::DW_AT_specification))?;
            with_entry(self.follow(die.unit, origin)?)
        };
        std::iter::successors(with_entry(die), next).take(MAX_LINKS)
    }

    fn find(&self, group: usize, offset: DebugInfoOffset) -> Option<DieId> {
        let unit = self.find_unit(group, offset)?;
        let offset = offset.to_unit_offset(&self.list[unit].content.header)?;
        Some(DieId { unit, offset })
    }

    /// The last unit of the group that starts at the offset or before it.
    fn find_unit(&self, group: usize, offset: DebugInfoOffset) -> Option<usize> {
        let range = self.groups.get(group)?;
        let after = self.list[range.clone()].partition_point(|unit| {
            unit.content.header.debug_info_offset().is_some_and(|start| start.0 <= offset.0)
        });
        Some(range.start + after.checked_sub(1)?)
    }

    fn add_file(&mut self, dwarf: &Arc<Dwarf<'a>>, skeleton: Option<usize>) {
        let mut headers = dwarf.units();
        self.add_group(dwarf, skeleton, || headers.next().ok().flatten());
        let mut headers = dwarf.type_units();
        self.add_group(dwarf, skeleton, || headers.next().ok().flatten());
    }

    fn add_group(
        &mut self,
        dwarf: &Arc<Dwarf<'a>>,
        skeleton: Option<usize>,
        mut next: impl FnMut() -> Option<gimli::UnitHeader<Slice<'a>>>,
    ) {
        let (group, start) = (self.groups.len(), self.list.len());
        while let Some(header) = next() {
            let Ok(mut unit) = dwarf.unit(header) else { continue };
            if let Some(skeleton) = skeleton {
                unit.copy_relocated_attributes(&self.list[skeleton].content);
            }
            self.note_signature(&unit);
            let scopes = OnceLock::new();
            self.list.push(Unit { dwarf: Arc::clone(dwarf), content: unit, group, scopes });
        }
        self.groups.push(start..self.list.len());
    }

    fn note_signature(&mut self, unit: &gimli::Unit<Slice<'a>>) {
        let (UnitType::Type { type_signature, type_offset }
        | UnitType::SplitType { type_signature, type_offset }) = unit.header.type_()
        else {
            return;
        };
        let die = DieId { unit: self.list.len(), offset: type_offset };
        self.signatures.entry(type_signature.0).or_insert(die);
    }

    fn add_split(&mut self, parent: &Dwarf<'a>, split: &Split<'a>) {
        for skeleton in 0..self.list.len() {
            let Some(name) = self.dwo_name(skeleton) else { continue };
            if let Some(dwarf) = split.load(&name, parent) {
                self.split.insert(name.id, self.list.len());
                self.add_file(&dwarf, Some(skeleton));
            }
        }
    }

    fn dwo_name(&self, unit: usize) -> Option<DwoName<'a>> {
        let unit = self.unit(unit);
        let id = unit.dwo_id?;
        let path = unit.dwo_name().ok().flatten();
        let path = path.and_then(|value| unit.attr_string(value).ok());
        Some(DwoName { id, directory: unit.comp_dir, path })
    }
}
