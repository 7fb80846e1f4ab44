// Three operators move the valves of a tank, and a guard checks that not all three are open.
// Bug: nobody looks at the other valves before opening one. It takes three reads that see something else, of variables
// that three other threads write: with two of them the check holds.
// Finds: order on inlet, outlet, drain; assertion
// The twin is valves_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inlet, outlet, drain;

static void *watch(void *unused) {
    pthread_mutex_lock(&lock);
    int fills = inlet;
    int empties = outlet;
    int drains = drain;
    pthread_mutex_unlock(&lock);
    assert(!(fills && empties && drains));
    return unused;
}

static void *operate(void *valve) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (inlet + outlet + drain == 2) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
#endif
    *(int *)valve = 1;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    *(int *)valve = 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t guard, operators[3];
    int *valves[] = {&inlet, &outlet, &drain};
    pthread_create(&guard, NULL, watch, NULL);
    for (int at = 0; at < 3; at++) pthread_create(&operators[at], NULL, operate, valves[at]);
    for (int at = 0; at < 3; at++) pthread_join(operators[at], NULL);
    pthread_join(guard, NULL);
    printf("done\n");
    return 0;
}
