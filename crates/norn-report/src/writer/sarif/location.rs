//! Locations and call stacks.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use norn_model::Location;
use serde_json::{Value, json};

use crate::{vocabulary, writer::source_files::below};

/// The name of the folder that paths are relative to, as services expect it.
pub(super) const ROOT: &str = "%SRCROOT%";

/// Makes locations with paths that are relative to a folder where they can be.
pub(super) struct Locations {
    root: Option<PathBuf>,
}

impl Locations {
    pub(super) fn new(root: Option<PathBuf>) -> Locations {
        Locations { root }
    }

    /// The address of the folder.
    pub(super) fn root_uri(&self) -> Option<String> {
        let root = self.root.as_deref()?.to_str()?;
        Some(format!("file://{}/", encode(root.trim_end_matches('/'))))
    }

    /// A location with a message; nothing if neither file nor function are known.
    pub(super) fn location(&self, at: &Location, message: Option<&str>) -> Option<Value> {
        let mut location = json!({});
        if let Some(file) = &at.file {
            location["physicalLocation"] = json!({ "artifactLocation": self.artifact(file) });
            if let Some(line) = at.line.filter(|it| *it > 0) {
                let mut region = json!({ "startLine": line });
                if let Some(column) = at.column.filter(|it| *it > 0) {
                    region["startColumn"] = column.into();
                }
                location["physicalLocation"]["region"] = region;
            }
        }
        if let Some(function) = &at.function {
            location["logicalLocations"] =
                json!([{ "fullyQualifiedName": function, "kind": "function" }]);
        }
        let known = location.as_object().is_some_and(|it| !it.is_empty());
        if let Some(text) = message {
            location["message"] = json!({ "text": text });
        }
        known.then_some(location)
    }

    /// A call stack.
    pub(super) fn stack(&self, text: &str, frames: &[Location]) -> Value {
        let frame = |at: &Location| {
            let name = vocabulary::place(at);
            let mut frame = json!({});
            if let Some(location) = self.location(at, Some(&name)) {
                frame["location"] = location;
            }
            if let Some(module) = &at.module {
                frame["module"] = module.as_str().into();
            }
            frame
        };
        let frames: Vec<_> = frames.iter().map(frame).collect();
        json!({ "message": { "text": text }, "frames": frames })
    }

    fn artifact(&self, file: &str) -> Value {
        match below(file, self.root.as_deref()) {
            Some(inside) => json!({ "uri": encode(inside), "uriBaseId": ROOT }),
            None if Path::new(file).is_absolute() => {
                json!({ "uri": format!("file://{}", encode(file)) })
            }
            None => json!({ "uri": encode(file) }),
        }
    }
}

/// A path as part of an address.
fn encode(path: &str) -> String {
    let mut text = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(byte.into());
            }
            // Writing to a string does not fail.
            _ => drop(write!(text, "%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_addresses() {
        let locations = Locations::new(Some("/src/me".into()));
        let uri = |file: &str| locations.artifact(file)["uri"].as_str().unwrap().to_owned();
        assert_eq!(uri("/src/me/my code/ä.c"), "my%20code/%C3%A4.c");
        assert_eq!(uri("/usr/include/c++/12/mutex"), "file:///usr/include/c%2B%2B/12/mutex");
        assert_eq!(uri("../x.c"), "../x.c");
        assert_eq!(locations.root_uri().as_deref(), Some("file:///src/me/"));
    }
}
