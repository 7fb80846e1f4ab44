//! The programs are the tests.
