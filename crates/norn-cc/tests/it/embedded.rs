//! Norn's own runtime, as it is embedded in the program.

use norn_cc::RuntimeImage;
use object::{Object as _, ObjectSymbol as _};

use crate::{kit::Kit, toolchain::toolchains};

const SUBJECT: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum;
static void *add(void *amount) {
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&mutex);
        sum += *(int *)amount;
        pthread_mutex_unlock(&mutex);
    }
    free(amount);
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        int *amount = malloc(sizeof *amount);
        *amount = i;
        pthread_create(&threads[i], NULL, add, amount);
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("%d\n", sum);
    return 0;
}
"#;

const CXX_SUBJECT: &str = r#"
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
static std::map<std::string, int> &table() { static std::map<std::string, int> map; return map; }
int main() {
    table()["x"] = 1;
    std::thread([] { table()["y"] = 2; }).join();
    try { table().at("z"); } catch (const std::out_of_range &) { table()["z"] = 3; }
    for (auto &entry : table()) std::cout << entry.first << entry.second;
}
"#;

/// A program that is not recorded must behave as without Norn.
fn check(flags: &[&str]) {
    for toolchain in toolchains() {
        let kit = Kit::embedded(toolchain);
        kit.file("main.c", SUBJECT).file("main.cc", CXX_SUBJECT);
        for flags in flags {
            let ran = kit.build_and_run(&format!("$CC {flags} -pthread main.c -o program"));
            assert_eq!((&*ran.stdout, &*ran.stderr), ("6000\n", ""), "{toolchain:?} {flags}");
            let ran = kit.build_and_run(&format!("$CXX {flags} -pthread main.cc -o program"));
            assert_eq!((&*ran.stdout, &*ran.stderr), ("x1y2z3", ""), "{toolchain:?} {flags}");
        }
    }
}

#[test]
fn dynamic_programs_work_as_before() {
    check(&["-O0", "-O2", "-no-pie", "-flto -O2"]);
}

#[test]
fn static_programs_work_as_before() {
    check(&["-static", "-static-pie", "-static -O2"]);
}

/// The C++ library is linked into the program, and the runtime's operators replace the library's.
#[test]
fn a_static_cxx_library_works_as_before() {
    let main = r#"
#include <iostream>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
struct alignas(128) Wide { char bytes[128]; };
static std::mutex mutex;
static char *volatile kept;
static int sum;
static void add() { std::lock_guard<std::mutex> hold(mutex); sum++; }
int main() {
    std::thread one(add), two(add);
    one.join(), two.join();
    Wide *wide = new Wide;
    bool aligned = (unsigned long)wide % 128 == 0;
    delete wide;
    volatile unsigned long most = 1ul << 62;
    try { kept = new char[most]; } catch (const std::bad_alloc &) { std::cout << "none "; }
    kept = new (std::nothrow) char[most];
    std::cout << (kept == nullptr) << aligned << sum << "\n";
}
"#;
    for toolchain in toolchains() {
        let kit = Kit::embedded(toolchain);
        kit.file("main.cc", main);
        for flags in ["", "-O2", "-static-libgcc", "-no-pie", "-flto -O2"] {
            let build = format!("$CXX -std=c++17 {flags} -static-libstdc++ -pthread");
            let ran = kit.build_and_run(&format!("{build} main.cc -o program"));
            assert_eq!((&*ran.stdout, &*ran.stderr), ("none 112\n", ""), "{toolchain:?} {flags}");
            let needed = kit.sh("readelf -d program").stdout;
            assert!(!needed.contains("libstdc++"), "{toolchain:?} {flags}: {needed}");
        }
        let steps = "$CXX -std=c++17 -c main.cc && $CXX -static-libstdc++ -pthread main.o";
        assert_eq!(kit.build_and_run(&format!("{steps} -o program")).stdout, "none 112\n");
    }
}

#[test]
fn a_library_loaded_later_works_as_before() {
    let main = r#"
#include <dlfcn.h>
int main(void) {
    void *library = dlopen("./libpart.so", RTLD_NOW);
    int (*bump)(int);
    *(void **)&bump = library ? dlsym(library, "bump") : 0;
    return bump ? bump(41) - 42 : 2;
}
"#;
    for toolchain in toolchains() {
        let kit = Kit::embedded(toolchain);
        kit.file("main.c", main).file("part.c", "int x; int bump(int by) { x++; return x + by; }");
        kit.sh("$CC -shared -fPIC -Wl,-z,defs part.c -o libpart.so");
        kit.build_and_run("$CC main.c -ldl -o program");
    }
}

#[test]
fn a_program_may_bring_its_own_malloc() {
    let own = "#include <stddef.h>
static char heap[1 << 20]; static size_t used;
void *malloc(size_t n) { used += (n + 31) & ~15ul; return heap + used - ((n + 31) & ~15ul); }
void free(void *p) { (void)p; }
int main(void) { char *p = malloc(3); return !(p >= heap && p < heap + sizeof heap); }";
    for toolchain in toolchains() {
        let kit = Kit::embedded(toolchain);
        kit.file("main.c", own);
        kit.build_and_run("$CC -fno-builtin main.c -o program");
    }
}

#[test]
fn only_intended_symbols_are_exported() {
    let image = RuntimeImage::embedded();
    let file = object::File::parse(image.dynamic_object).unwrap();
    let global = file.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
    let mut names: Vec<&str> = global.map(|symbol| symbol.name().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, image.exported.lines().collect::<Vec<_>>());
    for name in ["__tsan_init", "__tsan_read8", "__tsan_func_entry", "pthread_mutex_lock", "mmap"] {
        assert!(names.contains(&name), "{name}");
    }
    let header = ["norn_event", "norn_region_begin", "norn_region_end"];
    let foreign =
        |name: &&str| name.starts_with("norn") && !header.contains(name) || name.contains("rust");
    assert!(!names.iter().any(foreign), "{names:?}");
    assert!(image.wrapped.lines().any(|name| name == "pthread_mutex_lock"));
}
