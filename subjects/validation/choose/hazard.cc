// Readers protect a node by a hazard pointer; a writer deletes old nodes that no reader protects.
// Bug (use after free): the reader does not check that the node is still current after it has protected it.
// Deep: the writer must replace, look and delete between the load and the protection.
// Consequence: use after free
// The twin is hazard_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

struct Node {
    explicit Node(int value) : value(value) {}
    const int value;
};

static std::atomic<Node *> current{new Node(1)};
static std::atomic<Node *> hazard{nullptr};
static std::vector<Node *> retired;

static Node *protect() {
#ifdef FIXED
    for (;;) {
        Node *node = current.load();
        hazard.store(node);
        if (current.load() == node) return node;
    }
#else
    Node *node = current.load();
    hazard.store(node);
    return node;
#endif
}

static int read() {
    Node *node = protect();
    int value = node->value;
    hazard.store(nullptr);
    return value;
}

static void replace(int value) {
    Node *previous = current.exchange(new Node(value));
    if (hazard.load() == previous) {
        retired.push_back(previous);
    } else {
        delete previous;
    }
}

int main() {
    int sum = 0;
    std::thread writer([] {
        replace(2);
        replace(3);
    });
    std::thread reader([&] { sum = read() + read(); });
    reader.join();
    writer.join();
    for (Node *it : retired) delete it;
    delete current.load();
    std::printf("read\n");
    assert(sum >= 2 && sum <= 6);
}
