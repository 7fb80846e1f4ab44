// Double-checked locking.
// Bug: `instance_` is an ordinary pointer that is read without the mutex, and it is written before the
// registry is complete: another thread may use an empty one.
#include "registry.h"

std::mutex Registry::mutex_;

#ifdef FIXED

std::atomic<Registry *> Registry::instance_{nullptr};

Registry &Registry::instance() {
    Registry *known = instance_.load(std::memory_order_acquire);
    if (!known) {
        std::lock_guard<std::mutex> guard(mutex_);
        known = instance_.load(std::memory_order_relaxed);
        if (!known) {
            known = new Registry;
            known->load();
            instance_.store(known, std::memory_order_release);
        }
    }
    return *known;
}

#else

Registry *Registry::instance_ = nullptr;

Registry &Registry::instance() {
    if (!instance_) {
        std::lock_guard<std::mutex> guard(mutex_);
        if (!instance_) {
            instance_ = new Registry;
            instance_->load();
        }
    }
    return *instance_;
}

#endif

void Registry::load() {
    services_.reserve(4);
    add("mail", 25);
    add("time", 37);
    add("web", 80);
}

void Registry::add(const char *name, int port) {
    services_.push_back(Service{name, port});
}

int Registry::port(const std::string &name) const {
    for (const Service &service : services_) {
        if (service.name == name)
            return service.port;
    }
    return -1;
}
