// Two threads enter a critical section after Dekker: each announces itself, passes a fence, and enters
// if the other one has not announced itself, or else gives up.
// Bug: the section is left by a relaxed store, so what was done in it is not ordered before what the
// next thread does there.
// Finds: race on shared; none
// The twin is dekker_fixed.cc.
#include <atomic>
#include <cstdio>
#include <thread>

static int shared_counter;
static std::atomic<int> wants[2];

static void count(int me) {
    wants[me].store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (wants[1 - me].load(std::memory_order_acquire) == 0) shared_counter++;
    wants[me].store(0, std::memory_order_relaxed);
}

int main() {
    std::thread one(count, 0);
    std::thread two(count, 1);
    one.join();
    two.join();
    std::puts(shared_counter > 0 ? "counted" : "gave up");
}
