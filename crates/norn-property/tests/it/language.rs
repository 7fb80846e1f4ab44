//! The meaning of properties, as linear patterns over their events.

use std::fmt::Write as _;

use norn_property::{
    File, LinearPattern, Property,
    syntax::{Edge, Item},
};

/// The linear patterns of the only property, one per line; exclusions in brackets, with the event
/// after which they begin.
fn linear_patterns(text: &str) -> String {
    let file = File::parse(text).unwrap_or_else(|it| panic!("{it:#?}"));
    let property = &file.properties[0];
    property.linear_patterns.iter().map(|it| show(property, it) + "\n").collect()
}

fn show(property: &Property, linear: &LinearPattern) -> String {
    let joint = if linear.adjacent { " || " } else { " " };
    let items: Vec<_> = linear.items.iter().map(|it| item(property, it)).collect();
    let mut text = items.join(joint);
    for exclusion in &linear.exclusions {
        let from = exclusion.after.map_or_else(|| "^".to_owned(), |it| it.to_string());
        write!(text, " [{from}-{}: no {}]", exclusion.before, item(property, &exclusion.item))
            .unwrap();
    }
    text
}

fn item(property: &Property, item: &Item) -> String {
    let definition = &property.definition;
    let thread = item.thread.map(|it| definition.threads[it].clone());
    let region = item.region.map(|(edge, it)| {
        format!("{}{}", if edge == Edge::Begin { "<" } else { ">" }, definition.regions[it])
    });
    let attributes: Vec<_> = thread.into_iter().chain(region).collect();
    let name = &definition.events[item.event].name.text;
    if attributes.is_empty() { name.clone() } else { format!("{name}({})", attributes.join(",")) }
}

/// A property with events `a` to `e` and this pattern.
fn pattern(pattern: &str) -> String {
    let events: Vec<_> = "abcde".chars().map(|it| format!("event {it}: call {it}()")).collect();
    linear_patterns(&format!("Test() {{ {} pattern: {pattern} }}", events.join(" ")))
}

#[test]
fn repetition_is_at_most_one_occurrence() {
    insta::assert_snapshot!(pattern("a b* c+ b"), @"a c b");
    insta::assert_snapshot!(pattern("a (b c)+ d?"), @"a b c");
}

#[test]
fn repetition_with_an_exclusion_is_unrolled() {
    insta::assert_snapshot!(pattern("a b* !c d"), @r"
    a b d [1-2: no c]
    a d [0-1: no c]
    ");
    insta::assert_snapshot!(pattern("a (!c b !e)+ d"), @r"
    a b b d [0-1: no c] [1-2: no e] [1-2: no c] [2-3: no e]
    a b d [0-1: no c] [1-2: no e]
    ");
}

#[test]
fn an_exclusion_holds_between_two_events() {
    insta::assert_snapshot!(pattern("!a b"), @"b [^-0: no a]");
    insta::assert_snapshot!(pattern("a !(b | c) d !e a"), @"a d a [0-1: no b] [0-1: no c] [1-2: no e]");
    insta::assert_snapshot!(pattern("a !b !c d"), @"a d [0-1: no b] [0-1: no c]");
}

#[test]
fn another_order_exchanges_two_neighbours() {
    insta::assert_snapshot!(pattern("!(a b c)"), @r"
    b a
    c b
    ");
}

#[test]
fn each_choice_is_a_linear_pattern() {
    insta::assert_snapshot!(pattern("a (b | c) d | e"), @r"
    a b d
    a c d
    e
    ");
}

#[test]
fn conjunctions_are_interleaved_in_all_ways() {
    insta::assert_snapshot!(pattern("(a b) && (a c)"), @r"
    a a b c
    a a c b
    a b a c
    a b c
    a c a b
    a c b
    ");
}

#[test]
fn parallel_events_are_adjacent_in_both_orders() {
    insta::assert_snapshot!(pattern("a(t1) || b(t2)"), @r"
    a(t1) || b(t2)
    b(t2) || a(t1)
    ");
    insta::assert_snapshot!(pattern("(a(t1) | b(t1)) || c(t2)"), @r"
    a(t1) || c(t2)
    b(t1) || c(t2)
    c(t2) || a(t1)
    c(t2) || b(t1)
    ");
}

#[test]
fn longer_parallel_parts_overlap() {
    insta::assert_snapshot!(pattern("a b || c"), @"a c b");
    insta::assert_snapshot!(pattern("a b || c d"), @r"
    a c b d
    a c d b
    c a b d
    c a d b
    ");
    insta::assert_snapshot!(pattern("a+ || b"), @r"
    a || b
    a b a
    b || a
    ");
    insta::assert_snapshot!(pattern("a !d b || !e c"), @"a c b [^-1: no e] [0-2: no d]");
}

#[test]
fn threads_and_regions_are_attributes() {
    insta::assert_snapshot!(pattern("a(t1,<r1) b(t1) c(t2) b(t1) d(t1,>r1)"), @"a(t1,<r1) b(t1) c(t2) b(t1) d(t1,>r1)");
    insta::assert_snapshot!(pattern("a (b)c"), @"a b c");
}

#[test]
fn events_match_actions_of_the_program() {
    let file = File::parse(
        r#"
        // All actions, with realistic names.
        All(c, i, v) {
          event call:   call std::map<int, long *>::insert(c, _, 0x10, ..) | call my_list_*(c)
          event return: return Iterator::operator()(c) -> i if result != null && i > 3
          event read:   read accounts[*].balance as v if value == -1 && plain
          event write:  write v if atomic
          event lock:   lock m | unlock "odd name"
          event heap:   alloc v | free v
          event mark:   mark "auth"(c)
          event region: region begin
          pattern: call | return | read | write | lock | heap | mark | region
        }
        "#,
    );
    let file = file.unwrap();
    let events: Vec<_> =
        file.properties[0].definition.events.iter().map(|it| format!("{:?}", it.actions)).collect();
    insta::assert_snapshot!(events.join("\n"), @r#"
    [Call { function: FunctionPattern("std::map<int, long *>::insert"), arguments: [Parameter(0), Any, Number(Number { magnitude: 16, negative: false })] }, Call { function: FunctionPattern("my_list_*"), arguments: [Parameter(0)] }]
    [Return { function: FunctionPattern("Iterator::operator()"), arguments: [Parameter(0)], result: Parameter(1) }]
    [Memory(Read, Object { name: Some(Glob("accounts[*].balance")), parameter: Some(2) })]
    [Memory(Write, Object { name: None, parameter: Some(2) })]
    [Memory(Lock, Object { name: Some(Glob("m")), parameter: None }), Memory(Unlock, Object { name: Some(Glob("odd name")), parameter: None })]
    [Memory(Alloc, Object { name: None, parameter: Some(2) }), Memory(Free, Object { name: None, parameter: Some(2) })]
    [Mark { name: Glob("auth"), object: Parameter(0) }]
    [Region(Begin)]
    "#);
    let conditions: Vec<_> = file.properties[0]
        .definition
        .events
        .iter()
        .map(|it| format!("{:?}", it.conditions))
        .collect();
    insta::assert_snapshot!(conditions.join("\n"), @r"
    []
    [Compare(Result, Unequal, Number(Number { magnitude: 0, negative: false })), Compare(Parameter(1), Greater, Number(Number { magnitude: 3, negative: false }))]
    [Compare(Value, Equal, Number(Number { magnitude: 1, negative: true })), Plain]
    [Atomic]
    []
    []
    []
    []
    ");
}
