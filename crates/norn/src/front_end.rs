//! The front end of the programs that the tool runs. There is one: for native programs.

use std::sync::{Arc, LazyLock};

use norn_frontend::FrontEnd;
use norn_native::Native;

use crate::command::site_cache;

static NATIVE: LazyLock<Arc<dyn FrontEnd>> =
    LazyLock::new(|| Arc::new(Native::with_cache(site_cache())));

/// The front end, which is the same for all runs of a command: it keeps the symbols of programs.
pub(crate) fn front_end() -> &'static Arc<dyn FrontEnd> {
    &NATIVE
}
