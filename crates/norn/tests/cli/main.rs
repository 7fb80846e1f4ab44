//! The command line itself: options, configuration, exit statuses, and the commands about norn.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod color;
mod config;
mod doctor;
mod exit;
mod generate;
mod kit;
mod option;
mod quiet;
mod sites;
