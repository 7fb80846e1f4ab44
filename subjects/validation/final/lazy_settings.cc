// Settings are loaded by the first thread that asks for them.
// Bug (atomicity violation): the check and the assignment are in two critical sections, so that two
// threads can both load; a change that was made to the first settings is lost.
// Consequence: assertion
// The twin is lazy_settings_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

class Settings {
public:
    std::shared_ptr<std::map<std::string, int>> values() {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock_);
        if (!values_) values_ = load();
        return values_;
#else
        {
            std::lock_guard<std::mutex> guard(lock_);
            if (values_) return values_;
        }
        auto loaded = load();
        std::lock_guard<std::mutex> guard(lock_);
        values_ = loaded;
        return values_;
#endif
    }

    void set(const std::string &name, int value) {
        auto known = values();
        std::lock_guard<std::mutex> guard(lock_);
        (*known)[name] = value;
    }

    int get(const std::string &name) {
        auto known = values();
        std::lock_guard<std::mutex> guard(lock_);
        auto found = known->find(name);
        return found == known->end() ? -1 : found->second;
    }

private:
    static std::shared_ptr<std::map<std::string, int>> load() {
        auto values = std::make_shared<std::map<std::string, int>>();
        (*values)["port"] = 80;
        (*values)["threads"] = 4;
        return values;
    }

    std::mutex lock_;
    std::shared_ptr<std::map<std::string, int>> values_;
};

int main() {
    Settings settings;
    std::thread administrator([&] { settings.set("port", 8080); });
    std::thread server([&] {
        int threads = settings.get("threads");
        assert(threads == 4);
    });
    administrator.join();
    server.join();
    int port = settings.get("port");
    std::printf("port %d\n", port);
    assert(port == 8080);
}
