//! Types, reduced to what naming bytes requires: sizes, elements, members.
//!
//! Typedefs and qualifiers are resolved, and everything without parts (numbers, pointers, enums) is
//! a scalar. The result is a tree, built from DWARF once per type and shared. Real types cannot
//! contain themselves; damaged ones can, and are cut at the cycle.

use std::sync::Arc;

use gimli::{AttributeValue, Operation};
use rustc_hash::FxHashMap;

use crate::rust_type;
use crate::unit::{DieId, Entry, Units, Value};
use norn_model::ValueType;

/// The shape of a type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// No parts. The size is zero if it is unknown. A pointer or reference has the type of its target.
    Scalar { size: u64, value_type: ValueType, target: Option<DieId> },
    /// Consecutive elements. Without a count it extends to the end of its variable.
    Array { element: Arc<Type>, count: Option<u64> },
    /// A struct, class or union, with its members in the order of declaration.
    Record { size: u64, is_union: bool, members: Vec<Member> },
    /// An enum of Rust: one of several structs, of which the memory itself says which one it is. Those without a name
    /// add nothing to a path.
    Variants { size: u64, tag: Option<Tag>, variants: Vec<Member> },
}

/// Where the memory of an enum says which variant it is. A field of a variant may be at the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// A member, a bit-field or a base class.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// `None` for base classes and anonymous structs and unions.
    pub(crate) name: Option<Arc<str>>,
    pub(crate) offset: u64,
    /// Number of bytes; zero for an array without a count.
    pub(crate) size: u64,
    pub(crate) shape: Arc<Type>,
}

impl Type {
    /// Size in bytes; zero if it is unknown.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Scalar { size, .. } | Self::Record { size, .. } | Self::Variants { size, .. } => {
                *size
            }
            Self::Array { element, count } => element.size().saturating_mul(count.unwrap_or(0)),
        }
    }

    /// The type of what the pointer at an offset points to.
    pub(crate) fn target_at(&self, offset: u64) -> Option<DieId> {
        match self {
            Self::Scalar { target, .. } => target.filter(|_| offset == 0),
            Self::Array { element, .. } => element.target_at(offset.checked_rem(element.size())?),
            Self::Record { members, .. } => members.iter().find_map(|it| {
                let inside = offset.checked_sub(it.offset)?;
                it.shape.target_at(inside).filter(|_| inside < it.size || it.shape.is_unbounded())
            }),
            Self::Variants { variants, .. } => {
                let mut targets = variants.iter().filter_map(|it| it.shape.target_at(offset));
                targets.next().filter(|first| targets.all(|it| it == *first))
            }
        }
    }

    /// The type of what the elements of an array point to; of a pointer, what itself points to.
    pub(crate) fn element_target(&self) -> Option<DieId> {
        match self {
            Self::Scalar { target, .. } => *target,
            Self::Array { element, .. } => element.element_target(),
            Self::Record { .. } | Self::Variants { .. } => None,
        }
    }

    /// Whether it is an array that extends to the end of its variable.
    pub(crate) fn is_unbounded(&self) -> bool {
        matches!(self, Self::Array { count: None, .. })
    }
}

/// The types of a module, built on demand.
pub(crate) struct Types<'u, 'a> {
    pub(crate) units: &'u Units<'a>,
    built: FxHashMap<DieId, Arc<Type>>,
    depth: usize,
}

impl<'u, 'a> Types<'u, 'a> {
    /// An empty cache.
    pub(crate) fn new(units: &'u Units<'a>) -> Self {
        Self { units, built: FxHashMap::default(), depth: 0 }
    }

    /// The type of a variable.
    pub(crate) fn of(&mut self, variable: DieId) -> Arc<Type> {
        let value = self.units.inherited(variable, &[gimli::DW_AT_type]);
        let die = value.and_then(|(unit, value)| self.units.follow(unit, value));
        die.map_or_else(unknown, |die| self.build(die))
    }

    /// The shape of a type.
    pub(crate) fn build(&mut self, die: DieId) -> Arc<Type> {
        // No source nests types as deeply as damaged DWARF may.
        const MAX_DEPTH: usize = 128;
        if let Some(built) = self.built.get(&die) {
            return Arc::clone(built);
        }
        if self.depth == MAX_DEPTH {
            return unknown();
        }
        // A lookup that arrives here again while this type is being built has found a cycle.
        self.built.insert(die, unknown());
        self.depth += 1;
        let shape = self.shape(die).unwrap_or_else(unknown);
        self.depth -= 1;
        self.built.insert(die, Arc::clone(&shape));
        shape
    }

    fn shape(&mut self, die: DieId) -> Option<Arc<Type>> {
        let entry = self.units.entry(die)?;
        if let Some(signature) = entry.attr_value(gimli::DW_AT_signature) {
            return Some(self.build(self.units.follow(die.unit, signature)?));
        }
        match entry.tag() {
            gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_packed_type
            | gimli::DW_TAG_immutable_type
            | gimli::DW_TAG_template_alias => self.type_of(die.unit, &entry),
            gimli::DW_TAG_array_type => self.array(die, &entry),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                Some(self.record(die, &entry))
            }
            _ => {
                let size = self.scalar_size(die, &entry);
                let value_type = crate::value_type::value_type(self.units, die, &entry, size);
                Some(Arc::new(Type::Scalar { size, value_type, target: self.target(die, &entry) }))
            }
        }
    }

    fn type_of(&mut self, unit: usize, entry: &Entry<'a>) -> Option<Arc<Type>> {
        let value = entry.attr_value(gimli::DW_AT_type)?;
        Some(self.build(self.units.follow(unit, value)?))
    }

    /// The type of what a pointer or reference points to. It is not built: lists point to themselves.
    fn target(&self, die: DieId, entry: &Entry<'a>) -> Option<DieId> {
        let value = entry.attr_value(gimli::DW_AT_type).filter(|_| is_pointer(entry))?;
        self.units.follow(die.unit, value)
    }

    /// Compilers may omit the size of a pointer: it is that of an address.
    fn scalar_size(&self, die: DieId, entry: &Entry<'a>) -> u64 {
        let implied =
            if is_pointer(entry) { self.units.unit(die.unit).encoding().address_size } else { 0 };
        number(entry, gimli::DW_AT_byte_size).unwrap_or(implied.into())
    }

    /// `grid[2][3]` has one entry with two ranges; it becomes an array of arrays.
    fn array(&mut self, die: DieId, entry: &Entry<'a>) -> Option<Arc<Type>> {
        let element = self.type_of(die.unit, entry)?;
        let mut counts: Vec<_> = self
            .children(die)
            .iter()
            .filter(|child| child.tag() == gimli::DW_TAG_subrange_type)
            .map(element_count)
            .collect();
        if counts.is_empty() {
            counts.push(None);
        }
        let nest = |element, count| Arc::new(Type::Array { element, count });
        Some(counts.into_iter().rev().fold(element, nest))
    }

    fn record(&mut self, die: DieId, entry: &Entry<'a>) -> Arc<Type> {
        let is_union = entry.tag() == gimli::DW_TAG_union_type;
        let size = number(entry, gimli::DW_AT_byte_size).unwrap_or(0);
        let children = self.children(die);
        if let Some(part) = children.iter().find(|it| it.tag() == gimli::DW_TAG_variant_part) {
            let (tag, variants) = (self.tag(die.unit, part), self.variants(die, part));
            return Arc::new(Type::Variants { size, tag, variants });
        }
        let members = children.iter().filter_map(|child| self.member(die.unit, child));
        let mut members: Vec<_> = members.collect();
        rust_type::unwrap(self.units, die, &mut members);
        Arc::new(Type::Record { size, is_union, members })
    }

    /// The discriminant of an enum.
    fn tag(&mut self, unit: usize, part: &Entry<'a>) -> Option<Tag> {
        let member = self.units.follow(unit, part.attr_value(gimli::DW_AT_discr)?)?;
        let member = self.member(member.unit, &self.units.entry(member)?)?;
        Some(Tag { offset: member.offset, size: member.size })
    }

    /// The structs of an enum. They begin where the enum begins, and know where its fields are.
    fn variants(&mut self, record: DieId, part: &Entry<'a>) -> Vec<Member> {
        let inside = |it: &Entry<'a>| DieId { offset: it.offset(), ..record };
        let variants = self.children(inside(part));
        let variants = variants.iter().filter(|it| it.tag() == gimli::DW_TAG_variant);
        let structs = variants.flat_map(|it| self.children(inside(it)));
        let structs: Vec<_> = structs.filter(|it| it.tag() == gimli::DW_TAG_member).collect();
        let members = structs.iter().filter_map(|it| self.member(record.unit, it));
        let mut members: Vec<_> = members.collect();
        rust_type::unwrap(self.units, record, &mut members);
        members
    }

    /// `None` for static members, functions, nested types, and bases whose offset is only known at
    /// run time (virtual inheritance).
    fn member(&mut self, unit: usize, entry: &Entry<'a>) -> Option<Member> {
        let is_static = [gimli::DW_AT_external, gimli::DW_AT_declaration];
        let is_member = entry.tag() == gimli::DW_TAG_member
            && !is_static.iter().any(|attribute| entry.has_attr(*attribute));
        if !is_member && entry.tag() != gimli::DW_TAG_inheritance {
            return None;
        }
        let shape = self.type_of(unit, entry)?;
        let name = entry.attr_value(gimli::DW_AT_name).filter(|_| is_member);
        let name = name.and_then(|value| self.units.text(unit, value)).map(Arc::from);
        let offset = self.member_offset(unit, entry)?;
        match number(entry, gimli::DW_AT_bit_size) {
            None => Some(Member { name, offset, size: shape.size(), shape }),
            Some(bits) => {
                let first = first_bit(entry, offset, bits, shape.size())?;
                let size = (first % 8).checked_add(bits)?.div_ceil(8);
                let shape = scalar(size);
                Some(Member { name, offset: first / 8, size, shape })
            }
        }
    }

    fn member_offset(&self, unit: usize, entry: &Entry<'a>) -> Option<u64> {
        match entry.attr_value(gimli::DW_AT_data_member_location) {
            None => Some(0),
            // Old producers write an expression that adds to the address of the record.
            Some(AttributeValue::Exprloc(expression)) => {
                let mut operations = expression.operations(self.units.unit(unit).encoding());
                match (operations.next().ok()??, operations.next().ok()?) {
                    (Operation::PlusConstant { value }, None) => Some(value),
                    _ => None,
                }
            }
            Some(value) => value.udata_value(),
        }
    }

    fn children(&self, die: DieId) -> Vec<Entry<'a>> {
        let mut found = Vec::new();
        let unit = self.units.unit(die.unit);
        let Ok(mut tree) = unit.entries_tree(Some(die.offset)) else { return found };
        let Ok(root) = tree.root() else { return found };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            found.push(child.entry().clone());
        }
        found
    }
}

fn unknown() -> Arc<Type> {
    scalar(0)
}

/// Bytes without parts, of which only the number is known.
pub(crate) fn scalar(size: u64) -> Arc<Type> {
    Arc::new(Type::Scalar { size, value_type: ValueType::default(), target: None })
}

fn is_pointer(entry: &Entry<'_>) -> bool {
    [gimli::DW_TAG_pointer_type, gimli::DW_TAG_reference_type, gimli::DW_TAG_rvalue_reference_type]
        .contains(&entry.tag())
}

fn number(entry: &Entry<'_>, name: gimli::DwAt) -> Option<u64> {
    entry.attr_value(name).as_ref().and_then(Value::udata_value)
}

/// `None` if the array has no fixed count: flexible, of variable length, or written as `[0]`.
fn element_count(range: &Entry<'_>) -> Option<u64> {
    let count = number(range, gimli::DW_AT_count);
    let bound = || number(range, gimli::DW_AT_upper_bound)?.checked_add(1);
    count.or_else(bound).filter(|count| *count > 0)
}

/// The first bit of a bit-field, from the start of the record. DWARF 4 may still count from the
/// other end of the storage unit, as on a big-endian machine.
fn first_bit(entry: &Entry<'_>, offset: u64, bits: u64, type_size: u64) -> Option<u64> {
    if let Some(first) = number(entry, gimli::DW_AT_data_bit_offset) {
        return Some(first);
    }
    let storage = number(entry, gimli::DW_AT_byte_size).unwrap_or(type_size).checked_mul(8)?;
    let from_end = number(entry, gimli::DW_AT_bit_offset).unwrap_or(0).checked_add(bits)?;
    offset.checked_mul(8)?.checked_add(storage)?.checked_sub(from_end)
}
