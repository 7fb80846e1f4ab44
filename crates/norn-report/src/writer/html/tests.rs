//! The page without a browser: its data is inert, and complete.

use serde_json::Value;

use super::*;
use crate::{
    Detail, Finding,
    writer::{
        SourceFiles,
        sample::{finding, fix, hunt},
    },
};

#[derive(Debug)]
struct Till;

impl SourceFiles for Till {
    fn root(&self) -> Option<std::path::PathBuf> {
        None
    }

    fn read(&self, file: &str) -> Result<String, String> {
        match file {
            "shop/till.c" => Ok((1..=60)
                .map(|it| format!("line {it}; // </script>"))
                .collect::<Vec<_>>()
                .join("\n")),
            _ => Err("no such file".to_owned()),
        }
    }
}

pub(super) fn page(findings: Vec<Finding>) -> String {
    let details = (0..findings.len()).map(|finding| Detail { finding, also: Vec::new() }).collect();
    let layout = Layout { sources: &Till, ..Layout::default() };
    let mut out = Vec::new();
    Html::new(layout).write(&Report { details, ..hunt(findings) }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let data = page.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_finding_has_both_orders_with_their_values() {
    let data = data(&page(vec![finding()]));
    let entry = &data["entries"][0];
    assert_eq!(entry["title"], "atomicity violation on `till`");
    assert_eq!(entry["consequence"], "assertion failed: till == 3");
    assert_eq!(entry["replay"], "norn replay run.norn/clips/1.json");
    assert_eq!(entry["lanes"], serde_json::json!(["T0.1", "T0.2"]));
    let rows = |order: &str| entry[order]["rows"].as_array().unwrap().clone();
    let steps = |order: &str| rows(order).iter().map(|it| it["step"].as_u64()).collect::<Vec<_>>();
    assert_eq!(steps("failing"), [Some(0), None, Some(1), None, Some(2)]);
    assert_eq!(steps("recorded"), [Some(0), Some(2), None, Some(1), None]);
    assert_eq!(rows("failing")[4]["twin"], 1);
    assert_eq!(entry["failing"]["held"], serde_json::json!([[1, 1, 3, 0]]));
    assert_eq!(data["sources"][0]["parts"][0][0], 3);
}

#[test]
fn another_value_than_in_the_recorded_run_is_marked() {
    let mut found = finding();
    let rows = &mut found.interleaving.as_mut().unwrap().forced;
    rows[0].value = Some(crate::Number(7));
    let data = data(&page(vec![found]));
    let row = &data["entries"][0]["failing"]["rows"][0];
    assert_eq!((&row["value"], &row["other"]), (&"7".into(), &"100".into()));
}

#[test]
fn a_suggested_fix_is_shown_with_what_was_checked() {
    let data = data(&page(vec![Finding { fix: Some(fix()), ..finding() }]));
    let lines = data["entries"][0]["fix"].as_array().unwrap();
    assert_eq!(lines[0].as_str().unwrap(), crate::vocabulary::fix(&fix()));
    assert_eq!(lines.len(), 1 + crate::vocabulary::fix_notes(&fix()).len());
}

#[test]
fn no_text_becomes_markup() {
    let attack = "</script><script>alert(1)</script><!-- {script} \u{2028}&lt;";
    let mut found = finding();
    found.title = attack.to_owned();
    let page = page(vec![found]);
    let scripts = page.matches("<script").count();
    assert_eq!(scripts, 2, "the data, and the script of the page");
    assert!(!page.contains("<!--"));
    assert_eq!(data(&page)["entries"][0]["title"], printable(attack).as_ref());
}

#[test]
fn hashes_are_as_in_the_standard() {
    assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert_eq!(base64(b"ab"), "YWI=");
}
