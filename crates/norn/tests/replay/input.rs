//! Inputs are recorded by `norn run --record-inputs` and fed back by `norn replay`.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::kit::{Ran, Subject, subject};

const KEEP: [&str; 3] = ["--record-inputs", "--save", "clip.json"];

/// The lines of the program itself.
fn printed(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().collect()
}

/// Checks that several replays have the output of the recorded run.
fn is_always(subject: &Subject, before: &Ran, times: usize) {
    for _ in 0..times {
        let ran = subject.replay("clip.json", &["--timeout", "20"]);
        assert_eq!(printed(&ran), printed(before), "{}", ran.stderr);
        assert!(!ran.stderr.contains("asked for other inputs"), "{}", ran.stderr);
        assert!(ran.stderr.contains("norn: followed: "), "{}", ran.stderr);
    }
}

#[test]
fn random_inputs_are_fed_back() {
    let subject = subject("chance.c");
    let before = subject.run(&KEEP);
    assert_eq!(printed(&before).len(), 2, "{before:?}");
    let other = subject.run(&[]);
    assert_ne!(printed(&other), printed(&before), "a device gave the same twice");
    is_always(&subject, &before, 20);
    let many = subject.replay("clip.json", &["--times", "20"]);
    assert!(many.stdout.contains("20 of 20 runs are the same"), "{many:?}");
}

/// Without `--record-inputs`, inputs are only counted.
#[test]
fn unrecorded_inputs_are_reported() {
    let subject = subject("chance.c");
    // Numbers of a device that libc reads by itself are not replaced.
    subject.edit(
        "    int file = open(device, O_RDONLY);\n    \
         if (read(file, &drawn[0], sizeof drawn[0]) < 0) return NULL;\n    close(file);\n",
        "    FILE *file = fopen(device, \"r\");\n    \
         if (!fread(&drawn[0], 4, 1, file)) return NULL;\n    fclose(file);\n",
    );
    subject.run(&["--save", "clip.json"]);
    let ran = subject.replay("clip.json", &[]);
    assert!(ran.stderr.contains("the program read 2 inputs that norn does not control"), "{ran:?}");
    assert!(ran.stderr.contains("--record-inputs"), "{ran:?}");
}

#[test]
fn an_additional_input_diverges() {
    let subject = subject("chance.c");
    subject.run(&KEEP);
    subject.edit("    close(file);\n", "    if (read(file, &drawn[1], 4) < 4) return NULL;\n");
    let ran = subject.replay("clip.json", &["--timeout", "20"]);
    let said = "norn: T0 asked for other inputs than those of the clip, at its input 1\n  \
                expected  no more\n  actual    read of descriptor 3, 4\n";
    let also = said.replace("T0 ", "T0.1 ");
    assert!(ran.stderr.contains(said) || ran.stderr.contains(&also), "{ran:?}");
    assert_eq!(printed(&ran).len(), 2, "it goes on with what there is: {ran:?}");
}

#[test]
fn another_input_call_diverges() {
    let subject = subject("chance.c");
    subject.run(&KEEP);
    subject.edit("read(file, &drawn[0], sizeof drawn[0])", "read(file, &drawn[0], 12)");
    let ran = subject.replay("clip.json", &["--timeout", "20"]);
    let said = "at its input 0\n  expected  read of descriptor 3, 4\n  \
                actual    read of descriptor 3, 12\n";
    assert!(ran.stderr.contains(said), "{ran:?}");
}

/// Two clients of the server, which do not run during a replay.
fn clients(port: &Path) {
    let begun = Instant::now();
    while !port.exists() {
        assert!(begun.elapsed() < Duration::from_secs(40), "no server");
        thread::sleep(Duration::from_millis(5));
    }
    let port: u16 = fs::read_to_string(port).unwrap().parse().unwrap();
    let call = |said: &str| {
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        client.write_all(said.as_bytes()).unwrap();
        client
    };
    for mut client in ["10", "20"].map(call) {
        // A crashed server does not answer.
        let _ = client.read_to_end(&mut Vec::new());
    }
}

/// Runs the server with its clients, with successive seeds, until it prints this.
fn serve(subject: &Subject, arguments: &[&str], said: &str) -> Ran {
    let port = subject.file("port");
    for seed in 0..40 {
        let _ = fs::remove_file(&port);
        let client = thread::spawn({
            let port = port.clone();
            move || clients(&port)
        });
        let seed = seed.to_string();
        let options = [&KEEP[..], &["--seed", &seed, "--", "./subject"]].concat();
        let ran = subject.norn([&["run"], &options[..], arguments].concat());
        client.join().unwrap();
        if (ran.stderr.clone() + &ran.stdout).contains(said) {
            return ran;
        }
    }
    panic!("no seed gives `{said}`")
}

#[test]
fn a_server_fails_again_without_its_clients() {
    let subject = subject("server.c");
    let before = serve(&subject, &["politely"], "assertion failed: total == 30");
    is_always(&subject, &before, 5);
    let ran = subject.replay("clip.json", &["--timeout", "20"]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    assert!(ran.stderr.contains("assertion failed: total == 30"), "{ran:?}");
    // All of them write the same file.
    let many = subject.replay("clip.json", &["--times", "10", "-j", "1"]);
    assert!(many.stdout.contains("10 of 10 runs are the same"), "{many:?}");
}

#[test]
fn a_server_passes_again_without_its_clients() {
    let subject = subject("server.c");
    let before = serve(&subject, &[], "total 30");
    is_always(&subject, &before, 5);
}

/// A server that sends another answer diverges from the clip, and the answer is not sent.
#[test]
fn an_answer_of_another_length_is_reported() {
    let subject = subject("server.c");
    serve(&subject, &[], "total 30");
    subject.edit(
        "send(client, \"ok\", strlen(\"ok\"), 0) != 2",
        "send(client, \"fine\", strlen(\"fine\"), 0) != 4",
    );
    let ran = subject.replay("clip.json", &["--timeout", "20"]);
    assert!(ran.stderr.contains("expected  send of descriptor"), "{ran:?}");
    assert!(ran.stdout.contains("total 30"), "{ran:?}");
}

#[test]
fn communication_within_the_program_keeps_its_order() {
    let subject = subject("talk.c");
    let before = subject.run(&[&KEEP[..], &["--seed", "3"]].concat());
    assert_eq!(printed(&before).len(), 6, "{before:?}");
    is_always(&subject, &before, 5);
}

/// Runs norn with a text on standard input.
fn given(subject: &Subject, words: &[&str], text: &str) -> Output {
    let mut command = subject.command(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn standard_input_is_recorded() {
    let subject = subject("lines.c");
    let words = [&["run"], &KEEP[..], &["--", "./subject"]].concat();
    let before = given(&subject, &words, "one\ntwo\nthree\n");
    let said = "first one\nthen 10: two\nthree\n";
    assert_eq!(String::from_utf8(before.stdout).unwrap(), said);
    assert_eq!(subject.replay("clip.json", &[]).stdout, said);
    let many = subject.replay("clip.json", &["--times", "3"]);
    assert!(many.stdout.contains("3 of 3 runs are the same"), "{many:?}");
    assert_eq!(given(&subject, &["replay", "clip.json"], "other\n").stdout, said.as_bytes());
}

/// The forced runs of a hunt, and its clips, get the inputs of the first run.
#[test]
fn a_hunt_feeds_back_the_inputs_of_its_first_run() {
    let subject = subject("lottery.c");
    let words = ["hunt", "--record-inputs", "--explore", "0", "-o", "hunt.norn", "--", "./subject"];
    let hunt = subject.norn(words);
    assert_eq!(hunt.status.code(), Some(1), "{hunt:?}");
    assert!(hunt.stdout.contains("assertion failed: total == drawn[0] + drawn[1]"), "{hunt:?}");
    let first = subject.replay("hunt.norn/clips/1.json", &[]);
    assert!(first.stderr.contains("2 of 2 inputs were fed back"), "{first:?}");
    assert_eq!(first.status.code(), Some(1), "{first:?}");
    let again = subject.replay("hunt.norn/clips/1.json", &[]);
    assert_eq!(printed(&again), printed(&first));
}
