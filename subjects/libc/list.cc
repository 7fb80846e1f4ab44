// A cache moves what was used last to the front of a list.
// Bug: the lock is shared by all who use an entry. The C++ library moves the node.
// Finds: race on recent._M_node; none
// Flags: -O2
// The twin is list_fixed.cc.
#include <list>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::list<int> recent{1, 2, 3};
static std::shared_mutex lock;

static void use_oldest() {
    std::shared_lock<std::shared_mutex> guard(lock);
    recent.splice(recent.begin(), recent, std::prev(recent.end()));
}

int main() {
    std::thread worker(use_oldest);
    int newest;
    {
        std::shared_lock<std::shared_mutex> guard(lock);
        newest = recent.front();
    }
    worker.join();
    return newest > 0 ? 0 : 1;
}
