//! Shared libraries: they contain no runtime and use that of the program.

use crate::{
    kit::{Kit, assert_no_libtsan, symbols},
    toolchain::toolchains,
};

const LIBRARY: &str = "
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int counter;
int bump(void) {
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return counter;
}
";

const LINKED: &str = "
int bump(void);
int main(void) { return bump() - 1; }
";

const LOADED: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
    void *library = dlopen("./libbump.so", RTLD_NOW);
    if (!library) return puts(dlerror()), 2;
    int (*bump)(void);
    *(void **)&bump = dlsym(library, "bump");
    return bump() - 1;
}
"#;

/// Neither program writes anything itself: every counted access happens in the library.
fn check(flags: &str) {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("bump.c", LIBRARY).file("linked.c", LINKED).file("loaded.c", LOADED);
        let built = kit.sh(&format!("$CC -shared -fPIC bump.c -o libbump.so {flags}"));
        assert_eq!(built.stderr, "", "{toolchain:?} {flags}");
        assert_no_libtsan(&kit.path("libbump.so"));
        for link in ["linked.c -L. -lbump -Wl,-rpath,.", "loaded.c -ldl"] {
            let ran = kit.build_and_run(&format!("$CC {link} -o program"));
            assert_eq!(ran.count("locks"), 1, "{toolchain:?} {flags} {link}");
            assert!(ran.count("writes") >= 1, "{toolchain:?} {flags} {link}");
        }
    }
}

#[test]
fn linked_and_loaded() {
    check("");
    check("-O2 -flto");
}

#[test]
fn linked_with_no_undefined() {
    check("-Wl,--no-undefined");
    check("-Wl,-z,defs -lc");
    check("-Wl,-z -Wl,defs -fuse-ld=gold");
}

#[test]
fn has_no_runtime_of_its_own() {
    for toolchain in toolchains() {
        let kit = Kit::new(toolchain);
        kit.file("bump.c", LIBRARY);
        kit.sh("$CC -shared -fPIC -fsanitize=thread bump.c -o libbump.so");
        assert_no_libtsan(&kit.path("libbump.so"));
        let names = symbols(&kit.path("libbump.so"));
        assert!(names.iter().any(|name| name == "__tsan_write4"), "{toolchain:?}");
        assert!(!names.iter().any(|name| name == "__tsan_write16"), "{toolchain:?}");
    }
}
