// The twin of swap.cc: two threads swap the books of two shelves.
// A scoped lock takes both without waiting while it has one.
// Finds: nothing harmful
#include <cstdio>
#include <mutex>
#include <thread>
#include <utility>

class Shelf {
public:
    explicit Shelf(int books) : books_(books) {}

    void swap_with(Shelf &other) {
        std::scoped_lock both(mutex_, other.mutex_);
        std::swap(books_, other.books_);
    }

    int books() {
        std::lock_guard<std::mutex> guard(mutex_);
        return books_;
    }

private:
    std::mutex mutex_;
    int books_;
};

static Shelf left(1), right(2);

int main() {
    std::thread forth([] { left.swap_with(right); });
    std::thread back([] { right.swap_with(left); });
    forth.join();
    back.join();
    std::printf("%d %d\n", left.books(), right.books());
}
