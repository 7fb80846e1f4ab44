//! Types of objects in memory, as users of this crate see them.

use std::sync::Arc;

use norn_model::ValueType;

use crate::name;
use crate::pointee::Pointers;
use crate::types::{Type, Types};
use crate::unit::{DieId, Units};
use crate::variable::part;

/// The type of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectType {
    die: DieId,
    /// Its name in the source: `bank::Account`.
    pub name: Arc<str>,
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is a struct, class or union.
    pub is_record: bool,
    /// File of the declaration.
    pub file: Option<Arc<str>>,
}

/// An object into which an address points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointee {
    /// The type of the object.
    pub object: ObjectType,
    /// The distance of the address from its beginning. Unknown if an index was added: then the object
    /// is an element of an array.
    pub distance: Option<i64>,
}

/// What the code says about an argument of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// The objects into which it points.
    pub pointees: Vec<Pointee>,
    /// The argument of the calling function from which it was computed, and its distance from that.
    pub forwarded: Option<(u8, Option<i64>)>,
}

impl Argument {
    /// Names the types.
    pub(crate) fn new(units: &Units<'_>, pointers: Pointers) -> Argument {
        let Pointers { objects, forwarded } = pointers;
        let pointees = objects.into_iter().filter_map(|(die, distance)| {
            Some(Pointee { object: ObjectType::new(units, die)?, distance })
        });
        Argument { pointees: pointees.collect(), forwarded }
    }
}

impl ObjectType {
    /// A type with a name. One of unknown size says nothing about memory.
    pub(crate) fn new(units: &Units<'_>, die: DieId) -> Option<ObjectType> {
        let shape = Types::new(units).build(die);
        let of = ObjectType {
            die,
            name: name::of_type(units, die)?.into(),
            size: shape.size(),
            is_record: matches!(*shape, Type::Record { .. } | Type::Variants { .. }),
            file: name::declared_at(units, name::unqualified(units, die)).0,
        };
        Some(of).filter(|it| it.size > 0)
    }

    /// The part of `count` consecutive objects that an access touches.
    pub(crate) fn part(
        &self,
        units: &Units<'_>,
        count: u64,
        (offset, size): (u64, u64),
    ) -> (String, Option<ValueType>) {
        let element = Types::new(units).build(self.die);
        match count {
            1 => part(&element, offset, size),
            _ => part(&Type::Array { element, count: Some(count) }, offset, size),
        }
    }
}
