//! Where values live in a function: registers, flags and slots of its frame.

use iced_x86::Register;

/// A place that instructions read and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Location {
    /// A general register, by number. Parts of it are treated as the whole.
    General(u8),
    /// A vector register, by number.
    Vector(u8),
    /// The status flags, all as one.
    Flags,
    /// Bytes of the frame: the distance from the frame address, and the size.
    Slot(i32, u16),
}

/// The registers in which functions return values.
pub(crate) const RESULT: Location = Location::General(0);
/// The registers in which integers and pointers are passed, in their order.
pub(crate) const ARGUMENTS: [Location; 6] = [
    Location::General(7),
    Location::General(6),
    Location::General(2),
    Location::General(1),
    Location::General(8),
    Location::General(9),
];
/// General registers that a call does not preserve, by number.
const NOT_PRESERVED: [u8; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

impl Location {
    /// The location of a register, if values are followed through it.
    pub(crate) fn of(register: Register) -> Option<Location> {
        let number = |it: Register| u8::try_from(it.number()).ok();
        let whole = register.full_register();
        if whole.is_gpr64() {
            number(whole).map(Location::General)
        } else if whole.is_vector_register() {
            number(whole).map(Location::Vector)
        } else {
            None
        }
    }

    /// Whether a call changes it. Slots are private to the function unless it passes their addresses,
    /// which is not followed.
    pub(crate) fn is_lost_in_calls(self) -> bool {
        match self {
            Location::General(number) => NOT_PRESERVED.contains(&number),
            Location::Vector(_) | Location::Flags => true,
            Location::Slot(..) => false,
        }
    }

    /// Whether a call returns a value in it.
    pub(crate) fn is_result(self) -> bool {
        matches!(self, Location::General(0 | 2) | Location::Vector(0 | 1))
    }

    /// Whether a write of `self` changes `other`.
    pub(crate) fn overlaps(self, other: Location) -> bool {
        match (self, other) {
            (Location::Slot(a, size_a), Location::Slot(b, size_b)) => {
                let (a, b) = (i64::from(a), i64::from(b));
                a < b + i64::from(size_b) && b < a + i64::from(size_a)
            }
            _ => self == other,
        }
    }

    /// Whether a write of `self` replaces all of `other`.
    pub(crate) fn covers(self, other: Location) -> bool {
        match (self, other) {
            (Location::Slot(a, size_a), Location::Slot(b, size_b)) => {
                let (a, b) = (i64::from(a), i64::from(b));
                a <= b && b + i64::from(size_b) <= a + i64::from(size_a)
            }
            _ => self == other,
        }
    }
}
