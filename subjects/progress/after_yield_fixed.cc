// The twin of after_yield.cc: two threads yield, and count that they were here.
// The counter is atomic.
// Finds: nothing harmful
#include <atomic>
#include <thread>

static std::atomic<int> visits;

static void visit() {
    std::this_thread::yield();
    visits.fetch_add(1);
}

int main() {
    std::thread one(visit), other(visit);
    one.join();
    other.join();
    return visits == 0;
}
