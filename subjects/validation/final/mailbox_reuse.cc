// Workers take jobs from a mailbox; the slot of a job is used again for the next one.
// Bug (ABA): a worker reads the job of the slot and then exchanges the slot itself. If another worker has
// done that job and a new one was posted in the same slot, the exchange succeeds: the old job is done
// twice, and the new one is lost.
// Deep: a second worker and the sender must run within one exchange.
// Consequence: assertion
// The twin is mailbox_reuse_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

struct Slot {
    std::atomic<int> job{0};
};

static const int jobs = 3;
static Slot slots[2];
#ifdef FIXED
static Slot busy;
#endif
static std::atomic<Slot *> mailbox{nullptr};
static std::atomic<int> done[jobs + 1];
static std::atomic<int> left{jobs};

static void post(int job) {
    Slot *slot = &slots[job % 2];
    Slot *empty = nullptr;
    while (mailbox.load() != nullptr) {
        if (left.load() == 0) return;
        std::this_thread::yield();
    }
    slot->job.store(job);
    mailbox.compare_exchange_strong(empty, slot);
}

static int take() {
    Slot *slot = mailbox.load();
    if (slot == nullptr) return 0;
#ifdef FIXED
    if (slot == &busy || !mailbox.compare_exchange_strong(slot, &busy)) return 0;
    int job = slot->job.load();
    mailbox.store(nullptr);
    return job;
#else
    int job = slot->job.load();
    return mailbox.compare_exchange_strong(slot, nullptr) ? job : 0;
#endif
}

static void work() {
    while (left.load() > 0) {
        int job = take();
        if (job == 0) {
            std::this_thread::yield();
            continue;
        }
        int before = done[job].fetch_add(1);
        assert(before == 0);
        left.fetch_sub(1);
    }
}

int main() {
    std::thread one(work);
    std::thread two(work);
    for (int job = 1; job <= jobs; job++) post(job);
    one.join();
    two.join();
    int sum = 0;
    for (int job = 1; job <= jobs; job++) sum += done[job].load();
    std::printf("%d jobs\n", sum);
    assert(sum == jobs);
}
