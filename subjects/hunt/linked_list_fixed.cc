// The twin of linked_list.cc: a linked list behind a wrapper that takes a lock for every operation.
// contains_all takes the locks of both lists.
// Finds: nothing harmful
#include <cstdio>
#include <mutex>
#include <thread>

struct Node {
    int number;
    Node *next;
};

class List {
public:
    ~List() { clear(); }

    void add(int number) {
        std::lock_guard<std::mutex> guard(lock);
        first = new Node{number, first};
    }

    void clear() {
        std::lock_guard<std::mutex> guard(lock);
        while (first != nullptr) {
            Node *node = first;
            first = node->next;
            node->next = nullptr;
            delete node;
        }
    }

    bool contains_all(List &other) {
        std::scoped_lock guard(lock, other.lock);
        for (Node *node = other.first; node != nullptr; node = node->next) {
            if (!contains(node->number)) return false;
        }
        return true;
    }

private:
    bool contains(int number) {
        for (Node *node = first; node != nullptr; node = node->next) {
            if (node->number == number) return true;
        }
        return false;
    }

    std::mutex lock;
    Node *first = nullptr;
};

static List all;
static List some;
static bool result;

int main() {
    for (int i = 0; i < 4; i++) all.add(i);
    for (int i = 0; i < 2; i++) some.add(i);
    std::thread asks([] { result = all.contains_all(some); });
    std::thread clears([] { some.clear(); });
    asks.join();
    clears.join();
    std::printf("contains all: %d\n", result);
}
