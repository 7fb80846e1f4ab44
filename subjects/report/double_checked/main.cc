// Two clients ask for the port of a service.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <thread>

#include "registry.h"

static int ask(const char *name) {
    Registry &registry = Registry::instance();
    int port = registry.port(name);
    if (port < 0)
        fprintf(stderr, "no service %s among %d\n", name, registry.size());
    return port;
}

static void surf() {
    assert(ask("web") == 80);
}

static void write_mail() {
    assert(ask("mail") == 25);
}

int main() {
    std::thread browser(surf);
    std::thread mailer(write_mail);
    browser.join();
    mailer.join();
    assert(Registry::instance().size() == 3);
    return 0;
}
