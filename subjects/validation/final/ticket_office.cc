// Two counters of a ticket office give out numbers and note to whom.
// Bug (atomicity violation): `next_number` loads and stores an atomic number instead of incrementing it,
// so that two customers can get the same one.
// Consequence: assertion
// The twin is ticket_office_fixed.cc.
#undef NDEBUG
#include <array>
#include <atomic>
#include <cassert>
#include <cstdio>
#include <thread>
#include <vector>

class Office {
public:
    int next_number() {
#ifdef FIXED
        return next_.fetch_add(1);
#else
        int number = next_.load();
        next_.store(number + 1);
        return number;
#endif
    }

    void note(int number, int customer) {
        int nobody = 0;
        bool first = customers_[static_cast<std::size_t>(number)].compare_exchange_strong(nobody, customer);
        if (!first) twice_.fetch_add(1);
    }

    int twice() const { return twice_.load(); }
    int given() const { return next_.load(); }

private:
    std::atomic<int> next_{0};
    std::atomic<int> twice_{0};
    std::array<std::atomic<int>, 16> customers_{};
};

static void counter(Office &office, int customer) {
    for (int i = 0; i < 2; i++) {
        int number = office.next_number();
        office.note(number, customer + i);
    }
}

int main() {
    Office office;
    std::vector<std::thread> counters;
    for (int i = 0; i < 2; i++) counters.emplace_back(counter, std::ref(office), (i + 1) * 100);
    for (std::thread &it : counters) it.join();
    std::printf("%d given, %d twice\n", office.given(), office.twice());
    assert(office.twice() == 0);
    assert(office.given() == 4);
}
