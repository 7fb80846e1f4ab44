// A renderer reads the front buffer; a resize replaces it by a larger one.
// Bug (use after free): `resize` deletes the old buffer before it publishes the new one.
// Deep: a run in which the resize comes first reads only the new buffer: a thread must stop between the
// delete and the store, and not earlier.
// Consequence: use after free
// The twin is swap_buffer_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

struct Buffer {
    explicit Buffer(int width) : width(width), pixels(static_cast<std::size_t>(width), 7) {}
    int width;
    std::vector<int> pixels;
};

class Screen {
public:
    Screen() : front_(new Buffer(2)) {}
    ~Screen() { delete front_.load(); }

    void resize(int width) {
        Buffer *next = new Buffer(width);
#ifdef FIXED
        std::lock_guard<std::mutex> guard(drawing_);
        Buffer *previous = front_.exchange(next);
        delete previous;
#else
        {
            std::lock_guard<std::mutex> guard(drawing_);
            delete front_.load();
        }
        resizes_.fetch_add(1);
        front_.store(next);
#endif
    }

    int draw() {
        std::lock_guard<std::mutex> guard(drawing_);
        Buffer *front = front_.load();
        int sum = 0;
        for (int i = 0; i < front->width; i++) sum += front->pixels[static_cast<std::size_t>(i)];
        return sum;
    }

private:
    std::mutex drawing_;
    std::atomic<Buffer *> front_;
    std::atomic<int> resizes_{0};
};

int main() {
    Screen screen;
    int sum = 0;
    std::thread window([&] { screen.resize(4); });
    std::thread renderer([&] { sum = screen.draw(); });
    window.join();
    renderer.join();
    std::printf("drawn\n");
    assert(sum == 14 || sum == 28);
}
