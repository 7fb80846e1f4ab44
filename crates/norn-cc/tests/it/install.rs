//! The installation of the runtime.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, thread};

use norn_cc::{RuntimeDir, RuntimeImage};

const IMAGE: RuntimeImage<'_> = RuntimeImage {
    id: "some-id",
    dynamic_object: b"dynamic",
    static_object: b"static",
    exported: "__tsan_init\nmalloc\n",
    wrapped: "malloc\nfree\n",
};

fn show(directory: &Path) -> String {
    let mut files: Vec<_> =
        fs::read_dir(directory).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let show = |file: &Path| {
        let mut text = fs::read_to_string(file).unwrap();
        // The header is long; its first line is enough.
        if file.extension().is_some_and(|it| it == "h") {
            text.truncate(text.find('\n').unwrap() + 1);
        }
        format!("== {}\n{text}", file.file_name().unwrap().display())
    };
    files.iter().map(|file| show(file)).collect::<Vec<_>>().join("\n")
}

#[test]
fn installed_files() {
    let cache = tempfile::tempdir().unwrap();
    let runtime = IMAGE.install(&cache.path().join("not/yet")).unwrap();
    assert_eq!(runtime.path(), cache.path().join("not/yet/some-id"));
    insta::assert_snapshot!(show(runtime.path()), @r"
        == libtsan.a
        !<arch>

        == libtsan_preinit.o
        !<arch>

        == norn-dynamic.o
        dynamic
        == norn-dynamic.specs
        *link_libgcc:
        + norn-dynamic.o%s --dynamic-list norn-exports.list%s --push-state --as-needed -ldl -lpthread --pop-state %{fopenmp:--push-state --no-as-needed -lgomp --pop-state}


        == norn-exports.list
        {
          __tsan_init;
          malloc;
        };

        == norn-instrument.specs
        *cc1:
        + -fsanitize=thread --param=tsan-distinguish-volatile=1 -Wno-tsan -fpatchable-function-entry=18,16 -fno-ipa-sra -fno-ipa-cp -fno-tree-loop-im -fno-builtin-memset -fno-builtin-strcpy -fno-builtin-stpcpy -fno-builtin-strncpy -fno-builtin-strcat -fno-builtin-strncat -fno-builtin-strcmp -fno-builtin-strncmp -fno-builtin-sprintf

        *link_libgcc:
        + %{!T*:%{!fuse-ld=gold:%{!fuse-ld=mold:-T norn-leave-out.ld%s}}}


        == norn-leave-out.ld
        SECTIONS { /DISCARD/ : { *(__patchable_function_entries) } } INSERT AFTER .text;

        == norn-static.o
        static
        == norn-static.specs
        *link_libgcc:
        + norn-static.o%s --wrap=malloc --wrap=free


        == norn-wraps.rsp
        -Wl,--wrap=malloc
        -Wl,--wrap=free

        == norn.h
        /* norn.h: annotations of a program for Norn.
        ");
}

#[test]
fn many_at_once() {
    let cache = tempfile::tempdir().unwrap();
    let install = || {
        let runtime = IMAGE.install(cache.path()).unwrap();
        assert_eq!(fs::read(runtime.path().join("norn-dynamic.o")).unwrap(), IMAGE.dynamic_object);
        assert_eq!(fs::read(runtime.path().join("libtsan.a")).unwrap(), b"!<arch>\n");
    };
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(install);
        }
    });
    assert_eq!(fs::read_dir(cache.path().join("some-id")).unwrap().count(), 11);
}

#[test]
fn missing_or_truncated_files_are_repaired() {
    let cache = tempfile::tempdir().unwrap();
    let runtime = IMAGE.install(cache.path()).unwrap();
    let before = show(runtime.path());
    fs::remove_file(runtime.path().join("norn-exports.list")).unwrap();
    fs::write(runtime.path().join("norn-static.o"), "sta").unwrap();
    IMAGE.install(cache.path()).unwrap();
    assert_eq!(show(runtime.path()), before);
}

#[test]
fn a_cache_that_is_complete_may_be_read_only() {
    let cache = tempfile::tempdir().unwrap();
    let runtime = RuntimeDir::install(cache.path()).unwrap();
    fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o555)).unwrap();
    assert_eq!(RuntimeDir::install(cache.path()).unwrap(), runtime);
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error_with_a_hint() {
    let cache = tempfile::NamedTempFile::new().unwrap();
    let error = IMAGE.install(cache.path()).unwrap_err().to_string();
    let error = error.replace(&cache.path().display().to_string(), "$CACHE");
    insta::assert_snapshot!(error, @r"
        cannot write Norn's runtime to `$CACHE/some-id/norn-dynamic.o`: Not a directory (os error 20)
        hint: the runtime is kept in a cache; make that directory writable or choose another
        ");
}
