// A registry of services by name, which is created on first use.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

struct Service {
    std::string name;
    int port;
};

class Registry {
public:
    // The only registry. The first thread that asks for it creates it.
    static Registry &instance();

    // The port of a service, or -1.
    int port(const std::string &name) const;

    int size() const { return static_cast<int>(services_.size()); }

private:
    Registry() = default;

    // Reads the table of services.
    void load();

    void add(const char *name, int port);

    std::vector<Service> services_;

    static std::mutex mutex_;
#ifdef FIXED
    static std::atomic<Registry *> instance_;
#else
    static Registry *instance_;
#endif
};
