//! The heap, mapped pages, and writes to memory that is unmapped afterwards.

use std::process::Command;

use crate::{
    event::Event,
    kit::{norn, record, run, subject, subjects},
};

/// The blocks that were allocated with this size, and whether each was freed later.
fn blocks(events: &[Event], size: u64) -> Vec<(String, bool)> {
    let made =
        events.iter().enumerate().filter(|(_, it)| it.op == "alloc" && it.size == Some(size));
    let freed = |at: usize, address: &Option<String>| {
        events[at..].iter().any(|it| it.op == "free" && it.address == *address)
    };
    made.map(|(at, it)| (it.site_function().to_owned(), freed(at, &it.address))).collect()
}

#[test]
fn allocation() {
    let events = record("heap.c").events();
    for size in (1001..=1009).chain([300_000]) {
        assert_eq!(blocks(&events, size), [("main".to_owned(), true)], "{size}");
    }
    let grown = events.iter().position(|it| it.op == "alloc" && it.size == Some(300_000)).unwrap();
    let before = events[..grown].iter().rfind(|it| it.op == "free").unwrap();
    let small = events.iter().find(|it| it.op == "alloc" && it.size == Some(1003)).unwrap();
    assert_eq!(before.address, small.address);
}

/// A block that could not grow keeps its size.
#[test]
fn a_block_that_cannot_grow_keeps_its_size() {
    let events = record("heap.c").events();
    let made = events.iter().find(|it| it.op == "alloc" && it.size == Some(1010)).unwrap();
    let same = events.iter().filter(|it| it.address == made.address && it.index >= made.index);
    let story: Vec<_> = same.map(|it| (&*it.op, it.size)).collect();
    let end = story.len() - 1;
    assert_eq!(story[end].0, "free");
    assert_eq!(story[end - 1], ("alloc", Some(1010)), "{story:?}");
}

/// Every form of the operators, at the place that called it, and nothing else at these places.
#[test]
fn operators_new_and_delete() {
    let events = record("new_delete.cc").events();
    let own = |it: &&Event| ["alloc", "free"].contains(&&*it.op) && it.site_function() == "main";
    let line = |it: &Event| it.site.as_ref().and_then(|it| it.line).unwrap_or_default();
    // After these lines an exception is freed, by a jump from the library: at a line of the subject.
    let story = events.iter().filter(own).map(|it| (&*it.op, line(it)));
    let story: Vec<_> = story.filter(|(_, line)| *line <= 33).collect();
    let pairs =
        [(14, 15), (16, 17), (18, 19), (20, 21), (22, 24), (25, 26), (27, 28), (29, 30), (31, 33)];
    let expected: Vec<_> =
        pairs.iter().flat_map(|(new, delete)| [("alloc", *new), ("free", *delete)]).collect();
    assert_eq!(story, expected);
}

#[test]
fn mapped_pages() {
    let events = record("map.c").events();
    let all = events
        .iter()
        .filter(|it| it.site_function() == "main" && ["map", "unmap"].contains(&&*it.op));
    let story: Vec<_> = all.map(|it| (&*it.op, it.size.unwrap())).collect();
    assert_eq!(
        story,
        [("map", 8192), ("unmap", 4096), ("unmap", 4096), ("map", 65536), ("unmap", 65536)]
    );
}

#[test]
fn a_page_that_is_unmapped_is_not_touched() {
    record("unmap_pending.c");
    let recorded = record("racing_unmap.c");
    assert_eq!(recorded.written("after"), [2]);
}

#[test]
fn a_page_that_is_protected_is_not_touched() {
    assert_eq!(record("protect.c").written("after"), [1]);
}

#[test]
fn a_write_in_two_pages_has_a_value_unless_one_of_them_is_gone() {
    let recorded = record("two_pages.c");
    assert_eq!(recorded.written("after"), [1, 2]);
    let events = recorded.events();
    let writes = events.iter().filter(|it| it.op == "write" && it.variable() == "two");
    let values: Vec<_> = writes.map(|it| it.value.map(|it| it.0)).collect();
    assert_eq!(values, [Some(5), None]);
}

#[test]
fn a_page_that_is_mapped_over_is_not_touched() {
    assert_eq!(record("remap.c").written("after"), [1]);
}

#[test]
fn the_stack_of_a_joined_thread_is_not_touched() {
    assert_eq!(record("stack_gone.c").written("after"), [2]);
}

#[test]
fn the_top_of_the_heap_is_not_touched_when_it_is_gone() {
    assert_eq!(record("trim.c").written("after"), [2]);
}

/// The C++ library inside of the program: failures to allocate are still exceptions.
#[test]
fn operators_of_a_static_library() {
    subject("new_delete.cc").flags(&["-static-libstdc++"]).record();
}

/// Another allocator may have no header before a block.
#[test]
fn another_allocator_is_supported() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("guarded.so");
    let mut gcc = Command::new("gcc");
    gcc.args(["-shared", "-fPIC"]).arg(subjects().join("guarded_malloc.c")).arg("-o").arg(&library);
    assert!(run(gcc).status.success());
    let program = subject("heap.c").build();
    let preload = format!("LD_PRELOAD={}", library.display());
    let mut alone = Command::new("env");
    alone.arg(&preload).arg(&program);
    let mut recorder = norn(["record", "-o"]);
    recorder.arg(folder.path().join("trace")).args(["--", "env"]).arg(&preload).arg(&program);
    assert_eq!(run(alone), run(recorder));
}
