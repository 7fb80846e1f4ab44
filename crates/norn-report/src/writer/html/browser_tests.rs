//! The page in a browser.

use std::fs;

use norn_e2e::{browser::Browser, tool::is_installed};
use tempfile::TempDir;

use super::tests::page;
use crate::{
    Action, Finding,
    writer::sample::{finding, row},
};

/// Opens a page with some findings; nothing if there is no browser.
fn open(findings: Vec<Finding>) -> Option<(Browser, TempDir)> {
    if !is_installed("chromium") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    fs::write(&file, page(findings)).unwrap();
    Some((Browser::open(&file, folder.path(), (1400, 1000)), folder))
}

/// A bug, and a data race on another variable.
fn two() -> Vec<Finding> {
    let race = Finding {
        class: norn_model::BugClass::Race,
        name: "data race".to_owned(),
        title: "data race on `stock`".to_owned(),
        bug: Some(2),
        ..finding()
    };
    vec![finding(), race]
}

fn text(browser: &mut Browser, selector: &str) -> String {
    let value = browser.evaluate(&format!("document.querySelector({selector:?}).textContent"));
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn the_page_opens_filters_steps_and_copies() {
    let Some((mut browser, _folder)) = open(two()) else { return };
    assert_eq!(text(&mut browser, "#headline"), "atomicity violation on till");
    assert_eq!(text(&mut browser, "#count"), "2 of 2 findings");

    // Steps begin at the first access; the source and the recorded order follow.
    assert_eq!(text(&mut browser, "#position"), "event 1 of 5");
    assert_eq!(text(&mut browser, ".code .now .number"), "12");
    browser.press("ArrowRight");
    browser.press("ArrowRight");
    assert_eq!(text(&mut browser, "#position"), "event 3 of 5");
    assert_eq!(text(&mut browser, ".code .now .number"), "13");
    assert_eq!(text(&mut browser, ".failing .chosen .is").trim(), "write");
    assert_eq!(text(&mut browser, ".failing .chosen .text"), "till");
    assert_eq!(text(&mut browser, ".recorded .twin .text"), "till");
    browser.press("ArrowLeft");
    assert_eq!(text(&mut browser, ".failing .chosen .is").trim(), "lock");
    assert_eq!(text(&mut browser, ".failing .chosen .text"), "m");
    browser.evaluate("document.getElementById('forward').click()");
    assert_eq!(text(&mut browser, "#position"), "event 3 of 5");

    browser.evaluate("document.getElementById('copy').click()");
    let copied = "new Promise(done => setTimeout(() => done(document.getElementById('copy').textContent), 300))";
    assert_eq!(browser.evaluate(copied), "Copied");

    // The keys `/` and `n` lead to the filter and to the next finding.
    browser.press("/");
    for letter in ["s", "t", "o"] {
        browser.press(letter);
    }
    assert_eq!(text(&mut browser, "#count"), "1 of 2 findings");
    browser.press("Escape");
    assert_eq!(text(&mut browser, "#count"), "2 of 2 findings");
    browser.press("n");
    browser.evaluate("new Promise(done => setTimeout(done, 50))");
    assert_eq!(text(&mut browser, "#headline"), "data race on stock");
    let kind = "const it = document.getElementById('kind'); it.value = 'atomicity violation'; \
                it.dispatchEvent(new Event('input'))";
    browser.evaluate(kind);
    assert_eq!(text(&mut browser, "#count"), "1 of 2 findings");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn the_page_is_dark_if_the_system_is() {
    let Some((mut browser, _folder)) = open(two()) else { return };
    let color = "getComputedStyle(document.body).backgroundColor";
    browser.prefer("light");
    assert_eq!(browser.evaluate(color), "rgb(255, 255, 255)");
    browser.prefer("dark");
    assert_eq!(browser.evaluate(color), "rgb(20, 23, 27)");
    browser.evaluate("document.getElementById('theme').click()");
    assert_eq!(browser.evaluate(color), "rgb(255, 255, 255)");
}

#[test]
fn names_of_attackers_are_only_texts() {
    const ATTACK: &str =
        "<img src=x onerror=\"window.hacked=1\"></script><script>window.hacked=1</script>";
    let mut found = finding();
    found.title = format!("data race on {ATTACK}");
    found.variables[0].name = ATTACK.to_owned();
    found.replay.push(ATTACK.to_owned());
    for row in &mut found.interleaving.as_mut().unwrap().forced {
        row.object = Some(ATTACK.to_owned());
    }
    let Some((mut browser, _folder)) = open(vec![found]) else { return };
    browser.press("ArrowRight");
    assert_eq!(text(&mut browser, "#headline"), format!("data race on {ATTACK}"));
    assert_eq!(browser.evaluate("window.hacked === undefined"), true);
    assert_eq!(browser.evaluate("document.images.length"), 0);
    assert_eq!(browser.evaluate("document.scripts.length"), 2);
    assert_eq!(browser.complaints(), [""; 0]);
}

/// The policy of the page, and not only the care of its script, keeps other code out.
#[test]
fn the_policy_refuses_other_scripts() {
    let Some((mut browser, _folder)) = open(vec![finding()]) else { return };
    let inject = "const it = document.createElement('script'); it.textContent = 'window.hacked = 1'; \
                  document.body.append(it); window.hacked === undefined";
    assert_eq!(browser.evaluate(inject), true);
}

#[test]
fn long_stretches_are_folded_and_open() {
    let mut found = finding();
    let rows = &mut found.interleaving.as_mut().unwrap().forced;
    let before = (0..5000).map(|it| row("T0.2", Action::Read, "x", it % 50 + 1, None));
    rows.splice(0..0, before);
    let Some((mut browser, _folder)) = open(vec![found]) else { return };
    let count = "document.querySelectorAll('.failing .row').length";
    assert_eq!(browser.evaluate(count), 9);
    assert!(text(&mut browser, ".failing .fold").contains("4997 events of T0.2"));
    browser.evaluate("document.querySelector('.failing .fold').click()");
    assert_eq!(browser.evaluate(count), 5005);
    assert_eq!(text(&mut browser, "#position"), "event 5001 of 5005");
    browser.press("ArrowLeft");
    assert_eq!(text(&mut browser, "#position"), "event 5000 of 5005");
}

#[test]
fn screen_readers_hear_each_step() {
    let Some((mut browser, _folder)) = open(vec![finding()]) else { return };
    browser.press("ArrowRight");
    assert_eq!(text(&mut browser, "#live"), "T0.2 lock m, till.c:11");
    let active = "document.getElementById('rows-failing').getAttribute('aria-activedescendant')";
    assert_eq!(browser.evaluate(active), "failing-1");
    let unnamed = "[...document.querySelectorAll('input, select, button')].filter(it => \
                   !it.getAttribute('aria-label') && !it.textContent.trim()).length";
    assert_eq!(browser.evaluate(unnamed), 0);
}
