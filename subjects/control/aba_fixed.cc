// The twin of aba.cc: the top has a tag beside the index, which every exchange raises. A top that
// was taken and given back is another one: no node is ever put back twice, it never fails.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdint>
#include <cstdio>
#include <thread>

static std::atomic<int> below[3] = {{1}, {2}, {-1}};
static std::atomic<std::uint64_t> top{0};
static int kept_by_one, kept_by_two;

static int index_of(std::uint64_t tagged) {
    return static_cast<int>(static_cast<std::uint32_t>(tagged));
}

static std::uint64_t next_of(std::uint64_t tagged, int node) {
    return ((tagged >> 32) + 1) << 32 | static_cast<std::uint32_t>(node);
}

static int pop() {
    for (;;) {
        std::uint64_t first = top.load();           /* A1 */
        int second = below[index_of(first)].load(); /* A2 */
        int taken = index_of(first);
        if (top.compare_exchange_strong(first, next_of(first, second))) return taken; /* A3 */
    }
}

static void push(int node) {
    for (;;) {
        std::uint64_t first = top.load();
        below[node].store(index_of(first));
        if (top.compare_exchange_strong(first, next_of(first, node))) return; /* B1 */
    }
}

static void keep_first() {
    kept_by_one = pop();
}

static void keep_second() {
    int first = pop();
    kept_by_two = pop();
    push(first);
}

int main() {
    std::thread one(keep_first);
    keep_second();
    one.join();
    int found[3] = {0, 0, 0};
    found[kept_by_one]++;
    found[kept_by_two]++;
    for (int node = index_of(top.load()); node >= 0; node = below[node].load()) found[node]++;
    std::printf("found: %d %d %d\n", found[0], found[1], found[2]);
    for (int count : found) assert(count == 1);
}
