// Two customers want the last item of a shop.
// Bug: the check and the sale are in two critical sections. In passing runs the second customer never comes to the sale.
// True: R1-W2-W1 at check, take, take
// True: R1-W2-R1 at check, take, take
// The twin is last_item_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#ifdef FIXED
static pthread_mutex_t region = PTHREAD_MUTEX_INITIALIZER;
#define BEGIN pthread_mutex_lock(&region)
#define END pthread_mutex_unlock(&region)
#else
#define BEGIN (void)0
#define END (void)0
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items = 1;

static int is_there(void) {
    pthread_mutex_lock(&lock);
    int some = items > 0; // @check
    pthread_mutex_unlock(&lock);
    return some;
}

static void sell(void) {
    pthread_mutex_lock(&lock);
    items--; // @take
    assert(items >= 0);
    pthread_mutex_unlock(&lock);
}

static void *customer(void *unused) {
    BEGIN;
    if (is_there()) {
        sell();
    }
    END;
    return unused;
}

int main(void) {
    pthread_t customers[2];
    pthread_create(&customers[0], NULL, customer, NULL);
    pthread_create(&customers[1], NULL, customer, NULL);
    pthread_join(customers[0], NULL);
    pthread_join(customers[1], NULL);
    return 0;
}
