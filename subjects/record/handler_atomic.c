// Handlers that do atomic operations interrupt a thread that does, on the same variable.
// Events: additions of 1 to `total`, whose values before are 0, 1, 2, … in the order of their
// sequence numbers; the sum is printed and must be right.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

static int total, handled, done;
static pthread_t first;

static void handle(int signal) {
    (void)signal;
    __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

static void *shoot(void *unused) {
    for (int i = 0; i < 500; i++) {
        pthread_kill(first, SIGUSR1);
        while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) <= i) sched_yield();
    }
    __atomic_store_n(&done, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void) {
    pthread_t thread;
    long own = 0;
    first = pthread_self();
    signal(SIGUSR1, handle);
    pthread_create(&thread, NULL, shoot, NULL);
    while (!__atomic_load_n(&done, __ATOMIC_SEQ_CST)) {
        __atomic_fetch_add(&total, 1, __ATOMIC_SEQ_CST);
        own++;
    }
    pthread_join(thread, NULL);
    printf("%d %d\n", handled, total - own == 500);
    return 0;
}
