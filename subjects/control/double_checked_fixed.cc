// The twin of double_checked.cc: the pointer is published when the fields are filled in. Whoever
// finds it set finds them too: it never fails.
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
            found->limit = 100;    /* A1 */
            instance.store(found); /* A2 */
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
