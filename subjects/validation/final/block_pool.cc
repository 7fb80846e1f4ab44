// A pool of blocks without locks: free blocks are a stack of indices.
// Bug (ABA): `take` compares only the index of the first block. If one thread takes it, another thread
// takes the block below, and the first one gives its block back, the exchange of a third thread succeeds
// and puts a block that is in use on top of the stack.
// Deep: three threads must interleave within one exchange.
// Consequence: assertion
// The twin is block_pool_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <thread>

static const int blocks = 4;
static const std::uint64_t none = 0xffff;

#ifdef FIXED
static const std::uint64_t tag = 0x10000;
#else
static const std::uint64_t tag = 0;
#endif

static std::atomic<std::uint64_t> first{0};
static std::atomic<std::uint64_t> below[blocks] = {{1}, {2}, {3}, {none}};
static std::atomic<bool> in_use[blocks];

static int take() {
    for (;;) {
        std::uint64_t top = first.load();
        std::uint64_t index = top & 0xffff;
        assert(index != none);
        std::uint64_t next = below[index].load();
        std::uint64_t counted = (top & ~std::uint64_t(0xffff)) + tag + next;
        if (!first.compare_exchange_strong(top, counted)) continue;
        bool used = in_use[index].exchange(true);
        assert(!used);
        return static_cast<int>(index);
    }
}

static void give(int block) {
    in_use[block].store(false);
    for (;;) {
        std::uint64_t top = first.load();
        below[block].store(top & 0xffff);
        std::uint64_t counted = (top & ~std::uint64_t(0xffff)) + tag + static_cast<std::uint64_t>(block);
        if (first.compare_exchange_strong(top, counted)) return;
    }
}

static void parse() {
    int header = take();
    int body = take();
    give(body);
    give(header);
}

static void keep(int *kept) {
    *kept = take();
}

static void scan() {
    int block = take();
    give(block);
}

int main() {
    int kept = -1;
    std::thread parser(parse);
    std::thread scanner(scan);
    std::thread keeper(keep, &kept);
    parser.join();
    scanner.join();
    keeper.join();
    int free = 0;
    for (std::uint64_t it = first.load() & 0xffff; it != none; it = below[it].load()) free++;
    std::printf("%d free\n", free);
    assert(free == blocks - 1 && kept >= 0);
}
