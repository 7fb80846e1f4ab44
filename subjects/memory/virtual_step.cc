// A worker calls a virtual function until the object is destroyed. The destructor of the base class waits
// for it: the part of the derived class is gone by then, and the pointer to the virtual table was changed.
// Finds: race on worker._vptr.Worker; abort
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
};

int main() {
    Counter worker;
    worker.start();
}
