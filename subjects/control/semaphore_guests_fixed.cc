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
    // Of several threads that wait in `acquire` of GNU's library 12, one may sleep for ever.
    while (!seats.try_acquire()) std::this_thread::yield();
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
