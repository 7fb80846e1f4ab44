//! The examples of Huang, Luo and Rosu (*Generic predictive concurrency analysis*, ICSE 2015).

use crate::kit::check;

const UNSAFE_ITERATOR: &str = "UnsafeIterator(c, i) {
  event create: return iterator(c) -> i
  event update: call add(c) | call remove(c)
  event next:   call next(i)
  pattern: create next* update+ next
}";

/// Their Figure 2: one of two iterators can be invalidated.
#[test]
fn an_iterator_is_invalidated() {
    let trace = "
        T0 call add(c, A)
        T0 fork T0.1
        T0 call iterator(c)
        T0 return iterator -> i1
        T0 call next(i1)
        T0.1 call add(c, B)
        T0.1 call iterator(c)
        T0.1 return iterator -> i2
        T0.1 call next(i2)
    ";
    insta::assert_snapshot!(check(UNSAFE_ITERATOR, trace), @r"
    2 instances
    (c, i1) can be broken by 4-6-5: 1-2-3-4-6-5, sound
    ");
}

const READ_WRITE_WRITE: &str = "Atomicity(s) {
  event begin: call m
  event read:  read s
  event write: write s
  event end:   return m
  pattern: begin(t1,<r1) read(t1) write(t2) write(t1) end(t1,>r1)
}";

/// Their Figures 4 and 5: `m` reads and writes `s`; one thread calls it twice, the other once.
/// Since `s` is a counter, every interrupted `m` makes a later one read another value than in this
/// run. By their own condition on values this trace therefore proves none of the orders: they are
/// speculative, and only an execution can decide. The next test has no differing values.
#[test]
fn a_method_is_not_atomic() {
    let trace = "
        T0 fork T0.1
        T0 call m()
        T0 r s 0
        T0 w s 1
        T0 return m
        T0.1 call m()
        T0.1 r s 1
        T0.1 w s 2
        T0.1 return m
        T0 call m()
        T0 r s 2
        T0 w s 3
        T0 return m
    ";
    insta::assert_snapshot!(check(READ_WRITE_WRITE, trace), @r"
    1 instances
    (s) can be broken by 2-3-8-4-5: 1-2-3-6-7-8-4-5, speculative
    (s) can be broken by 6-7-4-8-9: 1-2-3-6-7-4-8-9, speculative
    (s) can be broken by 6-7-12-8-9: 1-2-3-4-5-10-11-6-7-12-8-9, speculative
    (s) can be broken by 10-11-8-12-13: 1-2-3-4-5-10-11-6-7-8-12-13, speculative
    ");
}

/// Here `m` writes back the value that it read: no value differs, so all orders are proved.
#[test]
fn a_method_is_not_atomic_whatever_it_reads() {
    let trace = "
        T0 fork T0.1
        T0 call m()
        T0 r s 7
        T0 w s 7
        T0 return m
        T0.1 call m()
        T0.1 r s 7
        T0.1 w s 7
        T0.1 return m
        T0 call m()
        T0 r s 7
        T0 w s 7
        T0 return m
    ";
    insta::assert_snapshot!(check(READ_WRITE_WRITE, trace), @r"
    1 instances
    (s) can be broken by 2-3-8-4-5: 1-2-3-6-7-8-4-5, sound
    (s) can be broken by 6-7-4-8-9: 1-2-3-6-7-4-8-9, sound
    (s) can be broken by 6-7-12-8-9: 1-2-3-4-5-10-11-6-7-12-8-9, sound
    (s) can be broken by 10-11-8-12-13: 1-2-3-4-5-10-11-6-7-8-12-13, sound
    ");
}

/// Here `m` holds a lock. The first `begin` and the second `end` do not form a region.
#[test]
fn a_synchronised_method_is_atomic() {
    let trace = "
        T0 fork T0.1
        T0 call m()
        T0 acq l
        T0 r s 0
        T0 w s 1
        T0 rel l
        T0 return m
        T0.1 call m()
        T0.1 acq l
        T0.1 r s 1
        T0.1 w s 2
        T0.1 rel l
        T0.1 return m
        T0 call m()
        T0 acq l
        T0 r s 2
        T0 w s 3
        T0 rel l
        T0 return m
    ";
    insta::assert_snapshot!(check(READ_WRITE_WRITE, trace), @"1 instances");
}

const DATA_RACE: &str = "DataRace(v) {
  event read:  read v
  event write: write v
  pattern: read(t1) || write(t2)
}";

/// Their Figure 6, on a variable without and one with a lock.
#[test]
fn a_read_and_a_write_at_the_same_time() {
    let trace = "
        T0 fork T0.1
        T0 r s 0
        T0 acq l
        T0 r t 0
        T0 rel l
        T0.1 acq l
        T0.1 w t 1
        T0.1 rel l
        T0.1 w s 1
        T0.1 r s 1
    ";
    insta::assert_snapshot!(check(DATA_RACE, trace), @r"
    2 instances
    (s) can be broken by 9-2: 1-6-7-8-9-2, sound
    (s) can be broken by 2-9: 1-6-7-8-2-9, sound
    ");
}

const NULL_DEREFERENCE: &str = "NullDereference(p) {
  event use:  read map as p
  event null: write map as p if value == null
  pattern: use(t1) || null(t2)
}";

/// Their Figure 10: a pointer is checked and used, and set to null by another thread.
#[test]
fn a_pointer_is_set_to_null() {
    let trace = "
        T0 w map:8 0x100
        T0 fork T0.1
        T0 fork T0.2
        T0.1 r map:8 0x100
        T0.1 r map:8 0x100
        T0.2 w map:8 0
        T0.2 w map:8 0x200
    ";
    insta::assert_snapshot!(check(NULL_DEREFERENCE, trace), @r"
    1 instances
    (map) is broken by 5-6
    (map) can be broken by 6-4: 1-2-3-6-4, sound
    (map) can be broken by 4-6: 1-2-3-4-6, sound
    (map) can be broken by 6-5: 1-2-3-4-6-5, sound
    (map) can be broken by 5-6: 1-2-3-4-5-6, sound
    ");
}

const CHECK_THEN_ACT: &str = "CheckThenAct(m, key) {
  event check: call get(m, key)
  event act:   call remove(m, key)
  pattern: check(t1) act(t2)+ act(t1)
}";

/// Their Figure 12: two threads look up a key and then remove it.
#[test]
fn a_check_is_outdated() {
    let trace = "
        T0 fork T0.1
        T0 call get(m, k)
        T0 call remove(m, k)
        T0.1 call get(m, k)
        T0.1 call remove(m, k)
        T0.1 call get(m, j)
        T0.1 call remove(m, j)
    ";
    insta::assert_snapshot!(check(CHECK_THEN_ACT, trace), @r"
    2 instances
    (m, k) can be broken by 2-5-3: 1-2-4-5-3, sound
    (m, k) can be broken by 4-3-5: 1-2-4-3-5, sound
    ");
}

const UNSAFE_DATABASE: &str = "UnsafeDatabaseAccess(conn, table) {
  event open:   return getConnection -> conn
  event create: call createTable(conn, table)
  event update: call execute(table)
  event delete: call deleteTable(conn, table)
  event close:  call close(conn)
  pattern: !(open create update delete close)
}";

/// Their Figure 11: one thread creates and deletes a table, another thread uses it.
#[test]
fn a_table_is_used_at_the_wrong_time() {
    let trace = "
        T0 call getConnection()
        T0 return getConnection -> conn
        T0 fork T0.1
        T0 call createTable(conn, t)
        T0.1 call execute(t)
        T0 call deleteTable(conn, t)
        T0 join T0.1
        T0 call close(conn)
    ";
    insta::assert_snapshot!(check(UNSAFE_DATABASE, trace), @r"
    1 instances
    (conn, t) can be broken by 5-4: 1-2-3-5-4, sound
    (conn, t) can be broken by 6-5: 1-2-3-4-6-5, sound
    ");
}

const AUTH_BEFORE_USE: &str = "AuthBeforeUse(c) {
  event auth: call auth(c)
  event use:  call use(c)
  pattern: use auth
}";

#[test]
fn a_use_can_precede_its_permission() {
    let trace = "
        T0 fork T0.1
        T0 call auth(a)
        T0 call auth(b)
        T0.1 call use(a)
        T0 join T0.1
        T0 call use(b)
    ";
    insta::assert_snapshot!(check(AUTH_BEFORE_USE, trace), @r"
    2 instances
    (a) can be broken by 4-2: 1-4-2, sound
    ");
}

#[test]
fn violations_of_the_recorded_run_are_observed() {
    let trace = "
        T0 fork T0.1
        T0.1 call use(a)
        T0 fork T0.2
        T0.2 call auth(a)
    ";
    insta::assert_snapshot!(check(AUTH_BEFORE_USE, trace), @r"
    1 instances
    (a) is broken by 2-4
    ");
}

const USE_AFTER_CLOSE: &str = "UseAfterClose(f) {
  event open:  call open(f)
  event use:   call use(f)
  event close: call close(f)
  pattern: close !open use
}";

/// `!` excludes events in between: the file may be opened again.
#[test]
fn an_exclusion_between_events() {
    let again = "
        T0 call open(f)
        T0 fork T0.1
        T0 call close(f)
        T0 call open(f)
        T0.1 call use(f)
    ";
    insta::assert_snapshot!(check(USE_AFTER_CLOSE, again), @r"
    1 instances
    (f) can be broken by 3-5: 1-2-3-5, sound
    (f) can be broken by 3-5-4: 1-2-3-5-4, sound
    ");
    let at_once = "
        T0 call open(f)
        T0 fork T0.1
        T0 acq m
        T0 call close(f)
        T0 call open(f)
        T0 rel m
        T0.1 acq m
        T0.1 call use(f)
        T0.1 rel m
    ";
    insta::assert_snapshot!(check(USE_AFTER_CLOSE, at_once), @"1 instances");
}

/// `!` at the beginning excludes events since the start of the run.
#[test]
fn an_exclusion_since_the_start() {
    let property = "InitBeforeUse(o) {
      event init: call init(o)
      event use:  call use(o)
      pattern: !init use
    }";
    let trace = "
        T0 fork T0.1
        T0 call init(a)
        T0 call init(a)
        T0.1 call use(a)
    ";
    insta::assert_snapshot!(check(property, trace), @r"
    1 instances
    (a) can be broken by 4: 1-4, sound
    (a) can be broken by 4-2: 1-4-2, sound
    ");
}
