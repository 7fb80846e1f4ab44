//! The table of event kinds: codes and kinds correspond, and access codes decode to class,
//! direction and size.

use norn_abi::{AccessClass, Kind, access_kinds};

#[test]
fn access_kinds_decode_to_class_direction_and_size() {
    for class in [AccessClass::Plain, AccessClass::Volatile, AccessClass::Vptr] {
        for write in [false, true] {
            for log2 in 0..5 {
                let kind = Kind::from_code(Kind::access_code(class, write, log2));
                let kind = kind.expect("an access of this size has a kind");
                assert_eq!(kind.as_access(), Some((class, write, 1 << log2)));
                assert!(matches!(kind, access_kinds!()));
            }
            let wider = Kind::access_code(class, write, 5);
            assert_eq!(Kind::from_code(wider), None);
        }
    }
    assert_eq!(Kind::of_constant::<0x1a>(), Kind::VolatileWrite4);
}

#[test]
fn other_kinds_are_not_accesses() {
    for kind in Kind::ALL {
        assert_eq!(kind.as_access(), None, "{kind:?}");
        assert!(!matches!(kind, access_kinds!()), "{kind:?}");
    }
}

#[test]
fn every_kind_has_a_code_and_no_other_code_a_kind() {
    let known = (0..=u16::MAX).filter_map(|code| Some((code, Kind::from_code(code)?)));
    let mut count = 0;
    for (code, kind) in known {
        assert_eq!(kind.code(), code);
        count += 1;
    }
    assert_eq!(count, Kind::ALL.len() + 30);
}
