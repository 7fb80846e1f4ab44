//! The part of JSON Schema that the schema of reports uses.

use serde_json::Value;

/// What a value has that its schema does not allow, with where it is.
pub(crate) fn errors(root: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    check(root, schema, value, "", &mut errors);
    errors
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
    let Some(rules) = schema.as_object() else {
        if schema == &Value::Bool(false) {
            errors.push(format!("{at}: nothing is allowed here"));
        }
        return;
    };
    for (rule, argument) in rules {
        match rule.as_str() {
            "$ref" => {
                let path = argument.as_str().unwrap().strip_prefix('#').unwrap();
                let target = root.pointer(path).unwrap_or_else(|| panic!("no {path}"));
                check(root, target, value, at, errors);
            }
            "type" if !is_type(argument, value) => errors.push(format!("{at}: not {argument}")),
            "const" if argument != value => errors.push(format!("{at}: not {argument}")),
            "enum" if !argument.as_array().unwrap().contains(value) => {
                errors.push(format!("{at}: {value} is not one of {argument}"));
            }
            "minimum" if value.as_f64().is_some_and(|it| it < argument.as_f64().unwrap()) => {
                errors.push(format!("{at}: {value} is below {argument}"));
            }
            "required" if value.is_object() => {
                let names = argument.as_array().unwrap().iter().filter_map(Value::as_str);
                let missing = names.filter(|it| value.get(it).is_none());
                errors.extend(missing.map(|it| format!("{at}: no `{it}`")));
            }
            "properties" => {
                for (name, schema) in argument.as_object().unwrap() {
                    let inner = value.get(name);
                    inner.map(|it| check(root, schema, it, &format!("{at}/{name}"), errors));
                }
            }
            "additionalProperties" => {
                let known =
                    |name: &str| rules.get("properties").is_some_and(|it| it.get(name).is_some());
                for (name, inner) in
                    value.as_object().into_iter().flatten().filter(|it| !known(it.0))
                {
                    check(root, argument, inner, &format!("{at}/{name}"), errors);
                }
            }
            "items" => {
                for (number, inner) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, argument, inner, &format!("{at}/{number}"), errors);
                }
            }
            "anyOf" | "oneOf" => {
                let matches = |it: &&Value| self::errors(root, it, value).is_empty();
                let count = argument.as_array().unwrap().iter().filter(matches).count();
                if count == 0 || rule == "oneOf" && count > 1 {
                    errors.push(format!("{at}: {count} alternatives of {rule} match {value}"));
                }
            }
            "allOf" => argument
                .as_array()
                .unwrap()
                .iter()
                .for_each(|it| check(root, it, value, at, errors)),
            "type" | "const" | "enum" | "minimum" | "required" => {}
            "$schema" | "$defs" | "title" | "description" | "format" | "default" | "pattern"
            | "maximum" => {}
            other => panic!("the schema uses `{other}`, which this does not know"),
        }
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
