// Log entries are written into one of two buffers. The flusher makes the other buffer the active one, and takes
// the entries of the old one when nobody writes into it.
// Bug (atomicity violation): a writer reads which buffer is active, and counts itself as its writer later.
// Deep: the flusher must flip and look at the number of writers in between, and be interrupted by the writer
// before it empties the buffer.
// Consequence: assertion
// The twin is flip_buffers_fixed.cc.
#undef NDEBUG
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

struct Buffer {
    std::atomic<int> writers{0}, used{0};
};

static std::array<Buffer, 2> buffers;
static std::atomic<unsigned> active{0};
static std::atomic<int> flushed{0};

static Buffer &enter() {
    for (;;) {
        unsigned which = active.load();
        Buffer &buffer = buffers[which];
        buffer.writers.fetch_add(1);
#ifdef FIXED
        if (active.load() != which) {
            buffer.writers.fetch_sub(1);
            continue;
        }
#endif
        return buffer;
    }
}

static void log() {
    Buffer &buffer = enter();
    buffer.used.fetch_add(1);
    buffer.writers.fetch_sub(1);
}

static void take(Buffer &buffer) {
    int entries = buffer.used.load();
    if (entries == 0) return;
    flushed.fetch_add(entries);
    buffer.used.store(0);
}

static void flush() {
    unsigned old = active.load();
    active.store(1 - old);
    for (int look = 0; look < 3; look++) {
        if (buffers[old].writers.load() > 0) continue;
        take(buffers[old]);
        return;
    }
}

int main() {
    std::thread writer([] {
        for (int i = 0; i < 3; i++) log();
    });
    std::thread flusher([] {
        for (int i = 0; i < 2; i++) flush();
    });
    writer.join();
    flusher.join();
    for (auto &buffer : buffers) take(buffer);
    std::printf("log written\n");
    assert(flushed.load() == 3);
}
