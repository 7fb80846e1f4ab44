// The twin of semaphore_lock.cc: two threads add to a total, each while it has the only unit of a
// semaphore, and count how often they did.
// They count before they release the semaphore: only one thread can have its unit.
// Finds: nothing harmful
// Flags: -std=c++20
// They try to acquire it: of several threads that wait in `acquire` of GNU's library 12, one may sleep for ever.
#undef NDEBUG
#include <cassert>
#include <semaphore>
#include <thread>

static int total, rounds;
static std::binary_semaphore gate(1);

static void work() {
    while (!gate.try_acquire()) std::this_thread::yield();
    total++;
    rounds++;
    gate.release();
}

int main() {
    std::thread one(work), other(work);
    one.join();
    other.join();
    assert(total == 2 && rounds == 2);
}
