// std::thread: joined, detached, and one that a vector of threads holds.
// Events: T0 forks T0.1 and joins it; forks and detaches T0.2, whose semaphore it waits for; forks
// T0.3 and T0.4 and joins them. Each writes its own number to its cell.
#include <cstdio>
#include <semaphore.h>
#include <thread>
#include <vector>

static int cell[5];
static sem_t done;

int main() {
    sem_init(&done, 0, 0);
    std::thread one([] { cell[1] = 1; });
    one.join();
    std::thread([] { cell[2] = 2; sem_post(&done); }).detach();
    sem_wait(&done);
    std::vector<std::thread> rest;
    for (int i = 3; i < 5; i++) rest.emplace_back([i] { cell[i] = i; });
    for (auto &thread : rest) thread.join();
    std::printf("%d%d%d%d\n", cell[1], cell[2], cell[3], cell[4]);
}
