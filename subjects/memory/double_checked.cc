// Settings are made by the thread that needs them first: the pointer is checked without the lock, and
// again with it.
// Bug: the pointer is atomic but relaxed. A thread that finds it without the lock may see a pointer to
// settings that are not filled in.
// Finds: race on storage; none
// The twin is double_checked_fixed.cc.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

struct Settings {
    int limit;
    int burst;
};

static Settings storage;
static std::atomic<Settings *> instance{nullptr};
static std::mutex making;

static Settings *make() {
    storage.limit = 100;
    storage.burst = 10;
    instance.store(&storage, std::memory_order_relaxed);
    return &storage;
}

static Settings *settings() {
    Settings *known = instance.load(std::memory_order_relaxed);
    if (known != nullptr) return known;
    std::lock_guard<std::mutex> guard(making);
    known = instance.load(std::memory_order_relaxed);
    return known != nullptr ? known : make();
}

int main() {
    int limits[2];
    std::thread one([&] { limits[0] = settings()->limit; });
    std::thread two([&] { limits[1] = settings()->limit; });
    one.join();
    two.join();
    std::printf("%d %d\n", limits[0], limits[1]);
}
