// Two threads send letters back and forth, three times, through two mailboxes.
// Bug: whether a mailbox is empty is looked up under the mutex, but the mutex is given back before the
// wait begins. A letter that comes in between wakes nobody.
// Finds: deadlock on inbox, outbox; deadlock
// The twin is mailbox_fixed.cc.
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
        bool empty = is_empty();
        std::unique_lock<std::mutex> lock(mutex_);
        if (empty) filled_.wait(lock);
        int letter = letters_.front();
        letters_.pop_front();
        return letter;
    }

private:
    bool is_empty() {
        std::lock_guard<std::mutex> guard(mutex_);
        return letters_.empty();
    }

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
