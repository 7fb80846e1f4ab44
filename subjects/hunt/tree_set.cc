// A sorted set of numbers in a tree, behind a wrapper that takes a lock for every operation.
// Bug: add_all goes through the other set with size and nth. Each takes the lock of the other set,
// but its smallest number can be removed in between.
// Finds: atomicity on Node::less; exception
// The twin is tree_set_fixed.cc.
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

struct Node {
    int number;
    Node *less = nullptr;
    Node *more = nullptr;
};

class Set {
public:
    ~Set() { remove(root); }

    void add(int number) {
        std::lock_guard<std::mutex> guard(lock);
        insert(number);
    }

    void remove_first() {
        std::lock_guard<std::mutex> guard(lock);
        Node **at = &root;
        while (*at != nullptr && (*at)->less != nullptr) at = &(*at)->less;
        Node *node = *at;
        if (node == nullptr) return;
        *at = node->more;
        delete node;
    }

    std::size_t size() {
        std::lock_guard<std::mutex> guard(lock);
        return count(root);
    }

    int nth(std::size_t index) {
        std::lock_guard<std::mutex> guard(lock);
        return find(root, index);
    }

    void add_all(Set &other) {
        std::lock_guard<std::mutex> guard(lock);
        std::size_t end = other.size();
        for (std::size_t i = 0; i < end; i++) insert(other.nth(i));
    }

private:
    static std::size_t count(Node *node) {
        return node == nullptr ? 0 : count(node->less) + 1 + count(node->more);
    }

    static int find(Node *node, std::size_t index) {
        if (node == nullptr) throw std::out_of_range("no such element");
        std::size_t before = count(node->less);
        if (index == before) return node->number;
        return index < before ? find(node->less, index) : find(node->more, index - before - 1);
    }

    void insert(int number) {
        Node **at = &root;
        while (*at != nullptr) at = number < (*at)->number ? &(*at)->less : &(*at)->more;
        *at = new Node{number};
    }

    static void remove(Node *node) {
        if (node == nullptr) return;
        remove(node->less);
        remove(node->more);
        delete node;
    }

    std::mutex lock;
    Node *root = nullptr;
};

static Set the_one;
static Set the_other;

/* Takes a while, and has no effect on anybody else. */
static unsigned prepare() {
    unsigned mixed = 1;
    for (unsigned i = 0; i < 1000000; i++) mixed = mixed * 31 + i;
    return mixed;
}

int main() {
    for (int number : {2, 1, 3}) the_other.add(number);
    std::thread adds([] { the_one.add_all(the_other); });
    std::thread removes([] {
        if (prepare() != 0) the_other.remove_first();
    });
    adds.join();
    removes.join();
    the_one.remove_first();
    std::printf("done\n");
}
