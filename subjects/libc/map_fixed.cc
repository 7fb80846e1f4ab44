// The twin of map.cc: two threads fill a map, and look whether a key is there.
// The lock is taken for both.
// Finds: nothing harmful
#include <map>
#include <mutex>
#include <thread>

static std::map<int, int> ages;
static std::mutex lock;

static void add(int person) {
    std::lock_guard<std::mutex> guard(lock);
    if (ages.find(person) != ages.end()) return;
    ages.emplace(person, 30);
}

int main() {
    std::thread worker(add, 1);
    add(2);
    worker.join();
    return ages.size() == 2 ? 0 : 1;
}
