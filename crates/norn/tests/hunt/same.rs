//! The same program and options give the same report.

use serde_json::Value;

use crate::kit::{hunt, subjects};

#[test]
fn the_same_hunt_finds_the_same() {
    for name in ["account.c", "linked_list.cc"] {
        let [first, second] = [0, 1].map(|_| hunt(&subjects("hunt").join(name), 4));
        assert_eq!(anywhere(first.json), anywhere(second.json), "{name}");
    }
}

/// Without the names of folders, which differ.
fn anywhere(mut json: Value) -> Value {
    match &mut json {
        Value::Object(fields) => {
            fields.remove("clip");
            fields.values_mut().for_each(|it| *it = anywhere(it.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| *it = anywhere(it.take())),
        _ => {}
    }
    json
}
