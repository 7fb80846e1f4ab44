// Two threads yield, and count that they were here.
// Bug: the counter is not atomic, and neither thread does anything before it but yield.
// Finds: race on visits; none
// The twin is after_yield_fixed.cc.
#include <atomic>
#include <thread>

static int visits;

static void visit() {
    std::this_thread::yield();
    visits = visits + 1;
}

int main() {
    std::thread one(visit), other(visit);
    one.join();
    other.join();
    return visits == 0;
}
