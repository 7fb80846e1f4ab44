//! Harmful findings are replayed before they are reported, and those that do not happen again do not
//! count.

use serde_json::Value;

use crate::kit::{Hunt, hunt_text, norn, norn_hunt, source_folder, subjects};

/// Two threads lose an update of `count`. What follows may depend on `fresh`, which says whether the
/// file `seen` does not exist yet.
fn losing(kind: &str, end: &str) -> String {
    format!(
        "#include <fcntl.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n\
         #include <unistd.h>\nstatic {kind} count;\n\
         static int fresh(void) {{\n  int file = open(\"seen\", O_CREAT | O_EXCL, 0600);\n\
         return file >= 0;\n}}\n\
         static void *add(void *unused) {{\n  int seen = count;\n  count = seen + 1;\n\
         return unused;\n}}\n\
         int main(void) {{\n  pthread_t one, two;\n  pthread_create(&one, 0, add, 0);\n\
         pthread_create(&two, 0, add, 0);\n  pthread_join(one, 0);\n  pthread_join(two, 0);\n\
         {end}\n}}\n"
    )
}

const OPTIONS: [&str; 5] = ["-j1", "--explore", "0", "--format", "json"];

fn hunt(text: &str) -> Hunt {
    Hunt::read(&hunt_text(text, &OPTIONS).0)
}

fn summary<'a>(hunt: &'a Hunt, name: &str) -> &'a Value {
    &hunt.json["summary"][name]
}

/// The first run that loses an update leaves a file, and later ones do not fail any more.
#[test]
fn a_failure_that_depends_on_a_file_is_not_reproducible() {
    let hunt = hunt(&losing("atomic_int", "if (count != 2 && fresh()) abort();\n  return 0;"));
    assert_eq!((hunt.code, hunt.is_clean()), (Some(0), true), "{hunt:?}");
    let [lost] = hunt.observed() else { panic!("{hunt:?}") };
    assert_eq!(lost["consequence"], "abort", "{hunt:?}");
    assert_eq!(lost["not_reproduced"]["consequence"], "none", "{hunt:?}");
    assert!(lost["clip"].as_str().unwrap().ends_with("not-reproduced-1.json"), "{hunt:?}");
    assert_eq!(summary(&hunt, "not_reproducible"), 1);
    assert_eq!(summary(&hunt, "harmful"), 0);
}

/// What the threads do depends on a file, so that the accesses of the finding are gone as well.
#[test]
fn a_finding_whose_events_are_gone_is_not_reproducible() {
    let text = losing("atomic_int", "if (count == 1) abort();\n  return 0;");
    let text = text.replace(
        "  int seen = count;",
        "  if (access(\"seen\", F_OK) == 0) return 0;\n  int seen = count;",
    );
    let text = text.replace("abort();", "{ fresh(); abort(); }");
    let hunt = hunt(&text);
    assert_eq!((hunt.code, hunt.is_clean()), (Some(0), true), "{hunt:?}");
    let lost = hunt.findings().iter().chain(hunt.observed());
    assert!(lost.filter(|it| !it["not_reproduced"].is_null()).count() > 0, "{hunt:?}");
}

/// The race itself happens again, so it counts; its failure does not.
#[test]
fn a_race_counts_without_the_failure_that_does_not_happen_again() {
    let hunt = hunt(&losing("int", "if (count != 2 && fresh()) abort();\n  return 0;"));
    assert_eq!(hunt.code, Some(1), "{hunt:?}");
    assert!(hunt.harmful().count() > 0, "{hunt:?}");
    assert!(hunt.harmful().all(|it| it["class"] == "race" && it["consequence"] == "none"));
    let lost = hunt.findings().iter().chain(hunt.observed());
    assert!(lost.filter(|it| !it["not_reproduced"].is_null()).count() > 0, "{hunt:?}");
}

/// The random bytes are read before the threads start, and a file decides, so that the test does not
/// depend on chance.
#[test]
fn uncontrolled_inputs_are_named_as_a_possible_cause() {
    let end = "FILE *file = fopen(\"/dev/urandom\", \"r\");\n  \
               if (!file || fgetc(file) == EOF) return 9;\n  \
               if (count != 2 && fresh()) abort();\n  return 0;";
    let text = "#include <stdio.h>\n".to_owned() + &losing("atomic_int", end);
    let (ran, _folder) = hunt_text(&text, &["-j1", "--explore", "0"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("not reproducible, and therefore not counted:\n"), "{ran:?}");
    assert!(ran.stdout.contains("    the replay followed the schedule, and led to: no failure\n"));
    assert!(ran.stdout.contains("possible cause: the program reads inputs that norn does not"));
    assert!(ran.stdout.contains(" not tried, 1 not reproducible; "), "{ran:?}");
}

/// The id of the process differs from run to run. Here a file decides, so that the test does not depend
/// on the id.
#[test]
fn process_ids_are_named_as_a_possible_cause() {
    let end = "if (getpid() < 1) return 9;\n  if (count != 2 && fresh()) abort();\n  return 0;";
    let text = losing("atomic_int", end);
    let (ran, _folder) = hunt_text(&text, &["-j1", "--explore", "0"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("possible cause: the program asks for the id of its"), "{ran:?}");
    let hunt = hunt(&text);
    let [lost] = hunt.observed() else { panic!("{hunt:?}") };
    assert_eq!(lost["not_reproduced"]["causes"][0], "process-ids", "{hunt:?}");
}

/// A run that nothing predicted is replayed as well.
#[test]
fn an_observed_failure_that_does_not_happen_again_does_not_count() {
    let hunt = hunt(
        "#include <stdlib.h>\n#include <fcntl.h>\nint main(void) {\n  \
                     if (open(\"seen\", O_CREAT | O_EXCL, 0600) >= 0) abort();\n  return 0;\n}\n",
    );
    assert_eq!((hunt.code, hunt.is_clean()), (Some(0), true), "{hunt:?}");
    assert_eq!(hunt.observed().len(), 1, "{hunt:?}");
    assert_eq!(hunt.observed()[0]["not_reproduced"]["consequence"], "none", "{hunt:?}");
}

/// Replays are counted apart: the number of executions says how long the search took.
#[test]
fn each_harmful_finding_is_replayed_once() {
    let hunt = hunt(&losing("int", "return 0;"));
    assert_eq!(summary(&hunt, "replays"), summary(&hunt, "harmful"), "{hunt:?}");
    assert!(summary(&hunt, "replays").as_u64() > Some(0), "{hunt:?}");
    assert_eq!(hunt.first(), Some(2), "{hunt:?}");
}

/// The clips of races without any effect exit with 1 when they are replayed, as do those of races
/// that only the memory model sees, and of blocks that are freed.
#[test]
fn clips_of_races_happen_again() {
    for (kind, name) in
        [("memory", "publish.cc"), ("memory", "reference_count.cc"), ("hunt", "account.c")]
    {
        let folder = tempfile::tempdir().unwrap();
        let source = subjects(kind).join(name);
        let words = OPTIONS.iter().copied().chain([source.to_str().unwrap()]);
        let hunt = Hunt::read(&norn_hunt(words, &folder));
        assert!(hunt.harmful().count() > 0, "{name}: {hunt:?}");
        for race in hunt.harmful() {
            let clip = race["clip"].as_str().unwrap();
            let ran = norn("replay", ["--format", "json", clip], &folder);
            assert_eq!(ran.code, Some(1), "{name}: {ran:?}");
            let run = &ran.json()["run"];
            assert!(run["claim"]["again"] == true || run["consequence"] != "none", "{ran:?}");
        }
    }
}

/// Where both orders look the same, a sentence says why it is a race.
#[test]
fn equal_orders_are_explained() {
    for name in ["publish.cc", "fence.cc", "ring.cc"] {
        let text = std::fs::read_to_string(subjects("memory").join(name)).unwrap();
        explained(&text, "subject.cc");
    }
    // The threads write the same value one after the other, in the recorded run, too.
    let plain = "#include <pthread.h>\nstatic volatile int done;\n\
                 static void *set(void *unused) { done = 1; return unused; }\n\
                 int main(void) {\n  pthread_t one;\n  pthread_create(&one, 0, set, 0);\n  \
                 done = 1;\n  pthread_join(one, 0);\n  return 0;\n}\n";
    explained(plain, "subject.c");
}

fn explained(text: &str, name: &str) {
    let folder = source_folder(name, text);
    let words = ["--explore", "0", "--only", "race", "--format", "json", name];
    let hunt = Hunt::read(&norn_hunt(words, &folder));
    let text = norn_hunt(["--explore", "0", "--only", "race", name], &folder).stdout;
    assert!(hunt.harmful().count() > 0, "{text}");
    let first = hunt.harmful().next().unwrap();
    let orders = &first["interleaving"];
    if orders["recorded"] == orders["forced"] {
        let reasons = ["so nothing orders the two accesses", "so they race in both runs"];
        assert!(reasons.iter().any(|it| text.contains(it)), "{text}");
    }
}
