// A linked list behind a wrapper that takes a lock for every operation.
// Bug: contains_all goes through the other list without its lock, while another thread empties it.
// Finds: race on some.first, Node::next; memory
// The twin is linked_list_fixed.cc.
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
        std::lock_guard<std::mutex> guard(lock);
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
