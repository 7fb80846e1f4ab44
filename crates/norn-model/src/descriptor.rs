//! Descriptors of files as objects of events. Their numbers are marked, so that they are no addresses.

/// Distinguishes the numbers of descriptors from addresses.
const DESCRIPTOR: u64 = 1 << 62;

/// The object of a descriptor.
pub fn descriptor_object(number: u64) -> u64 {
    number | DESCRIPTOR
}

/// The number of the descriptor that an object is, if it is one.
pub fn descriptor_number(object: u64) -> Option<u64> {
    u32::try_from(object.wrapping_sub(DESCRIPTOR)).ok().map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_no_descriptors() {
        assert_eq!(descriptor_number(descriptor_object(5)), Some(5));
        assert_eq!(descriptor_number(5), None);
        assert_eq!(descriptor_number(0x7fff_ffff_f000), None);
        assert_eq!(descriptor_number(u64::MAX), None);
    }
}
