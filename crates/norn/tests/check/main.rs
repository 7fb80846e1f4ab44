//! Properties, end to end: programs that violate them under another schedule, from their source to a
//! confirmed violation.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod campaign;
mod command;
mod kit;
mod name;
mod reproduce;
mod subject;
mod unseen;
