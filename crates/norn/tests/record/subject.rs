//! Every subject belongs to a test.

use std::{fs, path::Path};

use crate::kit::subjects;

#[test]
fn every_subject_is_tested() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record");
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let tests: String = fs::read_dir(here).unwrap().map(|it| read(&it.unwrap().path())).collect();
    for entry in fs::read_dir(subjects()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(tests.contains(&format!("\"{name}\"")), "no test uses {name}");
    }
}
