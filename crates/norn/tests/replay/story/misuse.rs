//! Explanations of misused locks and descriptors: both places are named.

use serde_json::json;

use super::explained;

#[test]
fn a_thread_that_locks_twice_waits_for_itself() {
    let text = explained(
        "self_lock.c",
        &[],
        &[("T0", json!({"before": "join"})), ("T0.1", json!("blocks"))],
    );
    insta::assert_snapshot!(text, @r"
    norn: lock misuse: lock by the thread that already holds it

      T0.1  waits for lock, which it holds itself, at again self_lock.c:7
              called by twice self_lock.c:12
      T0.1  locked it at twice self_lock.c:11

      the last events         T0           T0.1
                              begins
        main self_lock.c:18   create T0.1
                                           begins
        twice self_lock.c:11               lock lock
    ");
}

#[test]
fn a_thread_ends_with_a_lock() {
    let text = explained(
        "left_locked.c",
        &[],
        &[("T0", json!({"before": "join"})), ("T0.1", json!("end"))],
    );
    insta::assert_snapshot!(text, @r"
    norn: lock misuse: end of a thread that holds a lock

      T0.1  ended while it held lock
      T0.1  locked it at keep left_locked.c:7

      the last events          T0           T0.1
                               begins
        main left_locked.c:13  create T0.1
                                            begins
        keep left_locked.c:7                lock lock
                                            ends
    ");
}

#[test]
fn a_reader_that_wants_to_write_waits_for_itself() {
    let text = explained("readers.c", &[], &[("T0", json!({"before": "join"}))]);
    insta::assert_snapshot!(text, @r"
    norn: lock misuse: lock by the thread that already holds it

      T0.1  waits for table, which it holds itself, at upgrade readers.c:8
      T0.1  locked it at upgrade readers.c:7

      the last events        T0           T0.1
                             begins
        main readers.c:15    create T0.1
        main readers.c:15    create t2
                                          begins
        upgrade readers.c:7               lock table
    ");
}

#[test]
fn a_lock_is_destroyed_while_it_is_locked() {
    let text = explained("destroyed.c", &["unlock", "locked"], &[]);
    insta::assert_snapshot!(text, @r"
    norn: lock misuse: destruction of an object in use

      T0.1  destroyed mutex, which is in use, at destroy destroyed.c:18
              called by end destroyed.c:57
      T0    locked it at main destroyed.c:67

      the last events           T0                                          T0.1
                                begins
        main destroyed.c:63     init barrier
        main destroyed.c:64     init semaphore
        main destroyed.c:65     alloc 40 bytes
        main destroyed.c:65     write in_allocated_block = 0x…
        main destroyed.c:66     read in_allocated_block = 0x…
        main destroyed.c:66     init pthread_mutex_t of in_allocated_block
        main destroyed.c:67     read subject+0x… = 0x…
        main destroyed.c:67     lock mutex
        main destroyed.c:68     create T0.1
                                                                            begins
        destroy destroyed.c:18                                              destroy mutex
    ");
}

#[test]
fn a_descriptor_is_closed_twice() {
    let text = explained("closed.c", &["close"], &[("T0", json!({"before": "join"}))]);
    insta::assert_snapshot!(text, @r"
    norn: close of a descriptor that another thread closed

      T0.1  closed descriptor 4, which is already closed, at work closed.c:13
      T0    closed it at main closed.c:24

      the last events     T0                  T0.1
                          begins
        main closed.c:20  write action = 'c'
        main closed.c:21  create T0.1
        main closed.c:22  sleep
        main closed.c:23  read ends[0] = 3
        main closed.c:23  close descriptor 3
        main closed.c:24  read ends[1] = 4
        main closed.c:24  send channel 1
        main closed.c:24  close descriptor 4
                                              begins
        work closed.c:11                      read action = 'c'
        work closed.c:12                      read action = 'c'
        work closed.c:13                      read action = 'c'
        work closed.c:13                      read ends[1] = 4
        work closed.c:13                      close descriptor 4
    ");
}

#[test]
fn a_closed_descriptor_is_used() {
    let text = explained("closed.c", &["write"], &[("T0", json!({"before": "join"}))]);
    insta::assert_snapshot!(text, @r"
    norn: use of a descriptor after another thread closed it

      T0.1  used descriptor 4, which is closed, at work closed.c:11
      T0    closed it at main closed.c:24

      the last events     T0                  T0.1
                          begins
        main closed.c:20  write action = 'w'
        main closed.c:21  create T0.1
        main closed.c:22  sleep
        main closed.c:23  read ends[0] = 3
        main closed.c:23  close descriptor 3
        main closed.c:24  read ends[1] = 4
        main closed.c:24  send channel 1
        main closed.c:24  close descriptor 4
                                              begins
        work closed.c:11                      read action = 'w'
        work closed.c:11                      read ends[1] = 4
        work closed.c:11                      use descriptor 4
    ");
}

#[test]
fn a_descriptor_is_closed_during_a_call() {
    let schedule = [("T0", json!({"before": "sleep"})), ("T0.1", json!("blocks"))];
    let text = explained("closed.c", &["read"], &schedule);
    insta::assert_snapshot!(text, @r"
    norn: close of a descriptor that another thread uses

      T0    closed descriptor 3, which is in use, at main closed.c:23
      T0.1  uses it at work closed.c:12

      the last events     T0                  T0.1
                          begins
        main closed.c:20  write action = 'r'
        main closed.c:21  create T0.1
                                              begins
        work closed.c:11                      read action = 'r'
        work closed.c:12                      read action = 'r'
        work closed.c:12                      read ends[0] = 3
        work closed.c:12                      use descriptor 3
        main closed.c:22  sleep
        main closed.c:23  read ends[0] = 3
        main closed.c:23  close descriptor 3
    ");
}
