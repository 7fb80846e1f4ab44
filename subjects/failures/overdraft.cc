// Two threads pay from one account, and an exception says that it was overdrawn.
// Bug: the balance is looked up in one critical section, and lowered in the next one.
// Finds: order on balance; uncaught exception
// The twin is overdraft_fixed.cc.
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static int balance = 100;

static int look_up() {
    std::lock_guard<std::mutex> guard(lock);
    return balance;
}

static void withdraw(int amount) {
    std::lock_guard<std::mutex> guard(lock);
    if (balance < amount) throw std::logic_error("overdraft"); // throw
    balance -= amount;
}

static void pay(int amount) {
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
    if (balance >= amount) balance -= amount;
#else
    if (look_up() >= amount) withdraw(amount);
#endif
}

int main() {
    std::thread one(pay, 70);
    std::thread other(pay, 60);
    one.join();
    other.join();
    return balance < 0;
}
