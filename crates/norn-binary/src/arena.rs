//! The bytes of a module, and the views that borrow them.
//!
//! Parsing DWARF is fastest over plain borrowed slices: a counted reference would be touched by
//! every thread at every entry. But a [`crate::Module`] must own its bytes, or each caller would
//! carry a lifetime around. So the bytes live in an [`Arena`] that only grows, and [`Anchored`]
//! keeps the arena and what borrows from it together. This is the only file of the crate with
//! `unsafe` code.
#![allow(unsafe_code, reason = "mapping a file and owning what borrows from the map need it")]

use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::Mmap;

use crate::view::View;

/// Mapped files and decompressed sections. Nothing leaves before the arena itself does.
#[derive(Default)]
pub(crate) struct Arena {
    kept: Mutex<Vec<Bytes>>,
}

impl Arena {
    /// Maps a regular file. Anything else is refused, because opening a pipe would wait for ever.
    pub(crate) fn map(&self, path: &Path) -> io::Result<&[u8]> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let file = File::open(path)?;
        // SAFETY: the map is private and read-only. Its bytes change only if someone rewrites the
        // file in place while Norn reads it; linkers and package managers replace files instead.
        let map = unsafe { Mmap::map(&file)? };
        Ok(self.keep(Bytes::Mapped(map)))
    }

    /// Takes over bytes that were made here, such as a decompressed section.
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
    /// Builds a view over a fresh arena. `build` sees every lifetime as possible, so it can put
    /// nothing into the view that is not borrowed from the arena or owned.
    pub(crate) fn new<E>(
        build: impl for<'a> FnOnce(&'a Arena) -> Result<View<'a>, E>,
    ) -> Result<Self, E> {
        let arena = Arc::new(Arena::default());
        let view = build(&arena)?;
        // SAFETY: only the lifetime changes. The arena sits behind an `Arc`, so it does not move
        // with `Self`; it outlives the view, which is dropped first; and `with` below shows the
        // view to nobody who could rely on the longer lifetime.
        let view = unsafe { std::mem::transmute::<View<'_>, View<'static>>(view) };
        Ok(Self { view, _arena: arena })
    }

    /// Looks at the view. `look` must work for every lifetime, so it can neither carry out what is
    /// borrowed from the arena nor put into the view what does not live as long.
    pub(crate) fn with<T>(&self, look: impl for<'a> FnOnce(&'a View<'a>) -> T) -> T {
        // SAFETY: only the lifetime changes, from one that was never true to that of the borrow of
        // `self`, which keeps alive the arena that the view was built over.
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
