// Sessions are found by their number in a registry. Whoever drops the last reference removes the session from the
// registry, unless another thread has found it again meanwhile.
// Bug (use after free): the count falls to zero before the lock of the registry is taken.
// Deep: another thread must find the session with no references, and also drop it again and delete it, before
// the first thread looks at the count.
// Consequence: use after free
// The twin is resurrected_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

struct Session {
    explicit Session(int number) : number(number) {}
    const int number;
    std::atomic<int> references{1};
    std::atomic<int> requests{0};
};

class Registry {
  public:
    void add(Session *session) {
        std::lock_guard<std::mutex> guard(lock_);
        sessions_[session->number] = session;
    }

    Session *find(int number) {
        std::lock_guard<std::mutex> guard(lock_);
        auto it = sessions_.find(number);
        if (it == sessions_.end()) return nullptr;
        it->second->references.fetch_add(1);
        return it->second;
    }

    void drop(Session *session) {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock_);
        if (session->references.fetch_sub(1) > 1) return;
#else
        if (session->references.fetch_sub(1) > 1) return;
        std::lock_guard<std::mutex> guard(lock_);
        if (session->references.load() > 0) return;
#endif
        sessions_.erase(session->number);
        delete session;
    }

  private:
    std::mutex lock_;
    std::map<int, Session *> sessions_;
};

int main() {
    Registry registry;
    Session *session = new Session(7);
    registry.add(session);
    std::thread owner([&] {
        session->requests.fetch_add(1);
        registry.drop(session);
    });
    std::thread visitor([&] {
        if (Session *found = registry.find(7)) {
            found->requests.fetch_add(1);
            registry.drop(found);
        }
    });
    owner.join();
    visitor.join();
    std::printf("session over\n");
}
