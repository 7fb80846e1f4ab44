// A printer (T0) prints two pages, the second when others are there. A user waits until it does not
// print, to fill in paper; a technician waits until it has printed both or does not print, to
// switch it off.
// Bug: notify_one, where two kinds of waiters can go on; whoever is woken, the other is not.
// Consequence: hang, if both came while it printed.
// The twin, missed_broadcast_fixed.cc, never fails.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static bool printing, filled, off;
static int pages;

static void print() {
    lock.lock();
    printing = true;
    lock.unlock(); /* A1 */
    lock.lock();   /* A2 */
    printing = false;
    pages++;
    changed.notify_one(); /* A3 */
    lock.unlock();
}

static void fill() {
    std::unique_lock<std::mutex> hold(lock); /* B1 */
    while (printing) changed.wait(hold);     /* B2 */
    filled = true;
}

static void switch_off() {
    std::unique_lock<std::mutex> hold(lock);           /* C1 */
    while (printing && pages < 2) changed.wait(hold); /* C2 */
    off = true;
}

int main() {
    print();
    std::thread user(fill);
    std::thread technician(switch_off);
    print();
    user.join();
    technician.join();
    std::printf("pages: %d, filled: %d, off: %d\n", pages, filled, off);
}
