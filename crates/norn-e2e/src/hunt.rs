//! Reads the JSON report of a hunt, and compares it with what the subject announces.

use serde_json::Value;

use crate::{process::Ran, subject::Announced};

/// The report of a hunt.
#[derive(Clone, Debug)]
pub struct Hunt {
    /// The JSON that the command printed.
    pub json: Value,
    /// The exit status of the command.
    pub code: Option<i32>,
}

impl Hunt {
    /// Reads the output of `norn hunt --format json`.
    #[track_caller]
    pub fn read(ran: &Ran) -> Hunt {
        let json = serde_json::from_str(&ran.stdout);
        let json = json.unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        Hunt { json, code: ran.code }
    }
}

/// How an announced bug was found, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// It was predicted and confirmed.
    Confirmed,
    /// The program failed as announced in a run that was forced to confirm it.
    OnTheWay,
    /// The program failed as announced in an explored run.
    Explored,
    /// It was not found.
    No,
}

impl Hunt {
    /// The findings, with their results.
    pub fn findings(&self) -> &[Value] {
        self.list("findings")
    }

    /// Failures that were not predicted.
    pub fn observed(&self) -> &[Value] {
        self.list("observed")
    }

    /// Failures that were not predicted and are reproducible.
    pub fn reproducible(&self) -> impl Iterator<Item = &Value> {
        self.observed().iter().filter(|it| it["not_reproduced"].is_null())
    }

    /// Findings that are confirmed and harmful.
    pub fn harmful(&self) -> impl Iterator<Item = &Value> {
        self.findings().iter().filter(|it| it["harmful"] == true)
    }

    /// The first execution in which something harmful happened.
    pub fn first(&self) -> Option<u64> {
        first(self.harmful().chain(self.reproducible()))
    }

    /// The first execution that printed something else because of the announced bug.
    pub fn first_output(&self, announced: &Announced) -> Option<u64> {
        let differs = |it: &&Value| it["status"] == "confirmed" && it["other_output"] == true;
        first(self.findings().iter().filter(differs).filter(|it| is_about(it, announced)))
    }

    /// Whether nothing harmful happened.
    pub fn is_clean(&self) -> bool {
        self.harmful().chain(self.reproducible()).next().is_none()
    }

    /// How the announced bug was found.
    pub fn found(&self, announced: &Announced) -> Found {
        let aim = |it: &Value| self.findings().get(usize::try_from(it["finding"].as_u64()?).ok()?);
        let leads = |it: &&Value| announced.is_consequence(&it["consequence"]);
        let on_the_way = |it: &Value| aim(it).is_some_and(|it| is_about(it, announced));
        if !announced.is_failure() {
            let differs = self.first_output(announced).is_some();
            return if differs { Found::Confirmed } else { Found::No };
        }
        if self.harmful().filter(leads).any(|it| is_about(it, announced)) {
            Found::Confirmed
        } else if self.reproducible().filter(leads).any(on_the_way) {
            Found::OnTheWay
        } else if self.reproducible().any(|it| leads(&it)) {
            Found::Explored
        } else {
            Found::No
        }
    }

    fn list(&self, field: &str) -> &[Value] {
        self.json[field].as_array().map_or(&[], Vec::as_slice)
    }
}

/// The first execution that some results name.
fn first<'a>(results: impl Iterator<Item = &'a Value>) -> Option<u64> {
    results.filter_map(|it| it["executions"].as_u64()).min()
}

/// Whether a finding is of the announced class and on one of the announced variables.
fn is_about(finding: &Value, announced: &Announced) -> bool {
    let Some((class, variables)) = &announced.bug else { return true };
    let accesses = finding["accesses"].as_array().into_iter().flatten();
    let mut names = accesses.map(|it| variable(&it["variable"]));
    finding["class"] == class.as_str()
        && names.any(|name| variables.iter().any(|it| name.contains(it.as_str())))
}

/// The name of a variable; of memory, also the function that allocated it.
fn variable(object: &Value) -> String {
    let names = [&object["name"], &object["allocated_at"]["function"]];
    names.iter().filter_map(|it| it.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(json: Value) -> Hunt {
        Hunt { json, code: Some(1) }
    }

    #[test]
    fn a_bug_is_found_by_class_variable_and_consequence() {
        let announced = Announced::read("// Finds: atomic-set on x, y; deadlock").unwrap();
        let found = |class: &str, variable: &str, consequence: &str| {
            let finding = json!({ "class": class, "harmful": true, "executions": 3,
                "accesses": [{ "variable": { "name": variable } }], "consequence": consequence });
            report(json!({ "findings": [finding] })).found(&announced)
        };
        assert_eq!(found("atomic-set", "point.y", "deadlock"), Found::Confirmed);
        assert_eq!(found("race", "point.y", "deadlock"), Found::No);
        assert_eq!(found("atomic-set", "point.z", "deadlock"), Found::No);
        assert_eq!(found("atomic-set", "point.y", "none"), Found::No);
    }

    #[test]
    fn output_that_differs_is_no_failure() {
        let announced = Announced::read("// Finds: order on x; different output").unwrap();
        let found = |differs: bool| {
            let finding = json!({ "class": "order", "status": "confirmed", "other_output": differs,
                "accesses": [{ "variable": { "name": "x" } }], "executions": 2 });
            report(json!({ "findings": [finding] }))
        };
        assert_eq!(found(true).found(&announced), Found::Confirmed);
        assert_eq!(found(true).first_output(&announced), Some(2));
        assert_eq!(found(false).found(&announced), Found::No);
    }

    #[test]
    fn a_failure_in_a_forced_run_is_not_an_explored_one() {
        let announced = Announced::read("// Finds: race on x; hang").unwrap();
        let finding = json!({ "class": "race", "harmful": false, "accesses": [{ "variable": { "name": "x" } }] });
        let observed = |aim: Value| {
            let failure = json!({ "consequence": "livelock", "executions": 9, "finding": aim });
            report(json!({ "findings": [finding.clone()], "observed": [failure] }))
        };
        assert_eq!(observed(json!(0)).found(&announced), Found::OnTheWay);
        assert_eq!(observed(Value::Null).found(&announced), Found::Explored);
        assert_eq!(observed(Value::Null).first(), Some(9));
        assert!(!observed(Value::Null).is_clean());
        let mut once = observed(Value::Null);
        once.json["observed"][0]["not_reproduced"] = json!({ "consequence": "none" });
        assert!(once.is_clean() && once.first().is_none());
    }
}
