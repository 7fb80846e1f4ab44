// The twin of lock_order.cc: two transfers between two accounts in opposite directions, by T0 and
// T0.1. Both lock the account with the lower address first: nobody waits in a circle, it never
// fails.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <functional>
#include <mutex>
#include <thread>

struct Account {
    std::mutex lock;
    long balance = 100;
};

static Account savings, current;

static void transfer(Account *from, Account *to, long amount) {
    bool ordered = std::less<Account *>()(from, to);
    Account *first = ordered ? from : to;
    Account *second = ordered ? to : from;
    first->lock.lock();  /* A1 */
    second->lock.lock(); /* A2 */
    from->balance -= amount;
    to->balance += amount;
    second->lock.unlock();
    first->lock.unlock();
}

int main() {
    std::thread other(transfer, &savings, &current, 30);
    transfer(&current, &savings, 10);
    other.join();
    std::printf("savings: %ld, current: %ld\n", savings.balance, current.balance);
    assert(savings.balance == 80);
    assert(current.balance == 120);
}
