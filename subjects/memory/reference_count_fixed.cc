// The twin of reference_count.cc: each decrement releases, and the last one is followed by a fence that acquires.
// Finds: nothing harmful
#include <atomic>
#include <cstdio>
#include <thread>

struct Block {
    std::atomic<int> references{2};
    int value = 1;
};

static void drop(Block *block) {
    if (block->references.fetch_sub(1, std::memory_order_release) != 1) return;
    std::atomic_thread_fence(std::memory_order_acquire);
    block->value = 0;
    delete block;
}

int main() {
    Block *block = new Block;
    int seen[2];
    auto use = [&](int at) {
        seen[at] = block->value;
        drop(block);
    };
    std::thread one(use, 0);
    std::thread two(use, 1);
    one.join();
    two.join();
    std::printf("%d %d\n", seen[0], seen[1]);
}
