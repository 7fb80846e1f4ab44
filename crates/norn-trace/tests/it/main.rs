//! Traces are written as the recorder does, and read back.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod chunk;
mod copies;
mod damage;
mod document;
mod events;
mod folder;
mod open;
mod order;
mod select;
mod stack;
