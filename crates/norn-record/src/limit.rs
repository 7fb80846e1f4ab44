//! Resource limits of this process that recording has to raise. They apply to all of its threads, and
//! several recordings may run at once, so the original limits are saved once, for all subjects.

use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The original limits.
#[derive(Debug)]
struct Before {
    /// Number of open files.
    files: Rlimit,
    /// Size of a file.
    size: Rlimit,
}

fn before() -> &'static Before {
    static BEFORE: OnceLock<Before> = OnceLock::new();
    BEFORE.get_or_init(|| Before {
        files: getrlimit(Resource::Nofile),
        size: getrlimit(Resource::Fsize),
    })
}

/// The largest size of a file, if there is a limit.
pub(crate) fn file_size() -> Option<u64> {
    before().size.current
}

/// Creates shared memory that is larger than the file size limit. The limit is meant for the trace, but
/// the kernel applies it to shared memory, too, so it is raised temporarily as far as possible.
pub(crate) fn with_any_size<T>(make: impl FnOnce() -> T) -> T {
    static RAISED: Mutex<()> = Mutex::new(());
    let before = before().size;
    let _one_at_a_time = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
    let most = Rlimit { current: before.maximum, ..before };
    let none = Rlimit { current: None, maximum: None };
    let _ = setrlimit(Resource::Fsize, none).or_else(|_| setrlimit(Resource::Fsize, most));
    let made = make();
    let _ = setrlimit(Resource::Fsize, before);
    made
}

/// Raises the limit of open files, because the recorder has two for each running process. Returns the original limits, with
/// which the subject starts.
pub(crate) fn raise() -> [(Resource, Rlimit); 2] {
    let Before { files, size } = *before();
    // If it fails, fewer processes can be recorded at once.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    [(Resource::Nofile, files), (Resource::Fsize, size)]
}
