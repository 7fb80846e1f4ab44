// The twin of dekker.cc: the section is left by a store that releases.
// Finds: nothing harmful
#include <atomic>
#include <cstdio>
#include <thread>

static int shared_counter;
static std::atomic<int> wants[2];

static void count(int me) {
    wants[me].store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (wants[1 - me].load(std::memory_order_acquire) == 0) shared_counter++;
    wants[me].store(0, std::memory_order_release);
}

int main() {
    std::thread one(count, 0);
    std::thread two(count, 1);
    one.join();
    two.join();
    std::puts(shared_counter > 0 ? "counted" : "gave up");
}
