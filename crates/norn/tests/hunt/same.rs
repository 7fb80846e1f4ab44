//! The same program and options give the same report, byte for byte.

use crate::kit::{norn_hunt, subjects};

#[test]
fn the_same_hunt_has_the_same_report() {
    for name in ["account.c", "linked_list.cc"] {
        let source = subjects("hunt").join(name);
        let [first, second] = [0, 1].map(|_| {
            let folder = tempfile::tempdir().unwrap();
            let source = source.to_str().unwrap();
            let options = ["-j", "2", "--format", "json", "--explore", "4", "--", source];
            let report = norn_hunt(options, &folder).stdout;
            report.replace(folder.path().to_str().unwrap(), "FOLDER")
        });
        assert!(first.contains("\"findings\""), "{first}");
        assert!(first == second, "{name}: {first}\n{second}");
    }
}
