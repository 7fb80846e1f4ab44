// The twin of spin_yield.cc: a player yields until the whistle has been blown.
// The whistle is atomic.
// Finds: nothing harmful
#include <atomic>
#include <thread>

static std::atomic<bool> whistle{false};
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
