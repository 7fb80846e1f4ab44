// Objects on the stack of `main`, used by threads, each part written with a value of its own.
// Events: T0 writes 1001 to `account.balance`; T0.1 writes 1002 to it, 1003 to `flag` and 1004 to
// `tally.counts[2]`; T0 writes 1005 to `caught`, which lives where an exception was caught, and 1006
// to `last`. Locks are taken on `account.lock`.
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

__attribute__((noinline)) static void put(int *where, int value) {
    *where = value;
    __asm__ volatile("" ::: "memory");
}

class Base {
  public:
    int counts[4] = {};
};

class Tally : public Base {
  public:
    std::mutex lock;
};

class Account {
  public:
    void set(int value) {
        std::lock_guard<std::mutex> guard(lock);
        put(&balance, value);
    }
    int get() {
        std::lock_guard<std::mutex> guard(lock);
        return balance;
    }

  private:
    std::mutex lock;
    int balance = 0;
};

__attribute__((noinline)) static void fail(int value) {
    if (value > 0)
        throw std::runtime_error("fails");
}

int main(int count, char **) {
    Account account;
    Tally tally;
    int flag = 0;
    account.set(1001);
    std::thread worker([&] {
        account.set(1002);
        put(&flag, 1003);
        put(&tally.counts[2], 1004);
    });
    worker.join();
    try {
        int tried = count;
        put(&tried, count);
        fail(tried);
    } catch (const std::runtime_error &) {
        int caught = 0;
        put(&caught, 1005);
        flag += caught;
    }
    int last = 0;
    put(&last, 1006);
    std::printf("%d\n", account.get() + flag + tally.counts[2] + last);
}
