// The twin of handler_update.c: a shop counts customers, and a signal handler on the same thread counts those at the side door.
// The counter is atomic, so that no handler interrupts the increment.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static _Atomic int customers;
static pthread_t shop;

static void ring(int signal) {
    (void)signal;
    customers++;
}

static void *enter(void *unused) {
    pthread_kill(shop, SIGUSR1);
    return unused;
}

int main(void) {
    pthread_t customer;
    struct sigaction action = { .sa_handler = ring };
    sigaction(SIGUSR1, &action, NULL);
    shop = pthread_self();
    int result = pthread_create(&customer, NULL, enter, NULL);
    assert(result == 0);
    customers++; /* A1 */
    pthread_join(customer, NULL);
    int total = customers;
    printf("customers: %d\n", total);
    assert(total == 2);
    return 0;
}
