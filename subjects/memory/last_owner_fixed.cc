// The twin of last_owner.cc: each decrement acquires and releases.
// Finds: nothing harmful
#include <atomic>
#include <cstdio>
#include <thread>

struct Block {
    std::atomic<int> references{2};
    int value = 1;
};

static void drop(Block *block) {
    if (block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
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
