// A block is shared by two threads and counts its references. The thread that drops the last one
// frees it.
// Bug: the count is decremented relaxed, so what the other thread did with the block is not ordered
// before it is freed.
// Finds: race on Block::value, Block::references; none
// The twin is last_owner_fixed.cc.
#include <atomic>
#include <cstdio>
#include <thread>

struct Block {
    std::atomic<int> references{2};
    int value = 1;
};

static void drop(Block *block) {
    if (block->references.fetch_sub(1, std::memory_order_relaxed) != 1) return;
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
