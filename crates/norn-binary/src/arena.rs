//! The bytes of a module, and the views that borrow them.
//!
//! Parsing DWARF is fastest over plain borrowed slices: every thread would update a reference count
//! at every entry. But a [`crate::Module`] must own its bytes, because otherwise each caller would
//! carry a lifetime around. So the bytes live in an [`Arena`] that only grows, and [`Anchored`]
//! keeps the arena and its borrowers together. This is the only file of the crate with `unsafe`
//! code.
#![allow(unsafe_code, reason = "mapping a file and owning what borrows from the map need it")]

use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;

use crate::view::View;

/// Mapped files and decompressed sections. Nothing is freed before the arena itself.
#[derive(Default)]
pub(crate) struct Arena {
    kept: Mutex<Vec<Bytes>>,
}

impl Arena {
    /// Maps a regular file. Anything else is rejected, because opening a pipe would block forever.
    pub(crate) fn map(&self, path: &Path) -> io::Result<&[u8]> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let file = File::open(path)?;
        // SAFETY: the map is private and read-only. Its bytes change only if the file is rewritten
        // in place while Norn reads it; linkers and package managers replace files instead.
        let map = unsafe { Mmap::map(&file)? };
        Ok(self.keep(Bytes::Mapped(map)))
    }

    /// Stores bytes that were produced here, such as a decompressed section.
    pub(crate) fn adopt(&self, bytes: Vec<u8>) -> &[u8] {
        self.keep(Bytes::Heap(bytes))
    }

    fn keep(&self, bytes: Bytes) -> &[u8] {
        let slice: *const [u8] = &raw const *bytes;
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        // SAFETY: the slice points into a map or a heap block, which stays where it is when its
        // owner moves into the list. The list only grows and its members are never changed, so the
        // slice lives as long as the arena, to which the result's lifetime is bound.
        unsafe { &*slice }
    }
}

/// A [`View`] together with the arena it borrows from.
pub(crate) struct Anchored {
    // The order matters: fields are dropped from top to bottom.
    view: View<'static>,
    _arena: Arc<Arena>,
}

impl Anchored {
    /// Builds a view over a new arena. `build` is generic over the lifetime, so the view can only
    /// contain data that is owned or borrowed from the arena.
    pub(crate) fn new<E>(
        build: impl for<'a> FnOnce(&'a Arena) -> Result<View<'a>, E>,
    ) -> Result<Self, E> {
        let arena = Arc::new(Arena::default());
        let view = build(&arena)?;
        // SAFETY: only the lifetime changes. The arena is behind an `Arc`, so it does not move with
        // `Self`; it outlives the view, which is dropped first; and `with` below does not expose
        // the longer lifetime.
        let view = unsafe { std::mem::transmute::<View<'_>, View<'static>>(view) };
        Ok(Self { view, _arena: arena })
    }

    /// Accesses the view. `look` is generic over the lifetime, so it can neither return references
    /// into the arena nor store shorter-lived data in the view.
    pub(crate) fn with<T>(&self, look: impl for<'a> FnOnce(&'a View<'a>) -> T) -> T {
        // SAFETY: only the lifetime changes, from one that was never true to that of the borrow of
        // `self`, which keeps the arena of the view alive.
        look(unsafe { std::mem::transmute::<&View<'static>, &View<'_>>(&self.view) })
    }
}

enum Bytes {
    Mapped(Mmap),
    Heap(Vec<u8>),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Heap(bytes) => bytes,
        }
    }
}
