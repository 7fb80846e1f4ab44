//! Names with control characters are spelled out, in every command and stream; JSON keeps them.

use std::{fs, path::Path};

use serde_json::Value;

use crate::kit::{Ran, SCHEDULE, folder, norn, program};

/// What a terminal would execute. The last two are allowed in names of RAPID's format as well.
const HOSTILE: [&str; 4] = [
    "a\nnorn: no bugs",
    "\x1b]0;title\x07\x1b[2J",
    "\u{9b}31m\u{90}",
    "x\u{202e}y\u{2066}\u{200b}",
];

/// Fails if a terminal would execute something of the output.
#[track_caller]
fn assert_shown(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let shown = |it: char| it == '\n' || it == '\t' || norn_model::is_printable(it);
        assert!(text.chars().all(shown), "{text:?}");
        assert!(!text.lines().any(|it| it.starts_with("norn: no bugs")), "{text}");
    }
}

/// All strings in a JSON value.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(strings).collect(),
        Value::Object(all) => all.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[test]
fn names_of_imported_traces() {
    for name in &HOSTILE[1..] {
        let text = format!("T{name}|w(x{name})|l{name}\nT{name}|acq(m{name})|2\n");
        let folder = folder("run.std", &text);
        let text = format!("{text}T2{name}|w(x{name})|l{name}\n");
        fs::write(folder.path().join("run.std"), text).unwrap();
        for words in [&["dump", "run.std"][..], &["info", "run.std"], &["predict", "run.std"]] {
            let ran = norn(folder.path(), words);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            assert!(ran.stdout.contains("\\u{"), "{ran:?}");
            assert_shown(&ran);
        }
        let ran = norn(folder.path(), ["info", "--format", "json", "run.std"]);
        assert_shown(&ran);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(json["threads"][0]["name"], format!("T{name}"));
        fs::write(folder.path().join("run.std"), format!("T0|w(x)|1\nT{name}|{name}|1\n")).unwrap();
        let ran = norn(folder.path(), ["info", "run.std"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_shown(&ran);
    }
}

#[test]
fn names_in_the_description_of_a_run() {
    let folder = program("int main(void) { return 0; }");
    let ran = norn(folder.path(), ["record", "-o", "run.norn", "./prog"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let file = folder.path().join("run.norn/run.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    for name in HOSTILE {
        run["command"] = Value::from(vec![name]);
        run["functions"] = serde_json::json!([{ "pattern": name, "found": 1, "inlined": false }]);
        fs::write(&file, run.to_string()).unwrap();
        let ran = norn(folder.path(), ["info", "run.norn"]);
        assert!(ran.stdout.starts_with("command   "), "{ran:?}");
        assert_shown(&ran);
        let ran = norn(folder.path(), ["info", "--format", "json", "run.norn"]);
        assert_shown(&ran);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(json["command"][0], name);
        let ran = norn(folder.path(), ["predict", "--format", "json", "run.norn"]);
        assert_shown(&ran);
        assert_eq!(ran.json()["program"][0], name);
        fs::write(&file, serde_json::json!({ "format": 1, name: 1 }).to_string()).unwrap();
        let ran = norn(folder.path(), ["info", "run.norn"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert_shown(&ran);
    }
}

/// The file, the message of the assertion and the name of the function come from the program.
#[test]
fn names_and_messages_of_a_program() {
    let source = |name: &str| {
        let octal = name.bytes().map(|it| format!("\\{it:03o}")).collect::<Vec<_>>().concat();
        format!(
            r#"#include <pthread.h>
#include <assert.h>
#include <stdint.h>
static int counter;
static void *add(void *arg) {{
#line 7 "{octal}.c"
    int seen = counter;
    counter = seen + 1;
    return arg;
}}
int main(void) {{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], 0, add, 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], 0);
    if (counter != 2) __assert_fail("{octal}", "f{octal}", 3, "g{octal}");
    return 0;
}}
"#
        )
    };
    for name in HOSTILE {
        let folder = program(&source(name));
        let words = ["hunt", "-j2", "--budget", "20", "-o", "run.norn", "./prog"];
        let ran = norn(folder.path(), words);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stdout.contains("assertion failed: "), "{ran:?}");
        assert_shown(&ran);
        for words in [
            &["dump", "--stacks", "run.norn"][..],
            &["info", "run.norn"],
            &["predict", "run.norn"],
            &["dump", "--format", "json", "run.norn"],
            &["hunt", "-j2", "--budget", "20", "--format", "json", "./prog"],
        ] {
            assert_shown(&norn(folder.path(), words));
        }
        let ran = norn(folder.path(), ["dump", "--format", "json", "run.norn"]);
        let lines = ran.stdout.lines().map(|it| serde_json::from_str(it).unwrap());
        let all: Vec<_> = lines.flat_map(|it: Value| strings(&it)).collect();
        assert!(all.iter().any(|it| it.ends_with(&format!("{name}.c"))), "{all:?}");
    }
}

#[test]
fn names_in_clips_and_properties() {
    let folder = program(crate::kit::LOST_UPDATE);
    for name in HOSTILE {
        let text = serde_json::to_string(name).unwrap();
        let clips = [
            format!(r#"{{"norn": 1, {text}: 2, "schedule": []}}"#),
            format!(
                r#"{{"norn": 1, "command": ["./prog"], "schedule": [{{"thread": {text}, "until": "end"}}]}}"#
            ),
            format!(r#"{{"norn": 1, "command": [{text}], "schedule": {SCHEDULE}}}"#),
            format!(
                r#"{{"norn": 1, "command": ["./prog"], "environment": {{"LD_{0}": "x"}}, "schedule": []}}"#,
                text.trim_matches('"')
            ),
        ];
        for clip in clips {
            fs::write(folder.path().join("clip.json"), &clip).unwrap();
            let ran = norn(folder.path(), ["replay", "clip.json"]);
            assert_eq!(ran.code, Some(2), "{clip}: {ran:?}");
            assert_shown(&ran);
        }
        let property = format!("P() {{ event a: call \"{name}\"() pattern: a {name} }}\n{name}");
        fs::write(folder.path().join("p.norn"), property).unwrap();
        let ran = norn(folder.path(), ["property", "lint", "p.norn"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let shown = |it: char| it == '\n' || it == '\t' || norn_model::is_printable(it);
        assert!(ran.stderr.chars().all(shown), "{ran:?}");
    }
}

#[test]
fn names_of_files() {
    for name in HOSTILE {
        let folder = folder(&format!("{name}.json"), "{}");
        for words in [["replay", ""], ["info", ""], ["dump", ""], ["property", "lint"]] {
            let file = format!("{name}.json");
            let words = words.into_iter().filter(|it| !it.is_empty()).chain([&*file]);
            let ran = norn(folder.path(), words);
            assert_eq!(ran.code, Some(2), "{ran:?}");
            let shown = |it: char| it == '\n' || it == '\t' || norn_model::is_printable(it);
            assert!(ran.stderr.chars().all(shown), "{ran:?}");
        }
        assert!(Path::new(&folder.path().join(format!("{name}.json"))).exists());
    }
}
