//! Diagnostics are shown at their location, with a hint.

use norn_property::{Diagnostic, File};

/// All diagnostics of a file.
fn diagnostics(text: &str) -> String {
    let diagnostics = match File::parse(text) {
        Ok(file) => file.warnings,
        Err(diagnostics) => diagnostics,
    };
    diagnostics.iter().map(|it: &Diagnostic| it.show("property.norn", text).to_string()).collect()
}

/// All diagnostics of a property with two events and this pattern.
fn pattern(pattern: &str) -> String {
    diagnostics(&format!(
        "P(c) {{\n  event auth: call auth(c)\n  event use: call use(c)\n  pattern: {pattern}\n}}\n"
    ))
}

#[test]
fn two_bars_between_actions_are_reported() {
    let text = diagnostics("P(c) {\n  event e: call f(c) || call g(c)\n  pattern: e e\n}");
    assert!(text.contains("= hint: one `|` separates the actions of an event"), "{text}");
}

#[test]
fn a_correct_property_has_no_diagnostics() {
    assert_eq!(pattern("use auth"), "");
}

#[test]
fn unknown_names_are_reported() {
    insta::assert_snapshot!(pattern("usse auth"), @r"
    error: there is no event `usse`
     --> property.norn:4:12
      |
    4 |   pattern: usse auth
      |            ^^^^
      = hint: did you mean `use`?
    ");
    insta::assert_snapshot!(diagnostics("P(conn) {\n\tevent a: call f(_, con)\n\tpattern: a\n}"), @r"
    error: there is no parameter `con`
     --> property.norn:2:21
      |
    2 | 	event a: call f(_, con)
      | 	                   ^^^
      = hint: did you mean `conn`?
    ");
    insta::assert_snapshot!(diagnostics("P(c) {\n  event a: cal f(c)\n  event b: wait x\n  pattern: a b\n}"), @r"
    error: expected an action, found `cal`
     --> property.norn:2:12
      |
    2 |   event a: cal f(c)
      |            ^^^
      = hint: did you mean `call`?
    error: expected an action, found `wait`
     --> property.norn:3:12
      |
    3 |   event b: wait x
      |            ^^^^
      = hint: one of call, return, read, write, lock, unlock, alloc, free, mark, region
    ");
}

#[test]
fn missing_parts_are_reported() {
    insta::assert_snapshot!(diagnostics(""), @r"
    error: there is no property in this file
     --> property.norn:1:1
      |
    1 | 
      | ^
      = hint: `Name(parameter) { event ... pattern: ... }`
    ");
    insta::assert_snapshot!(diagnostics("P {"), @r"
    error: expected `(`, found `{`
     --> property.norn:1:3
      |
    1 | P {
      |   ^
      = hint: a property without parameters is `Name() { ... }`
    ");
    insta::assert_snapshot!(diagnostics("P() {\n  event a: call f\n}"), @r"
    error: expected `event` or `pattern`, found `}`
     --> property.norn:3:1
      |
    3 | }
      | ^
      = hint: a property is a list of `event NAME: ...`, then `pattern: ...`
    ");
    insta::assert_snapshot!(diagnostics("P() {\n  event a: call f\n  pattern: a"), @r"
    error: the file ends where an event, an operator or `}` should be
     --> property.norn:3:13
      |
    3 |   pattern: a
      |             ^
      = hint: the pattern is the last part of a property; operators are ? * + | ! && || and ( )
    ");
    insta::assert_snapshot!(diagnostics("P() {\n  event a call f\n  pattern: a b\n}"), @r"
    error: expected `:`, found `call`
     --> property.norn:2:11
      |
    2 |   event a call f
      |           ^^^^
    ");
    insta::assert_snapshot!(diagnostics("P(v) {\n  event a: write v if value = 0\n  pattern: a a\n}"), @r"
    error: expected ==, !=, <, <=, > or >=, found `=`
     --> property.norn:2:29
      |
    2 |   event a: write v if value = 0
      |                             ^
      = hint: to compare, write `==`
    ");
    insta::assert_snapshot!(pattern("use (auth"), @r"
    error: expected `)`, found `}`
     --> property.norn:5:1
      |
    5 | }
      | ^
    ");
}

#[test]
fn invalid_patterns_are_reported() {
    insta::assert_snapshot!(pattern("auth* use?"), @r"
    error: this pattern is met when nothing happens
     --> property.norn:4:12
      |
    4 |   pattern: auth* use?
      |            ^^^^^^^^^^
      = hint: at least one event must be neither optional nor negated
    ");
    insta::assert_snapshot!(pattern("use !auth"), @r"
    error: nothing comes behind this `!`
     --> property.norn:4:16
      |
    4 |   pattern: use !auth
      |                ^^^^^
      = hint: what must not happen needs an event behind it: `a !b c`
    ");
    insta::assert_snapshot!(pattern("!(auth | (use auth))"), @r"
    error: `!` stands before an event, a choice of events, or a sequence of events
     --> property.norn:4:12
      |
    4 |   pattern: !(auth | (use auth))
      |            ^^^^^^^^^^^^^^^^^^^^
      = hint: `!a` and `!(a | b)`: neither comes in between; `!(a b c)`: they come in another order
    ");
}

#[test]
fn invalid_parallel_patterns_are_reported() {
    insta::assert_snapshot!(pattern("use auth || use || auth"), @r"
    error: beside something longer, only one single event can happen at the same time
     --> property.norn:4:12
      |
    4 |   pattern: use auth || use || auth
      |            ^^^^^^^^^^^^^^^^^^^^^^^
      = hint: split the property: `a b || c` and `c || d`
    ");
    insta::assert_snapshot!(pattern("use || auth*"), @r"
    error: this pattern is met when nothing happens
     --> property.norn:4:19
      |
    4 |   pattern: use || auth*
      |                   ^^^^^
      = hint: at least one event must be neither optional nor negated
    ");
    insta::assert_snapshot!(pattern("use(t1) auth(t2) || auth(t1)"), @r"
    error: `t1` cannot take part in two things that happen at the same time
     --> property.norn:4:12
      |
    4 |   pattern: use(t1) auth(t2) || auth(t1)
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = hint: another name is another thread: `a(t1) || b(t2)`
    ");
    insta::assert_snapshot!(pattern("use (auth || use)"), @r"
    error: `||` cannot be inside parentheses
     --> property.norn:4:22
      |
    4 |   pattern: use (auth || use)
      |                      ^^
      = hint: it stands between the parts of the whole pattern: `a(t1) || b(t2)`
    ");
}

#[test]
fn invalid_attributes_are_reported() {
    insta::assert_snapshot!(pattern("use(auth)"), @r"
    error: `auth` is an event, not a thread
     --> property.norn:4:16
      |
    4 |   pattern: use(auth)
      |                ^^^^
      = hint: for a group of events put a blank before the parenthesis
    ");
    insta::assert_snapshot!(pattern("use(t1,<r1) auth(t1)"), @r"
    error: the region `r1` has only one edge, or ends before it begins
     --> property.norn:4:12
      |
    4 |   pattern: use(t1,<r1) auth(t1)
      |            ^^^^^^^^^^^^^^^^^^^^
      = hint: `begin(t1,<r1) ... end(t1,>r1)`
    warning: all events are of one thread, whose order never changes
     --> property.norn:4:12
      |
    4 |   pattern: use(t1,<r1) auth(t1)
      |            ^^^^^^^^^^^^^^^^^^^^
      = hint: another name is another thread: `a(t1) b(t2)`
    ");
    insta::assert_snapshot!(pattern("use(t1,<r1) auth(t2,>r1)"), @r"
    error: one thread begins and ends the region `r1`
     --> property.norn:4:12
      |
    4 |   pattern: use(t1,<r1) auth(t2,>r1)
      |            ^^^^^^^^^^^^^^^^^^^^^^^^
    ");
}

#[test]
fn too_large_patterns_are_reported() {
    insta::assert_snapshot!(pattern("use auth+?"), @r"
    error: one of ?, * and + is enough
     --> property.norn:4:21
      |
    4 |   pattern: use auth+?
      |                     ^
      = hint: `(a+)?` is `a*`
    ");
    insta::assert_snapshot!(pattern("(use use use use use use) && (auth auth auth auth auth)"), @r"
    error: this pattern can be met in more than 256 ways
     --> property.norn:4:12
      |
    4 |   pattern: (use use use use use use) && (auth auth auth auth auth)
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = hint: split the property into several
    ");
    assert!(pattern(&"(".repeat(100_000)).contains("this is nested too deep"));
    assert!(pattern(&"!".repeat(100_000)).contains("this is nested too deep"));
    insta::assert_snapshot!(pattern("use auth; use"), @r"
    error: expected an event, an operator or `}`, found `;`
     --> property.norn:4:20
      |
    4 |   pattern: use auth; use
      |                    ^
      = hint: the pattern is the last part of a property; operators are ? * + | ! && || and ( )
    ");
}

#[test]
fn unintended_properties_are_reported() {
    insta::assert_snapshot!(pattern("use"), @r"
    warning: the pattern does not use `auth`
     --> property.norn:2:9
      |
    2 |   event auth: call auth(c)
      |         ^^^^
    warning: one event is enough to meet this pattern, in whatever order
     --> property.norn:4:12
      |
    4 |   pattern: use
      |            ^^^
    ");
    insta::assert_snapshot!(pattern("use(t1) auth(t1)"), @r"
    warning: all events are of one thread, whose order never changes
     --> property.norn:4:12
      |
    4 |   pattern: use(t1) auth(t1)
      |            ^^^^^^^^^^^^^^^^
      = hint: another name is another thread: `a(t1) b(t2)`
    ");
    insta::assert_snapshot!(diagnostics("P(c, d) {\n  event a: call f(c)\n  event a: call g(c) | call h\n  pattern: a a\n}"), @r"
    error: no event binds `d`
     --> property.norn:1:6
      |
    1 | P(c, d) {
      |      ^
      = hint: an event binds it like this: `call f(d)`
    error: there is another event `a`
     --> property.norn:3:9
      |
    3 |   event a: call g(c) | call h
      |         ^
      = hint: one event may be several things: `event e: call f(c) | call g(c)`
    error: all that `a` may be must bind the same parameters
     --> property.norn:3:9
      |
    3 |   event a: call g(c) | call h
      |         ^
    ");
}

#[test]
fn every_property_is_parsed() {
    insta::assert_snapshot!(diagnostics("A() {\n  pattern: x\n}\nB() {\n  event b: call b\n  pattern: y\n}\nB() {\n  event b: call b\n  pattern: b b\n}\nC() {\n  event b: read x if result == 1\n  pattern: b b }\n"), @r"
    error: there is no event `x`
     --> property.norn:2:12
      |
    2 |   pattern: x
      |            ^
      = hint: no event is declared
    error: there is no event `y`
     --> property.norn:6:12
      |
    6 |   pattern: y
      |            ^
      = hint: declared are b
    error: only a `return` has a result
      --> property.norn:13:22
       |
    13 |   event b: read x if result == 1
       |                      ^^^^^^
    ");
}

#[test]
fn no_text_makes_the_parser_panic() {
    use proptest::prelude::*;
    let words = prop::sample::select(vec![
        "P", "(", ")", "{", "}", "event", "pattern", ":", "a", "b", "call", "read", "!", "*", "+",
        "?", "|", "||", "&&", "(t1)", "(<r1)", "->", "if", "value", "==", "-1", "\"", "\n", "é",
        ",",
    ]);
    proptest!(|(words in prop::collection::vec(words, 0..40))| {
        let text = words.join(" ");
        diagnostics(&text);
        diagnostics(&format!("P(a) {{ event a: {text} event b: read a pattern: a b }}"));
        let property = format!("P(a) {{ event a: call f(a) event b: read a pattern: {text} }}");
        diagnostics(&property);
    });
}
