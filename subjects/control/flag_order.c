// A forecaster announces a forecast, a farmer uses it if there is one.
// Bug: the flag is set before the data that it announces.
// Consequence: assertion, the farmer finds the flag set and the temperature still 0.
// The twin, flag_order_fixed.c, never fails.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int announced;
static int temperature;
static int used;

static void *forecast(void *unused) {
    atomic_store(&announced, 1); /* A1 */
    temperature = 21;            /* A2 */
    return unused;
}

static void *farm(void *unused) {
    int is_there = atomic_load(&announced); /* B1 */
    if (is_there) {
        int seen = temperature; /* B2 */
        used = 1;
        assert(seen == 21);
    }
    return unused;
}

int main(void) {
    pthread_t forecaster, farmer;
    if (pthread_create(&forecaster, NULL, forecast, NULL) != 0) return 2;
    if (pthread_create(&farmer, NULL, farm, NULL) != 0) return 2;
    pthread_join(forecaster, NULL);
    pthread_join(farmer, NULL);
    printf("used: %d\n", used);
    return 0;
}
