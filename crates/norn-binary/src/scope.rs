//! The scopes that enclose an entry: namespaces, classes, functions.
//!
//! DWARF nests entries but has no links to parents. Qualified names need them, but only for the few
//! entries without a linkage name: static variables of functions, and entities that gcc gives
//! internal linkage. So each unit gets, on first use, a list of its scopes as ranges of offsets with
//! their parents.

use gimli::{DwTag, UnitOffset, UnitRef};

use crate::dwarf::Slice;

/// The scopes of one unit, in the order of their offsets.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    list: Vec<Scope>,
}

/// An entry that qualifies the names of the entries it contains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) tag: DwTag,
    pub(crate) offset: UnitOffset,
    end: UnitOffset,
    parent: Option<usize>,
}

impl Scope {
    /// Whether it is a function, inlined or not.
    pub(crate) fn is_function(&self) -> bool {
        self.tag == gimli::DW_TAG_subprogram || self.tag == gimli::DW_TAG_inlined_subroutine
    }
}

impl Scopes {
    /// Reads the unit; damage ends the list early.
    pub(crate) fn read(unit: &UnitRef<'_, Slice<'_>>) -> Self {
        let mut reader = Reader::default();
        let _damage = reader.run(unit);
        Self { list: reader.list }
    }

    /// The scopes around the entry at this offset, outermost first.
    pub(crate) fn around(&self, offset: UnitOffset) -> Vec<Scope> {
        let before = self.list.partition_point(|scope| scope.offset < offset);
        let mut next = before.checked_sub(1);
        let mut around = Vec::new();
        while let Some(scope) = next.and_then(|index| self.list.get(index)) {
            if offset < scope.end {
                around.push(*scope);
            }
            next = scope.parent;
        }
        around.reverse();
        around
    }
}

#[derive(Default)]
struct Reader {
    list: Vec<Scope>,
    /// The scopes that are still open: their depth and their index in the list.
    open: Vec<(isize, usize)>,
}

impl Reader {
    fn run(&mut self, unit: &UnitRef<'_, Slice<'_>>) -> gimli::Result<()> {
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (depth, offset) = (entries.next_depth(), entries.next_offset());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            self.close(depth, offset);
            if abbreviation.has_children() && is_scope(abbreviation.tag()) {
                self.enter(depth, offset, abbreviation.tag());
            }
            entries.skip_attributes(abbreviation.attributes())?;
        }
        Ok(())
    }

    fn enter(&mut self, depth: isize, offset: UnitOffset, tag: DwTag) {
        let parent = self.open.last().map(|(_, index)| *index);
        self.open.push((depth, self.list.len()));
        self.list.push(Scope { tag, offset, end: UnitOffset(usize::MAX), parent });
    }

    fn close(&mut self, depth: isize, offset: UnitOffset) {
        while let Some((_, index)) = self.open.pop_if(|(opened, _)| *opened >= depth) {
            self.list[index].end = offset;
        }
    }
}

fn is_scope(tag: DwTag) -> bool {
    [
        gimli::DW_TAG_namespace,
        gimli::DW_TAG_class_type,
        gimli::DW_TAG_structure_type,
        gimli::DW_TAG_union_type,
        gimli::DW_TAG_subprogram,
        gimli::DW_TAG_inlined_subroutine,
    ]
    .contains(&tag)
}
