// Readers announce themselves in the slot of the current epoch; a writer advances the epoch, and deletes
// what it has replaced if the slot of the old epoch is empty.
// Bug (use after free): a reader may enter the slot of an epoch that is over, and the writer looks only at
// the slot of the epoch that it ends.
// Deep: the writer must advance once before the reader is in its slot, and once more before it is out.
// Consequence: use after free
// The twin is epoch_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

struct Table {
    explicit Table(int size) : size(size) {}
    const int size;
};

static std::atomic<unsigned> epoch{0};
static std::atomic<int> active[2];
static std::atomic<Table *> table{new Table(1)};
static std::vector<Table *> retired;

static int read() {
    unsigned slot = epoch.load() % 2;
    active[slot].fetch_add(1);
    Table *seen = table.load();
    int size = seen->size;
    active[slot].fetch_sub(1);
    return size;
}

static bool is_unused(unsigned ended) {
#ifdef FIXED
    (void)ended;
    return active[0].load() == 0 && active[1].load() == 0;
#else
    return active[ended % 2].load() == 0;
#endif
}

static void replace(int size) {
    Table *previous = table.exchange(new Table(size));
    unsigned ended = epoch.fetch_add(1);
    if (is_unused(ended)) {
        delete previous;
    } else {
        retired.push_back(previous);
    }
}

int main() {
    int size = 0;
    std::thread writer([] {
        replace(2);
        replace(3);
    });
    std::thread reader([&] { size = read(); });
    writer.join();
    reader.join();
    for (Table *it : retired) delete it;
    delete table.load();
    std::printf("read\n");
    assert(size >= 1 && size <= 3);
}
