// A static variable of a function, which two threads reach at once.
// Events: exactly one of them begins and ends its initialisation (done) and writes 7 to `made`; the
// other finds it done, by the guard's function or by an atomic load of 1 from the guard.
#include <cstdio>
#include <pthread.h>
#include <thread>

static int made;
static pthread_barrier_t barrier;

struct Thing {
    Thing() { made = 7; }
    int number = 3;
};

static int number() {
    static Thing thing;
    return thing.number;
}

int main() {
    int a = 0, b = 0;
    pthread_barrier_init(&barrier, nullptr, 2);
    std::thread one([&a] { pthread_barrier_wait(&barrier); a = number(); });
    std::thread two([&b] { pthread_barrier_wait(&barrier); b = number(); });
    one.join();
    two.join();
    std::printf("%d %d %d\n", a, b, made);
}
