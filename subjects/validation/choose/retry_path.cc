// Readers of a price list take a reference to the current list, and read again if it was replaced meanwhile.
// Bug (use after free): the second read takes no reference.
// Deep: the list must be replaced twice: during the first read, so that the path is taken, and during
// the second one.
// Consequence: use after free
// The twin is retry_path_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

struct List {
    explicit List(int price) : price(price) {}
    std::atomic<int> references{1};
    const int price;
};

static std::mutex lock;
static List *current = new List(10);
static std::atomic<int> version{0};

static List *take() {
    std::lock_guard<std::mutex> guard(lock);
    current->references.fetch_add(1);
    return current;
}

#ifndef FIXED
static List *peek() {
    std::lock_guard<std::mutex> guard(lock);
    return current;
}
#endif

static void drop(List *list) {
    if (list->references.fetch_sub(1) == 1) delete list;
}

static void replace(int price) {
    List *next = new List(price);
    List *previous;
    {
        std::lock_guard<std::mutex> guard(lock);
        previous = current;
        current = next;
        version.fetch_add(1);
    }
    drop(previous);
}

static int price() {
    List *list = take();
    int seen = version.load();
    int price = list->price;
    bool replaced = version.load() != seen;
    drop(list);
    if (!replaced) return price;
#ifdef FIXED
    list = take();
    price = list->price;
    drop(list);
#else
    price = peek()->price;
#endif
    return price;
}

int main() {
    int last = 0;
    std::thread shop([] {
        replace(11);
        replace(12);
    });
    std::thread customer([&] { last = price(); });
    shop.join();
    customer.join();
    drop(current);
    std::printf("priced\n");
    assert(last >= 10 && last <= 12);
}
