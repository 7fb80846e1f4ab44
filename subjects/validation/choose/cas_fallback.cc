// A histogram is updated without locks. After three conflicts an update gives up to be fair to others.
// Bug (atomicity violation): giving up stores what was computed for the last try.
// Deep: three tries must be disturbed, each by an update of another thread: six switches.
// Consequence: assertion
// The twin is cas_fallback_fixed.cc.
#undef NDEBUG
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>

class Histogram {
public:
    void add(int bin, int weight) {
        std::atomic<int> &counter = bins_[bin];
        int next = 0;
        for (int attempt = 0; attempt < attempts; attempt++) {
            int seen = counter.load();
            next = seen + weight;
            if (counter.compare_exchange_strong(seen, next)) return;
            conflicts_.fetch_add(1);
        }
#ifdef FIXED
        counter.fetch_add(weight);
#else
        counter.store(next);
#endif
    }

    void count(int bin) { bins_[bin].fetch_add(1); }
    int at(int bin) const { return bins_[bin].load(); }

private:
    static const int attempts = 3;
    std::atomic<int> bins_[4] = {};
    std::atomic<int> conflicts_{0};
};

static const int samples = 4;
static Histogram histogram;

static void sample() {
    for (int i = 0; i < samples; i++) histogram.count(1);
}

static void merge() {
    histogram.add(0, 5);
    histogram.add(1, 10);
}

int main() {
    std::thread sampler(sample);
    std::thread merger(merge);
    sampler.join();
    merger.join();
    std::printf("%d %d\n", histogram.at(0), histogram.at(1));
    assert(histogram.at(0) == 5);
    assert(histogram.at(1) == 10 + samples);
}
