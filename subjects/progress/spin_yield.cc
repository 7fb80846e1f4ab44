// A player yields until the whistle has been blown.
// Bug: the whistle is not atomic.
// Finds: race on whistle; none
// The twin is spin_yield_fixed.cc.
#include <atomic>
#include <thread>

static volatile bool whistle{false};
static int position;

static void play() {
    while (!whistle) std::this_thread::yield();
    position = position + 1;
}

int main() {
    std::thread player(play);
    position = 1;
    whistle = true;
    player.join();
    return position != 2;
}
