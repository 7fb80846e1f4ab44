//! Explanations of memory errors and failed assertions.

use serde_json::json;

use super::explained;

#[test]
fn a_freed_block_is_used() {
    let text = explained(
        "heap_errors.c",
        &[],
        &[("T0", json!({"before": "join"})), ("T0.1", json!("end"))],
    );
    insta::assert_snapshot!(text, @r"
    norn: use after free

      T0    used byte 3 of a freed block of 16 bytes (char[3] of block) at main heap_errors.c:34
      T0.1  freed it at give_back heap_errors.c:16
              called by drop heap_errors.c:23
      T0    allocated it at make heap_errors.c:12
              called by main heap_errors.c:31

      the last events               T0                            T0.1
                                    begins
        main heap_errors.c:30       write error = 1
        make heap_errors.c:12       alloc 16 bytes
        main heap_errors.c:31       write block = 0x…
        main heap_errors.c:32       create T0.1
                                                                  begins
        drop heap_errors.c:20                                     read error = 1
        give_back heap_errors.c:16                                read block = 0x…
        give_back heap_errors.c:16                                free char[16] of block
                                                                  ends
        main heap_errors.c:33       join T0.1
        main heap_errors.c:34       read error = 1
        main heap_errors.c:34       read block = 0x…
    ");
}

#[test]
fn a_block_is_freed_twice() {
    let text = explained(
        "heap_errors.c",
        &["again"],
        &[("T0", json!({"before": "join"})), ("T0.1", json!("end"))],
    );
    insta::assert_snapshot!(text, @r"
    norn: double free

      T0    freed a block of 16 bytes (char[16] of block) for the second time at give_back heap_errors.c:16
              called by main heap_errors.c:35
      T0.1  freed it at give_back heap_errors.c:16
              called by drop heap_errors.c:23
      T0    allocated it at make heap_errors.c:12
              called by main heap_errors.c:31

      the last events               T0                            T0.1
                                    begins
        main heap_errors.c:30       write error = 2
        make heap_errors.c:12       alloc 16 bytes
        main heap_errors.c:31       write block = 0x…
        main heap_errors.c:32       create T0.1
                                                                  begins
        drop heap_errors.c:20                                     read error = 2
        give_back heap_errors.c:16                                read block = 0x…
        give_back heap_errors.c:16                                free char[16] of block
                                                                  ends
        main heap_errors.c:33       join T0.1
        main heap_errors.c:34       read error = 2
        main heap_errors.c:35       read error = 2
        give_back heap_errors.c:16  read block = 0x…
        give_back heap_errors.c:16  free char[16] of block
    ");
}

#[test]
fn a_block_is_too_short() {
    let text = explained(
        "heap_errors.c",
        &["too", "far"],
        &[("T0", json!({"before": "join"})), ("T0.1", json!("end"))],
    );
    insta::assert_snapshot!(text, @r"
    norn: heap access out of bounds

      T0.1  used byte 3 behind a block of 16 bytes at drop heap_errors.c:21
      T0    allocated it at make heap_errors.c:12
              called by main heap_errors.c:31

      the last events          T0                            T0.1
                               begins
        main heap_errors.c:30  write error = 3
        make heap_errors.c:12  alloc 16 bytes
        main heap_errors.c:31  write block = 0x…
        main heap_errors.c:32  create T0.1
                                                             begins
        drop heap_errors.c:20                                read error = 3
        drop heap_errors.c:21                                read block = 0x…
    ");
}

#[test]
fn a_null_pointer() {
    let text = explained(
        "null_pointer.c",
        &[],
        &[("T0", json!({"before": "write in main x2"})), ("T0.1", json!("end"))],
    );
    insta::assert_snapshot!(text, @r"
    norn: signal 11 at look null_pointer.c:13

      T0.1  used a null pointer (0x…) at look null_pointer.c:13
              called by show null_pointer.c:17
            it read account = 0
              T0 wrote 0 there at main null_pointer.c:22

      the last events           T0                 T0.1
                                begins
        main null_pointer.c:22  write account = 0
        main null_pointer.c:23  create T0.1
                                                   begins
        look null_pointer.c:13                     read account = 0
    ");
}

/// The kernel does not say which address that was, and the fault happens in a hook.
#[test]
fn a_pointer_that_no_memory_can_have() {
    let text = explained("wild_pointer.c", &[], &[("T0", json!("blocks")), ("T0.1", json!("end"))]);
    let head: Vec<_> = text.lines().take(3).collect();
    insta::assert_snapshot!(head.join("\n"), @r"
    norn: signal 11 at look wild_pointer.c:11

      T0.1  used 0x…, which it may not access, at look wild_pointer.c:11
    ");
}

#[test]
fn a_failed_assertion() {
    let text = explained(
        "lost_update.c",
        &[],
        &[
            ("T0", json!({"before": "join"})),
            ("T0.1", json!({"after": "read in add"})),
            ("T0.2", json!("end")),
            ("T0.1", json!("end")),
        ],
    );
    insta::assert_snapshot!(text, @r"
    norn: assertion failed: counter == 2

      T0  ended the program at main lost_update.c:19
          it read counter = 1
            T0.1 wrote 1 there at add lost_update.c:11

      the last events          T0                T0.1               T0.2
                               begins
        main lost_update.c:17  create T0.1
        main lost_update.c:17  create T0.2
                                                 begins
        add lost_update.c:10                     read counter = 0
                                                                    begins
        add lost_update.c:10                                        read counter = 0
        add lost_update.c:11                                        write counter = 1
                                                                    ends
        add lost_update.c:11                     write counter = 1
                                                 ends
        main lost_update.c:18  join T0.1
        main lost_update.c:18  join T0.2
        main lost_update.c:19  read counter = 1
        main lost_update.c:19  abort
    ");
}
