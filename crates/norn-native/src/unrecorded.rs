//! Libraries that are not recorded, and whether these may synchronise threads.

use norn_frontend::ModuleSummary;

/// Libraries of the C and C++ languages and of OpenMP, by the beginning of their file names. They
/// synchronise threads by functions that are recorded.
const LANGUAGE: [&str; 15] = [
    "ld-linux",
    "libc.so",
    "libc-",
    "libc++",
    "libdl",
    "libgcc_s",
    "libgomp",
    "libm.so",
    "libm-",
    "libnorn",
    "libomp",
    "libpthread",
    "libresolv",
    "librt",
    "libstdc++",
];

/// Whether a module may synchronise threads by operations that no trace contains.
pub(crate) fn may_synchronise(module: &ModuleSummary) -> bool {
    let name = module.path.file_name().map(|it| it.to_string_lossy());
    let language = |name: &str| LANGUAGE.iter().any(|it| name.starts_with(it));
    module.instrumented == Some(false) && name.is_some_and(|it| !language(&it))
}

#[cfg(test)]
mod tests {
    use norn_frontend::ModuleState;

    use super::*;

    fn module(path: &str, instrumented: Option<bool>) -> ModuleSummary {
        ModuleSummary { path: path.into(), instrumented, state: ModuleState::Symbols }
    }

    #[test]
    fn only_unrecorded_libraries_other_than_the_languages_own_may_synchronise() {
        assert!(may_synchronise(&module("/usr/lib/libtbb.so.12", Some(false))));
        assert!(!may_synchronise(&module("/usr/lib/libgomp.so.1", Some(false))));
        assert!(!may_synchronise(&module("/usr/lib/libc.so.6", Some(false))));
        assert!(!may_synchronise(&module("/usr/lib/libstdc++.so.6", Some(false))));
        assert!(!may_synchronise(&module("/src/program", Some(true))));
        assert!(!may_synchronise(&module("/src/gone", None)));
    }
}
