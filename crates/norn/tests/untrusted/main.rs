//! Input that someone else chose: names, paths, files and clips. Norn handles it, or refuses it with an
//! error; it never panics, blocks, runs more than it shows, or lets a name reach the terminal as a
//! command.
#![allow(clippy::unwrap_used, reason = "these are tests, the functions they share included")]

mod clip;
mod file;
mod kit;
mod link;
mod name;
mod path;
mod size;
