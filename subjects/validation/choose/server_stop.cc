// A server counts the requests that are in progress. Stopping it waits until there are none, and deletes the storage.
// Bug (use after free): a request looks whether the server stops before it counts itself.
// Deep: the rows that the request does not add yet are not deleted either, so that the thread that stops the server
// takes another path than in the recorded run.
// Consequence: crash
// The twin is server_stop_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

class Storage {
public:
    void put(int key, int value) {
        std::lock_guard<std::mutex> guard(lock_);
        rows_[key] = value;
    }
    size_t size() {
        std::lock_guard<std::mutex> guard(lock_);
        return rows_.size();
    }

private:
    std::mutex lock_;
    std::map<int, int> rows_;
};

class Server {
public:
    Server() : storage_(new Storage) {}
    bool handle(int request) {
#ifdef FIXED
        active_.fetch_add(1);
        if (stopping_.load()) {
            leave();
            return false;
        }
#else
        if (stopping_.load()) return false;
        active_.fetch_add(1);
#endif
        storage_->put(request, request * 2);
        leave();
        return true;
    }
    size_t stop() {
        stopping_.store(true);
        std::unique_lock<std::mutex> guard(lock_);
        idle_.wait(guard, [&] { return active_.load() == 0; });
        size_t rows = storage_->size();
        delete storage_;
        storage_ = nullptr;
        return rows;
    }

private:
    void leave() {
        std::lock_guard<std::mutex> guard(lock_);
        if (active_.fetch_sub(1) == 1) idle_.notify_all();
    }
    std::atomic<bool> stopping_{false};
    std::atomic<int> active_{0};
    std::mutex lock_;
    std::condition_variable idle_;
    Storage *storage_;
};

int main() {
    Server server;
    std::thread clients[2];
    for (int i = 0; i < 2; i++)
        clients[i] = std::thread([&, i] {
            for (int k = 0; k < 2; k++) server.handle(i * 10 + k);
        });
    std::thread control([&] { std::printf("%d\n", server.stop() <= 4); });
    for (auto &c : clients) c.join();
    control.join();
}
