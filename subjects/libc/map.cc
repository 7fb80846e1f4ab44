// Two threads fill a map, and look whether a key is there.
// Bug: the lock is taken only to insert. The C++ library links the new node, which the program's code finds.
// Finds: race on ages; none
// The twin is map_fixed.cc.
#include <map>
#include <mutex>
#include <thread>

static std::map<int, int> ages;
static std::mutex lock;

static void add(int person) {
    if (ages.find(person) != ages.end()) return;
    std::lock_guard<std::mutex> guard(lock);
    ages.emplace(person, 30);
}

int main() {
    std::thread worker(add, 1);
    add(2);
    worker.join();
    return ages.size() == 2 ? 0 : 1;
}
