// Buffers are kept in a list of free ones, linked by indices, that is updated without locks.
// Bug (atomicity violation): the head has no tag, so that a buffer that was taken and given back meanwhile
// is not noticed.
// Deep: ABA: between the load of the successor and the exchange of the head, another thread must take two
// buffers and give exactly the first one back.
// Consequence: assertion
// The twin is buffer_list_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static _Atomic unsigned long head;
static atomic_int following[5], used[5];

static unsigned long make(unsigned long old, int index) {
#ifdef FIXED
    return ((old >> 16) + 1) << 16 | (unsigned long)index;
#else
    (void)old;
    return (unsigned long)index;
#endif
}

static int acquire(void) {
    unsigned long seen = atomic_load(&head);
    for (;;) {
        int index = (int)(seen & 0xffff);
        if (index == 0) return 0;
        int next = atomic_load(&following[index]);
        if (atomic_compare_exchange_strong(&head, &seen, make(seen, next))) {
            assert(atomic_exchange(&used[index], 1) == 0);
            return index;
        }
    }
}

static void release(int index) {
    atomic_store(&used[index], 0);
    unsigned long seen = atomic_load(&head);
    do atomic_store(&following[index], (int)(seen & 0xffff));
    while (!atomic_compare_exchange_strong(&head, &seen, make(seen, index)));
}

static int kept;

static void *busy(void *unused) {
    (void)unused;
    int a = acquire(), b = acquire();
    if (a) release(a);
    kept = b;
    return NULL;
}

static void *other(void *unused) {
    (void)unused;
    int a = acquire();
    int b = acquire();
    if (b) release(b);
    if (a) release(a);
    return NULL;
}

int main(void) {
    for (int i = 1; i < 5; i++) { atomic_store(&following[i], i < 4 ? i + 1 : 0); }
    atomic_store(&head, 1);
    pthread_t a, b;
    pthread_create(&a, NULL, other, NULL);
    pthread_create(&b, NULL, busy, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("done\n");
    return 0;
}
