// Settings are made by whoever needs them first: checked without the lock, and again with it.
// Bug: the pointer is published before the fields are filled in. (Where compiler or processor
// reorder, the usual form of double-checked locking does the same; here the order is that of the
// source, so that switching threads suffices.)
// Consequence: assertion, a thread that finds the pointer set finds the limit still 0.
// The twin, double_checked_fixed.cc, never fails.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

struct Settings {
    int limit = 0;
};

static std::atomic<Settings *> instance;
static std::mutex making;
static std::atomic<int> uses;

static Settings *settings() {
    Settings *found = instance.load(); /* B1 */
    if (found == nullptr) {
        std::lock_guard<std::mutex> lock(making);
        found = instance.load();
        if (found == nullptr) {
            found = new Settings;
            instance.store(found); /* A1 */
            found->limit = 100;    /* A2 */
        }
    }
    return found;
}

static void use() {
    Settings *mine = settings();
    int limit = mine->limit; /* B2 */
    uses.fetch_add(1);
    assert(limit == 100);
}

int main() {
    std::thread one(use);
    std::thread two(use);
    one.join();
    two.join();
    std::printf("limit: %d, uses: %d\n", settings()->limit, uses.load());
    delete instance.load();
}
