// A cache moves what was used last to the front of a list.
// The lock is exclusive, since a use changes the list.
// Finds: nothing harmful
// Flags: -O2
#include <list>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::list<int> recent{1, 2, 3};
static std::shared_mutex lock;

static void use_oldest() {
    std::lock_guard<std::shared_mutex> guard(lock);
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
