// Guests are counted while they hold a seat of a `std::counting_semaphore`.
// Bug: there are two seats, so that two guests are counted at once.
// Consequence: assertion, the total is 1 instead of 2.
// The twin, semaphore_guests_fixed.cc, never fails.
// Flags: -std=c++20
#undef NDEBUG
#include <cassert>
#include <cstdio>
#include <semaphore>
#include <thread>

static std::counting_semaphore<2> seats(2);
static int guests;

static void enter() {
    seats.acquire();
    guests++; /* A1 */
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
