// The twin of double_checked.cc: the pointer is released and acquired.
// Finds: nothing harmful
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
    instance.store(&storage, std::memory_order_release);
    return &storage;
}

static Settings *settings() {
    Settings *known = instance.load(std::memory_order_acquire);
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
