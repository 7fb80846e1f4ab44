//! One line of `norn dump --format json`, and a short form of it to compare.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de::Visitor};
use serde_json::Value;

/// One event.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Event {
    pub(crate) thread: String,
    pub(crate) index: u64,
    pub(crate) op: String,
    pub(crate) object: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) value: Option<Number>,
    pub(crate) site: Option<Site>,
    pub(crate) seq: Option<u64>,
    pub(crate) other: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) how: Option<String>,
    pub(crate) error: Option<i64>,
    pub(crate) woken: Option<Value>,
    pub(crate) ordering: Option<String>,
    pub(crate) old: Option<Number>,
    pub(crate) new: Option<Number>,
    pub(crate) volatile: Option<bool>,
    pub(crate) class: Option<String>,
    pub(crate) detail: Option<u64>,
    pub(crate) nanoseconds: Option<u64>,
    pub(crate) signal: Option<u64>,
    pub(crate) status: Option<i64>,
    pub(crate) process: Option<u64>,
    pub(crate) done: Option<bool>,
    pub(crate) serial: Option<bool>,
    pub(crate) rmw: Option<String>,
    pub(crate) seen: Option<Number>,
    pub(crate) expected: Option<Number>,
    /// The call stack, innermost first; for `begin`, an address.
    #[serde(default)]
    stack: Value,
}

/// A place in the code.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Site {
    pub(crate) function: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u64>,
}

/// A value of up to 16 bytes: a number, or a text where it does not fit one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u128);

impl Event {
    pub(crate) fn parse(line: &str) -> Event {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
    }

    /// The variable, without the field or element of it.
    pub(crate) fn variable(&self) -> &str {
        let object = self.object.as_deref().unwrap_or_default();
        object.split(['.', '[', '+', ' ']).next().unwrap_or_default()
    }

    /// Whether it is a synchronization event: neither a plain access nor an allocation.
    pub(crate) fn is_sync(&self) -> bool {
        !["read", "write", "alloc", "free", "map", "unmap"].contains(&&*self.op)
    }

    /// The same, without operations of libraries on unnamed objects of their own, such as the unwinder's.
    pub(crate) fn is_own_sync(&self) -> bool {
        self.is_sync() && (self.object.is_some() || !self.op.starts_with("once"))
    }

    pub(crate) fn is(&self, op: &str, variable: &str) -> bool {
        self.op == op && self.variable() == variable
    }

    /// The function in which it happened.
    pub(crate) fn site_function(&self) -> &str {
        self.site.as_ref().and_then(|it| it.function.as_deref()).unwrap_or_default()
    }

    /// The subject's functions on its call stack, the innermost first.
    pub(crate) fn functions(&self) -> Vec<String> {
        let calls = Vec::<Option<Site>>::deserialize(&self.stack).unwrap_or_default();
        let sites = self.site.iter().cloned().chain(calls.into_iter().flatten());
        let is_own = |file: &String| file.contains("subjects/record");
        sites
            .filter(|it| it.file.as_ref().is_some_and(is_own))
            .filter_map(|it| it.function)
            .collect()
    }

    /// A short form without addresses, sites and numbers that differ from run to run.
    pub(crate) fn short(&self) -> String {
        let mut words = vec![self.op.clone()];
        let texts = [&self.object, &self.other, &self.class, &self.mode, &self.rmw];
        words.extend(texts.into_iter().flatten().cloned());
        words.extend(self.how.clone().filter(|it| it != "waited"));
        if matches!(&*self.op, "read" | "write") {
            words.extend(self.size.map(|it| it.to_string()));
        }
        let (expected, new) = (("expected ", self.expected), ("-> ", self.new));
        for (name, number) in [("", self.value), ("", self.seen), expected, ("", self.old), new] {
            words.extend(number.map(|it| format!("{name}{}", it.0)));
        }
        words.extend(self.ordering.clone());
        let numbers = [self.detail, self.nanoseconds, self.signal, self.process];
        words.extend(numbers.into_iter().flatten().map(|it| it.to_string()));
        words.extend(self.status.map(|it| it.to_string()));
        words.extend(self.woken.as_ref().map(woken_by));
        words.extend(self.error.map(|it| format!("error {it}")));
        for (name, flag) in [("volatile", self.volatile), ("done", self.done)] {
            words.extend(flag.filter(|it| *it).map(|_| name.to_owned()));
        }
        words.join(" ")
    }
}

/// The cause that ended a wait, without the number of the event.
fn woken_by(woken: &Value) -> String {
    match (woken.as_str(), &woken["by"], &woken["one-of"]) {
        (Some(word), ..) => word.to_owned(),
        (_, Value::String(by), _) => format!("by {}", by.split(':').next().unwrap_or_default()),
        (_, _, Value::Number(count)) => format!("one of {count}"),
        _ => format!("error {}", woken["error"]),
    }
}

/// The short forms of events.
pub(crate) fn lines<'a>(events: impl Iterator<Item = &'a Event>) -> String {
    events.map(|it| it.short() + "\n").collect()
}

/// The threads that accessed a variable, by value.
pub(crate) fn writers(events: &[Event], variable: &str) -> BTreeMap<u128, String> {
    let writes = events.iter().filter(|it| it.is("write", variable));
    writes.filter_map(|it| Some((it.value?.0, it.thread.clone()))).collect()
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Number;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number, or one in a text")
            }
            fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
                Ok(Number(value.into()))
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
                let parsed = match text.strip_prefix("0x") {
                    Some(digits) => u128::from_str_radix(digits, 16),
                    None => text.parse(),
                };
                parsed.map(Number).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Any)
    }
}
