// Two transfers between two accounts in opposite directions, by T0 and T0.1.
// Bug: each locks the account that it takes from, then the one it gives to: opposite orders.
// Consequence: deadlock, each holds the mutex that the other waits for.
// The twin, lock_order_fixed.cc, never fails.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    long balance = 100;
};

static Account savings, current;

static void transfer(Account *from, Account *to, long amount) {
    from->lock.lock(); /* A1 */
    to->lock.lock();   /* A2 */
    from->balance -= amount;
    to->balance += amount;
    to->lock.unlock();
    from->lock.unlock();
}

int main() {
    std::thread other(transfer, &savings, &current, 30);
    transfer(&current, &savings, 10);
    other.join();
    std::printf("savings: %ld, current: %ld\n", savings.balance, current.balance);
    assert(savings.balance == 80);
    assert(current.balance == 120);
}
