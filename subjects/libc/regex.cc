// Two threads search texts with regular expressions of their own, and count what they found. The C++ library fills tables of
// its own meanwhile, without synchronisation.
// Bug: they count without the lock.
// Finds: race on hits; none
// The twin is regex_fixed.cc.
#include <mutex>
#include <regex>
#include <string>
#include <thread>

static std::mutex lock;
static int hits;

static void search(const char *text) {
    std::regex expression("l(in)e");
    if (!std::regex_search(std::string(text), expression)) return;
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    hits++;
}

int main() {
    std::thread one(search, "a line"), other(search, "line 2");
    one.join();
    other.join();
    return hits > 2;
}
