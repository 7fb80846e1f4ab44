// Settings are made by whoever needs them first: checked without the lock, and again with it.
// Bug: the check without the lock is a race, and the pointer is there before the fields are filled
// in.
// Finds: race on instance; assertion
// The twin is double_checked_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

struct Settings {
    int limit;
    int burst;
};

static Settings storage;
static Settings *instance;
static std::mutex making;

static Settings *make() {
    instance = &storage;
    instance->limit = 100;
    instance->burst = 10;
    return instance;
}

static Settings *settings() {
    if (instance != nullptr) return instance;
    std::lock_guard<std::mutex> guard(making);
    return instance != nullptr ? instance : make();
}

static void use() {
    Settings *mine = settings();
    assert(mine->limit == 100);
    assert(mine->burst == 10);
}

int main() {
    std::thread one(use);
    std::thread two(use);
    one.join();
    two.join();
    std::printf("limit: %d\n", settings()->limit);
}
