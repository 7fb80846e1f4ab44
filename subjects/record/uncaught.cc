// An exception that nobody catches, in a thread.
// Events: T0.1 writes 1 to `step`, then the process aborts (SIGABRT, 6).
#include <cstdio>
#include <stdexcept>
#include <sys/resource.h>
#include <thread>

static int step;

int main() {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    std::thread([] {
        step = 1;
        throw std::runtime_error("nobody catches this");
    }).join();
}
