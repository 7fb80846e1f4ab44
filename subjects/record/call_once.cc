// std::call_once: its first attempt throws, the second is done, a third finds it done.
// Events of T0 on the flag: begin, end (not done), begin, end (done); T0.1: found done.
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::once_flag flag;
static int attempts;

static void run() {
    if (attempts++ == 0) throw std::runtime_error("not yet");
}

int main() {
    try {
        std::call_once(flag, run);
    } catch (const std::runtime_error &error) {
        std::puts(error.what());
    }
    std::call_once(flag, run);
    std::thread([] { std::call_once(flag, run); }).join();
    std::printf("%d\n", attempts);
}
