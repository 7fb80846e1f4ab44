// A monitor reads two sensors twice, and trusts what it has read if it is the same both times.
// Bug (atomicity violation): sensors that change and change back look as if they had not changed.
// Deep: the door must open, close and open again, each time between two other reads: six switches.
// Consequence: assertion
// The twin is double_collect_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

// The light is switched on after the door was opened, and off before it is closed.
static std::atomic<int> door{0}, light{0}, changes{0};

static void note() {
#ifdef FIXED
    changes.fetch_add(1);
#endif
}

static void visit() {
    note();
    door.store(1);
    light.store(1);
    light.store(0);
    note();
    door.store(0);
}

static bool collect(int &is_open, int &is_light) {
    int before = changes.load();
    is_open = door.load();
    is_light = light.load();
    bool same = is_open == door.load() && is_light == light.load();
    return same && before == changes.load();
}

int main() {
    std::thread visitor([] {
        for (int i = 0; i < 3; i++) visit();
    });
    std::thread monitor([] {
        int is_open = 0, is_light = 0;
        if (collect(is_open, is_light)) assert(is_open || !is_light);
    });
    visitor.join();
    monitor.join();
    std::printf("watched\n");
}
