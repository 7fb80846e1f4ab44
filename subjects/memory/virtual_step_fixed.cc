// The twin of virtual_step.cc: the destructor of the derived class waits for the thread. It begins by setting the
// pointer to the virtual table to the value that it has, while the thread calls virtual functions. Until the
// thread is told to stop, each of its rounds changes something.
// Finds: nothing harmful
#include <atomic>
#include <thread>

struct Worker {
    std::atomic<bool> stop{false};
    std::thread thread;

    void start() {
        thread = std::thread([this] {
            do step();
            while (!stop);
        });
    }
    void finish() {
        stop = true;
        if (thread.joinable()) thread.join();
    }
    virtual void step() = 0;
    virtual ~Worker() { finish(); }
};

struct Counter : Worker {
    int steps = 0;

    void step() override { steps++; }
    ~Counter() override { finish(); }
};

int main() {
    Counter worker;
    worker.start();
}
