// The twin of semaphore_guests.cc: guests are counted while they hold a seat of a `std::counting_semaphore`.
// There is one seat.
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <semaphore>
#include <thread>

static std::counting_semaphore<2> seats(1);
static int guests;

static void enter() {
    seats.acquire();
    guests++;
    seats.release();
}

int main() {
    std::thread first(enter), second(enter);
    first.join();
    second.join();
    int total = guests;
    std::printf("guests: %d\n", total);
    assert(total == 2);
    return 0;
}
