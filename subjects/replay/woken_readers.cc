// Two readers wait for a page. The writer wakes both and fails while it still holds the mutex: both are then
// blocked by the mutex, in the middle of their waits.
// Consequence: abort, if a reader waits before the writer runs
#include <condition_variable>
#include <mutex>
#include <exception>
#include <thread>

static std::mutex mutex;
static std::condition_variable written;
static int readers, pages;

static void read() {
    std::unique_lock<std::mutex> lock(mutex);
    readers++;
    written.wait(lock, [] { return pages > 0; });
}

static void write() {
    std::lock_guard<std::mutex> lock(mutex);
    pages++;
    written.notify_all();
    if (readers > 0) std::terminate();
}

int main() {
    std::thread first(read), second(read), writer(write);
    first.join();
    second.join();
    writer.join();
}
