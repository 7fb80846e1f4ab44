// Thread-local objects: made at first use in each thread, destroyed at its end.
// Events of T0.1: a write of 1 to `made`, of 5 through the object, and, in its destructor, of 1 to
// `destroyed`; then end.
#include <cstdio>
#include <thread>

static int made, destroyed;

struct Local {
    int number = 0;
    Local() { made++; }
    ~Local() { destroyed++; }
};

static thread_local Local local;
static thread_local int plain = 3;

int main() {
    std::thread([] { local.number = 5; plain++; }).join();
    std::printf("%d %d %d\n", made, destroyed, plain);
}
