// Entries are written into a small ring; a reader copies the latest one. The writer never waits.
// Bug (atomicity violation): the reader checks only roughly whether its entry was overwritten meanwhile.
// Deep: the reader must begin while the writer is active, and be overtaken by exactly one round of the ring:
// what it reads in the recorded run is never written again.
// Consequence: assertion
// The twin is latest_entry_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

static const int size = 3;
static std::atomic<int> number[size], content[size];
static std::atomic<int> written{0};

static void write(int value) {
    int at = written.load();
    number[at % size].store(at);
    content[at % size].store(value * 10);
    written.store(at + 1);
}

static void read() {
    int end = written.load();
    if (end == 0) return;
    int at = end - 1;
    int what = number[at % size].load();
    int value = content[at % size].load();
#ifdef FIXED
    if (written.load() - at > 1) return;
#else
    if (written.load() - at > size + 1) return;
    if (number[at % size].load() != at && what != at) return;
#endif
    assert(value == what * 10);
}

int main() {
    std::thread writer([] { for (int i = 0; i < 6; i++) write(i); });
    std::thread reader([] { read(); });
    writer.join();
    reader.join();
    std::printf("%d\n", written.load());
}
