// A bank whose accounts call an observer when their balance changes.
// Bug: the observer of the bank is called while the account is locked, and locks the bank; a report locks
// the bank first and then the accounts.
// Finds: deadlock on mutex_ accounts bank; deadlock
// First: mutex_ in note
// The twin is bank_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace bank {

class Account {
public:
    using Observer = std::function<void(const Account &, int)>;

    explicit Account(std::string owner, int balance) : owner_(std::move(owner)), balance_(balance) {}

    void observe(Observer observer) { observer_ = std::move(observer); }

    void deposit(int amount) {
#ifdef FIXED
        {
            std::lock_guard<std::mutex> guard(mutex_);
            balance_ += amount;
        }
        observer_(*this, amount);
#else
        std::lock_guard<std::mutex> guard(mutex_);
        balance_ += amount;
        observer_(*this, amount);
#endif
    }

    int balance() {
        std::lock_guard<std::mutex> guard(mutex_);
        return balance_;
    }

    const std::string &owner() const { return owner_; }

private:
    std::mutex mutex_;
    std::string owner_;
    int balance_;
    Observer observer_;
};

class Bank {
public:
    Account &open(std::string owner, int balance) {
        Account *account = new Account(std::move(owner), balance);
        account->observe([this](const Account &changed, int amount) { note(changed, amount); });
        accounts_.push_back(account);
        return *account;
    }

    ~Bank() {
        for (Account *account : accounts_)
            delete account;
    }

    // The sum of all balances.
    int report() {
        std::lock_guard<std::mutex> guard(mutex_);
        int sum = 0;
        for (Account *account : accounts_)
            sum += account->balance();
        return sum;
    }

    int turnover() {
        std::lock_guard<std::mutex> guard(mutex_);
        return turnover_;
    }

private:
    void note(const Account &account, int amount) {
        std::lock_guard<std::mutex> guard(mutex_);
        assert(!account.owner().empty());
        turnover_ += amount;
    }

    std::mutex mutex_;
    std::vector<Account *> accounts_;
    int turnover_ = 0;
};

}  // namespace bank

static void pay(bank::Account &account) {
    account.deposit(30);
}

static void audit(bank::Bank &bank) {
    int sum = bank.report();
    assert(sum == 150 || sum == 180);
}

int main() {
    bank::Bank bank;
    bank::Account &ann = bank.open("ann", 100);
    bank.open("bob", 50);
    std::thread payer(pay, std::ref(ann));
    std::thread auditor(audit, std::ref(bank));
    payer.join();
    auditor.join();
    assert(bank.turnover() == 30);
    return 0;
}
