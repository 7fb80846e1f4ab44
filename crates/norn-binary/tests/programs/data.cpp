// What C++ adds: scopes, classes, bases, wrappers.
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

namespace bank {

struct Base { int kind; };
struct Other { long weight; };
struct Account : Base, Other {
    virtual ~Account() {}
    int balance;
    static int total;
    static inline int opened = 3;
    int next();
};
struct Both { int first; Base second; };

int Account::total = 1;
int rate = 2;
Account shared;
std::atomic<int> hits;
std::atomic<bool> done;
std::array<int, 4> slots;
std::pair<int, long> pair;
std::mutex lock;
Both both;
thread_local int level = 4;

template <typename T> struct Holder { static T value; };
template <typename T> T Holder<T>::value;
template struct Holder<short>;

namespace {
int secret __attribute__((used));
}

__attribute__((noinline)) int Account::next() {
    static int id;
    return ++id + balance;
}

inline int ticket() {
    static int number;
    return ++number;
}

} // namespace bank

int main() {
    return bank::shared.next() + bank::ticket() + bank::level + bank::Account::opened
        + bank::Holder<short>::value;
}
