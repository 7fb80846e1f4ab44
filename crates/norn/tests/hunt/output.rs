//! The text report of a hunt.

use std::fs;

use crate::kit::{norn, norn_hunt, source_folder, subjects};

/// One execution shows the lost update as an atomicity violation and as order violations.
#[test]
fn of_findings_of_one_execution_the_one_that_names_the_bug_best_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let subject = subjects("demo").join("account.c");
    let options = ["--explore", "0", "--"].map(Into::into);
    let ran = norn_hunt(options.into_iter().chain([subject.into_os_string()]), &folder);
    assert!(ran.stdout.starts_with("1. atomicity violation on `account.balance`"), "{ran:?}");
    assert!(ran.stdout.contains("also seen as: order violation"), "{ran:?}");
}

/// One thread checks in one critical section and acts in the next. The recorded run has one action only, so
/// that no more than an order violation is predicted from it.
const SHOP: &str = r"
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1;
static int in_stock(void) {
    pthread_mutex_lock(&lock);
    int some = stock > 0;
    pthread_mutex_unlock(&lock);
    return some;
}
static void take(void) {
    pthread_mutex_lock(&lock);
    assert(stock > 0);
    stock--;
    pthread_mutex_unlock(&lock);
}
static void *customer(void *unused) {
    if (in_stock())
        take();
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, customer, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
";

#[test]
fn a_bug_is_named_by_what_happened() {
    let folder = source_folder("shop.c", SHOP);
    let ran = norn_hunt(["--explore", "0", "shop.c"], &folder);
    let title = "1. atomicity violation on `stock`: another thread's write falls between two reads: \
                 assertion failed: stock > 0\n";
    assert!(ran.stdout.starts_with(title), "{ran:?}");
    assert!(ran.stderr.contains("norn: bug 1: atomicity violation on `stock`"), "{ran:?}");
    for line in [
        "shop.c:8   1 read stock = 1",
        "2 write stock = 0",
        "shop.c:14  3 read stock = 0",
        "it was predicted as: order violation on `stock`",
        "possible fix: hold `lock` in customer from shop.c:19 to 20",
    ] {
        assert!(ran.stdout.contains(line), "{line}: {ran:?}");
    }
}

#[test]
fn the_forced_order_is_shown_beside_the_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let subject = subjects("hunt").join("string_buffer.c");
    let options = ["--explore", "0", "--"].map(Into::into);
    let ran = norn_hunt(options.into_iter().chain([subject.into_os_string()]), &folder);
    let finding = ran.stdout.split("\n\n   the read decides").next().unwrap();
    insta::assert_snapshot!(finding, @r"
    1. atomicity violation on `source.length`: another thread's write falls between two reads: assertion failed: count <= from->length
       T0.1   reads  source.length = 3  length string_buffer.c:25
                     called from append string_buffer.c:39
                     called from appender string_buffer.c:49
                     holding source.lock
       T0.2   writes source.length = 0  eraser string_buffer.c:56
                     holding source.lock
       T0.1   reads  source.length = 3  characters string_buffer.c:32
                     called from append string_buffer.c:40
                     called from appender string_buffer.c:49
                     holding source.lock

      recorded              T0.1                      T0.2
        string_buffer.c:24    lock source.lock
        string_buffer.c:25  1 read source.length = 3
        string_buffer.c:26    unlock source.lock
        string_buffer.c:31    lock source.lock
        string_buffer.c:32  3 read source.length = 3
        string_buffer.c:34    unlock source.lock
                              (ends)
        string_buffer.c:55                              lock source.lock
        string_buffer.c:56                            2 write source.length = 0
        string_buffer.c:58                              unlock source.lock
      forced                T0.1                      T0.2
        string_buffer.c:24    lock source.lock
        string_buffer.c:25  1 read source.length = 3
        string_buffer.c:26    unlock source.lock
                              (forced: T0.2 must write source.length first)
        string_buffer.c:55                              lock source.lock
        string_buffer.c:56                            2 write source.length = 0
        string_buffer.c:58                              unlock source.lock
                                                        (forced: T0.1 must read source.length first)
        string_buffer.c:31    lock source.lock
        string_buffer.c:32  3 read source.length = 0
    ");
}

/// What `norn hunt` says of a small C++ program.
fn hunt_cxx(source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let subject = folder.path().join("hits.cc");
    fs::write(&subject, source).unwrap();
    let options = ["-v", "--explore", "0", "--"].map(Into::into);
    norn_hunt(options.into_iter().chain([subject.into_os_string()]), &folder).stdout
}

/// A lambda is called by five functions of the C++ library.
#[test]
fn functions_of_the_library_are_not_shown() {
    let text = hunt_cxx(
        "#include <thread>\n#include <vector>\nint hits;\nvoid hit() { hits++; }\n\
         int main() {\n  std::vector<std::thread> threads;\n\
         for (int i = 0; i < 2; i++)\n    threads.emplace_back([] { hit(); });\n\
         for (std::thread &it : threads) it.join();\n}\n",
    );
    insta::assert_snapshot!(text.split("\n\n").next().unwrap(), @r"
    1. data race on `hits`
       T0.2   reads  hits = 1  hit hits.cc:4
                     called from main::{lambda}::operator() hits.cc:8
       T0.1   writes hits = 1  hit hits.cc:4
                     called from main::{lambda}::operator() hits.cc:8
    ");
}

#[test]
fn findings_with_the_same_text_are_shown_once() {
    let text = hunt_cxx(
        "#include <thread>\nint hits;\nint main() {\n\
         std::thread one([] { hits++; }), two([] { hits++; });\n  one.join();\n  two.join();\n}\n",
    );
    let harmless = text.split("without visible harm:\n").nth(1).unwrap();
    let ends = harmless.lines().next().unwrap().split(" | ").last().unwrap();
    insta::assert_snapshot!(ends, @"write main::{lambda}::operator() hits.cc:4, 2 times: norn replay run.norn/clips/4.json");
}

/// A text that becomes shorter between two reads: an atomicity violation and an order violation.
#[test]
fn findings_of_one_bug_are_reported_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let subject = subjects("hunt").join("string_buffer.c").into_os_string();
    let options = ["--explore", "0", "--"].map(Into::into);
    let text = norn_hunt(options.into_iter().chain([subject]), &folder).stdout;
    assert_eq!(text.lines().filter(|it| it.starts_with("1. ")).count(), 1, "{text}");
    assert_eq!(text.lines().filter(|it| it.starts_with("2. ")).count(), 0, "{text}");
    assert!(text.contains("\n   also seen as: order violation (run.norn/clips/"), "{text}");
    assert!(text.contains("1 bug, shown by 2 findings; "), "{text}");
}

#[test]
fn json_has_all_findings_the_worst_first() {
    let hunt = crate::kit::hunt(&subjects("hunt").join("account.c"), 0);
    let worth = |it: &serde_json::Value| match (it["harmful"] == true, it["status"] == "confirmed")
    {
        (true, _) if it["consequence"] != "none" => 0,
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 3,
    };
    assert!(hunt.findings().is_sorted_by_key(worth), "{:#?}", hunt.findings());
    let failing = |it: &&serde_json::Value| it["consequence"] != "none";
    let groups: Vec<_> = hunt.harmful().filter(failing).map(|it| &it["bug"]).collect();
    assert!(groups.len() > 1 && groups.iter().all(|it| **it == 1), "{groups:?}");
    let harmless = hunt.findings().iter().filter(|it| it["harmful"] == false);
    assert!(harmless.into_iter().all(|it| it["bug"].is_null()));
    for seen in hunt.observed().iter().filter_map(|it| it["finding"].as_u64()) {
        assert!(seen < hunt.findings().len() as u64);
    }
}

#[test]
fn json_has_the_recorded_and_the_forced_order() {
    let hunt = crate::kit::hunt(&subjects("hunt").join("string_buffer.c"), 0);
    let orders = &hunt.harmful().next().unwrap()["interleaving"];
    let order = |name: &str| {
        let steps = orders[name].as_array().unwrap().iter().filter_map(|it| it["step"].as_u64());
        steps.collect::<Vec<_>>()
    };
    assert_eq!(order("recorded"), [0, 2, 1]);
    assert_eq!(order("forced"), [0, 1, 2]);
    let last = orders["forced"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["value"], &last["at"]["line"]), (&0.into(), &32.into()));
}

/// The last line of a finding replays it, also if the hunt compiled the program.
#[test]
fn a_finding_can_be_replayed() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(subjects("hunt").join("string_buffer.c"), folder.path().join("buffer.c")).unwrap();
    for _ in 0..2 {
        let ran = norn_hunt(["--explore", "0", "buffer.c"], &folder);
        let again = ran.stdout.lines().find_map(|it| it.strip_prefix("   reproduce: norn replay "));
        let replayed = norn("replay", again, &folder);
        assert_eq!(replayed.code, Some(1), "{ran:?} {replayed:?}");
    }
}

#[test]
fn a_folder_that_is_not_a_trace_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(subjects("hunt").join("string_buffer.c"), folder.path().join("buffer.c")).unwrap();
    let ran = norn_hunt(["-o", ".", "buffer.c"], &folder);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Two threads write a long block, of which not every byte is analyzed.
const LONG_BLOCK: &str = r"
#include <pthread.h>
#include <string.h>
static char page[4096];
static volatile size_t length = sizeof page;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *fill(void *unused) {
    pthread_mutex_lock(&lock);
    memset(page, 1, length);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, fill, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
";

#[test]
fn omitted_accesses_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("long.c"), LONG_BLOCK).unwrap();
    let hunted = norn_hunt(["--explore", "0", "long.c"], &folder);
    let predicted = norn("predict", ["run.norn"], &folder);
    let said = "not looked at:\n  some bytes of large blocks, in 2 accesses to them\n";
    for ran in [&hunted, &predicted] {
        assert!(ran.stdout.ends_with(said), "{ran:?}");
    }
    let json = norn("predict", ["--format", "json", "run.norn"], &folder).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["not_looked_at"]["sampled"], 2);
}
