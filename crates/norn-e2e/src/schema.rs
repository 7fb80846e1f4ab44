//! The schema of reports, and the part of JSON Schema that it and that of SARIF use.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Map, Value};

/// The published schema of reports.
pub fn published() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The violations of the published schema in a report, with their paths.
pub fn report_errors(report: &Value) -> Vec<String> {
    let schema = published();
    errors(&schema, &schema, report)
}

/// The violations of the published schema in a line of a stream, with their paths.
pub fn line_errors(line: &Value) -> Vec<String> {
    let schema = published();
    errors(&schema, &schema["$defs"]["Line"], line)
}

/// The violations of another schema in a value, with their paths.
pub fn errors_of(schema: &Value, value: &Value) -> Vec<String> {
    errors(schema, schema, value)
}

/// The violations of a schema in a value, with their paths.
fn errors(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(root, schema, value, "", &mut errors);
    errors
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        if schema == &Value::Bool(false) {
            errors.push(format!("{at}: nothing is allowed here"));
        }
        return;
    };
    for (keyword, argument) in keywords {
        for (path, inner_schema, inner) in inner(root, keywords, (keyword, argument), value) {
            check(root, inner_schema, inner, &format!("{at}{path}"), errors);
        }
        errors.extend(complaint(root, (keyword, argument), value).map(|it| format!("{at}: {it}")));
    }
}

/// The parts of a value that a keyword has a schema for, with their paths and these schemas.
fn inner<'a>(
    root: &'a Value,
    keywords: &Map<String, Value>,
    (keyword, argument): (&str, &'a Value),
    value: &'a Value,
) -> Vec<(String, &'a Value, &'a Value)> {
    let members = || value.as_object().into_iter().flatten();
    match keyword {
        "$ref" => {
            let path = argument.as_str().unwrap().strip_prefix('#').unwrap();
            let target = root.pointer(path).unwrap_or_else(|| panic!("no {path}"));
            vec![(String::new(), target, value)]
        }
        "allOf" => {
            let schemas = argument.as_array().unwrap().iter();
            schemas.map(|schema| (String::new(), schema, value)).collect()
        }
        "properties" => members()
            .filter_map(|(name, it)| Some((format!("/{name}"), argument.get(name)?, it)))
            .collect(),
        "additionalProperties" => {
            let known =
                |name: &str| keywords.get("properties").is_some_and(|it| it.get(name).is_some());
            let others = members().filter(|(name, _)| !known(name));
            others.map(|(name, it)| (format!("/{name}"), argument, it)).collect()
        }
        "items" => {
            let items = value.as_array().into_iter().flatten().enumerate();
            items.map(|(number, it)| (format!("/{number}"), argument, it)).collect()
        }
        _ => Vec::new(),
    }
}

/// The violations of a keyword without subschemas.
fn complaint(root: &Value, (keyword, argument): (&str, &Value), value: &Value) -> Option<String> {
    match keyword {
        "type" => (!is_type(argument, value)).then(|| format!("{value} is not {argument}")),
        "const" => (argument != value).then(|| format!("{value} is not {argument}")),
        "enum" => {
            let known = argument.as_array().unwrap().contains(value);
            (!known).then(|| format!("{value} is not one of {argument}"))
        }
        "minimum" => {
            let below = value.as_f64().is_some_and(|it| it < argument.as_f64().unwrap());
            below.then(|| format!("{value} is below {argument}"))
        }
        "minItems" | "maxItems" => {
            let (len, bound) = (value.as_array()?.len() as u64, argument.as_u64().unwrap());
            let wrong = if keyword == "minItems" { len < bound } else { len > bound };
            wrong.then(|| format!("{value} has {len} items; {keyword} is {bound}"))
        }
        "uniqueItems" => {
            let items = value.as_array().filter(|_| argument == &Value::Bool(true));
            let items: Vec<_> = items.into_iter().flatten().map(Value::to_string).collect();
            let unique: BTreeSet<_> = items.iter().collect();
            (unique.len() < items.len()).then(|| format!("{value} has an item twice"))
        }
        "required" => {
            let mut names = argument.as_array().unwrap().iter().filter_map(Value::as_str);
            let missing = names.find(|it| value.is_object() && value.get(it).is_none());
            missing.map(|it| format!("no `{it}`"))
        }
        "anyOf" | "oneOf" => {
            let matches = |it: &&Value| errors(root, it, value).is_empty();
            let count = argument.as_array().unwrap().iter().filter(matches).count();
            let wrong = count == 0 || keyword == "oneOf" && count > 1;
            wrong.then(|| format!("{count} alternatives of {keyword} match {value}"))
        }
        "$ref"
        | "allOf"
        | "properties"
        | "additionalProperties"
        | "items"
        | "$schema"
        | "$id"
        | "$defs"
        | "definitions"
        | "title"
        | "description"
        | "format"
        | "default"
        | "pattern"
        | "maximum" => None,
        other => panic!("the schema uses `{other}`, which this does not know"),
    }
}

fn is_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type `{other}`"),
    };
    wanted.as_array().map_or_else(|| is(wanted), |all| all.iter().any(is))
}
