// A register of listeners tells all of them about an event under a lock for reading, which many threads hold
// at the same time. New listeners are added under the lock for writing. The lock lets writers go first, so that
// a stream of events does not keep them out.
// Bug: a listener asks the register how many others there are, which takes the lock for reading again. A
// writer that came in between waits for the first lock, and the listener for the writer.
// Finds: deadlock on lock; deadlock
// The twin is listeners_fixed.cc.
#include <functional>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

class Register {
    pthread_rwlock_t lock;
    std::vector<std::function<void(const std::string &)>> listeners;

public:
    Register() {
        pthread_rwlockattr_t attributes;
        pthread_rwlockattr_init(&attributes);
        pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
        pthread_rwlock_init(&lock, &attributes);
        pthread_rwlockattr_destroy(&attributes);
    }
    ~Register() { pthread_rwlock_destroy(&lock); }

    void add(std::function<void(const std::string &)> listener) {
        pthread_rwlock_wrlock(&lock);
        listeners.push_back(std::move(listener));
        pthread_rwlock_unlock(&lock);
    }

    size_t count() {
        pthread_rwlock_rdlock(&lock);
        size_t count = listeners.size();
        pthread_rwlock_unlock(&lock);
        return count;
    }

    void fire(const std::string &event) {
        pthread_rwlock_rdlock(&lock);
        for (auto &listener : listeners) listener(event);
        pthread_rwlock_unlock(&lock);
    }
};

int main() {
    Register all;
    size_t heard = 0;
    all.add([&](const std::string &event) { heard += event.size() * all.count(); });
    std::thread fires([&] { all.fire("opened"); });
    std::thread adds([&] { all.add([](const std::string &) {}); });
    fires.join();
    adds.join();
    return heard >= 6 ? 0 : 1;
}
