// A thread reads the settings that an atomic shared pointer holds, and replaces them, while another one reads them.
// Bug: both also count how often the settings are read.
// Finds: race on reads; none
// Flags: -std=c++20
// The twin is shared_pointer_fixed.cc.
#include <atomic>
#include <memory>
#include <thread>

struct Settings {
    int limit;
};

static std::atomic<std::shared_ptr<Settings>> current{std::make_shared<Settings>(1)};
#ifdef FIXED
static std::atomic<int> reads;
#else
static int reads;
#endif

static int limit() {
    reads++;
    return current.load()->limit;
}

int main() {
    int seen = 0;
    std::thread writer([&] {
        seen = limit();
        current.store(std::make_shared<Settings>(2));
    });
    int before = limit();
    writer.join();
    return before < 1 || seen != 1 || limit() != 2;
}
