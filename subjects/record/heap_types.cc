// Members of objects on the heap, behind pointers of the program and of the library. What they are called
// must not depend on the compiler.
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bank {

class Account {
public:
    explicit Account(long balance) : balance_(balance) {}

    void set(long balance) {
        std::lock_guard<std::mutex> guard(mutex_);
        balance_ = balance;
    }

private:
    long limit_ = 0;
    std::mutex mutex_;
    long balance_;
};

class Log {
public:
    void add(long line) {
        lines_[used_ % 4] = line;
        used_ = used_ + 1;
    }

private:
    long used_ = 0;
    long lines_[4] = {};
};

}  // namespace bank

bank::Account *accounts[2];
std::vector<bank::Account *> others;
std::unique_ptr<bank::Log> log_;
std::shared_ptr<bank::Log> shared;

int main() {
    for (int i = 0; i < 2; i++) {
        accounts[i] = new bank::Account(0);
        others.push_back(new bank::Account(0));
    }
    log_ = std::make_unique<bank::Log>();
    shared = std::make_shared<bank::Log>();
    std::thread thread([] {
        accounts[0]->set(4001);
        accounts[1]->set(4002);
        others[1]->set(4003);
        log_->add(4004);
        shared->add(4005);
    });
    thread.join();
    return 0;
}
