// The twin of mailbox.cc: two threads send letters back and forth, three times, through two mailboxes.
// Who waits looks again and again whether the mailbox is empty, and keeps the mutex until it waits.
// Finds: nothing harmful
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

class Mailbox {
public:
    void put(int letter) {
        std::lock_guard<std::mutex> guard(mutex_);
        letters_.push_back(letter);
        filled_.notify_one();
    }

    int take() {
        std::unique_lock<std::mutex> lock(mutex_);
        filled_.wait(lock, [this] { return !letters_.empty(); });
        int letter = letters_.front();
        letters_.pop_front();
        return letter;
    }

private:
    std::mutex mutex_;
    std::condition_variable filled_;
    std::deque<int> letters_;
};

static Mailbox inbox, outbox;

int main() {
    std::thread answers([] {
        for (int i = 0; i < 3; i++) outbox.put(inbox.take() + 1);
    });
    int letter = 0;
    for (int i = 0; i < 3; i++) {
        inbox.put(letter);
        letter = outbox.take();
    }
    answers.join();
    std::printf("letters: %d\n", letter);
}
