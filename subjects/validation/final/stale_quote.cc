// The price of a basket is computed when it is asked for, and remembered until one of its parts changes.
// Bug (atomicity violation): the remembered price is marked as valid before it is computed, and stored
// without a look at whether it is still valid.
// Deep: three threads: while one computes, a part must change, and another one must compute and store the new
// price before the first one stores the old one.
// Consequence: assertion
// The twin is stale_quote_fixed.cc.
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <mutex>
#include <thread>

class Basket {
  public:
    void set_part(int which, int price) {
        std::lock_guard<std::mutex> guard(lock_);
        parts_[which] = price;
        valid_ = false;
    }

    int price() {
#ifdef FIXED
        std::lock_guard<std::mutex> guard(lock_);
        if (!valid_) quote_ = parts_[0] + parts_[1];
        valid_ = true;
        return quote_;
#else
        {
            std::lock_guard<std::mutex> guard(lock_);
            if (valid_) return quote_;
            valid_ = true;
        }
        int sum = 0;
        for (int i = 0; i < 2; i++) {
            std::lock_guard<std::mutex> guard(lock_);
            sum += parts_[i];
        }
        std::lock_guard<std::mutex> guard(lock_);
        if (valid_) quote_ = sum;
        return sum;
#endif
    }

    int parts() {
        std::lock_guard<std::mutex> guard(lock_);
        return parts_[0] + parts_[1];
    }

  private:
    std::mutex lock_;
    int parts_[2] = {10, 20};
    int quote_ = 30;
    bool valid_ = false;
};

int main() {
    Basket basket;
    std::thread customer([&] { (void)basket.price(); });
    std::thread shop([&] {
        basket.set_part(0, 11);
        basket.set_part(1, 22);
    });
    std::thread screen([&] { (void)basket.price(); });
    customer.join();
    shop.join();
    screen.join();
    std::printf("price asked\n");
    assert(basket.price() == basket.parts());
}
