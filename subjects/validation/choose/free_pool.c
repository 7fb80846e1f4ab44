// Buffers are kept in a list of free ones that is updated without locks. The head has a tag that changes
// whenever a buffer is given back, so that a head that was replaced meanwhile is noticed.
// Bug (atomicity violation): `give_back_unused` leaves the tag as it is.
// Deep: ABA on one path only: between the load of the successor and the exchange of the head, the loader
// must take two buffers, and give the first one back unused.
// Consequence: assertion
// The twin is free_pool_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { BUFFERS = 3, END = 0xff, TAG = 0x100 };

static atomic_uint head;
static atomic_uint next[BUFFERS];
static atomic_int owners[BUFFERS];

static unsigned index_of(unsigned head) { return head & 0xff; }
static unsigned tag_of(unsigned head) { return head & ~0xffu; }

static int take(void) {
    unsigned old = atomic_load(&head);
    while (index_of(old) != END) {
        unsigned after = atomic_load(&next[index_of(old)]);
        if (atomic_compare_exchange_strong(&head, &old, tag_of(old) | after)) {
            int buffer = (int)index_of(old);
            assert(atomic_fetch_add(&owners[buffer], 1) == 0);
            return buffer;
        }
    }
    return -1;
}

static void push(int buffer, unsigned step) {
    atomic_fetch_sub(&owners[buffer], 1);
    unsigned old = atomic_load(&head);
    do {
        atomic_store(&next[buffer], index_of(old));
    } while (!atomic_compare_exchange_strong(&head, &old, (tag_of(old) + step) | (unsigned)buffer));
}

static void give_back(int buffer) { push(buffer, TAG); }

static void give_back_unused(int buffer) {
#ifdef FIXED
    push(buffer, TAG);
#else
    push(buffer, 0);
#endif
}

static void *load(void *unused) {
    (void)unused;
    int first = take();
    int second = take();
    if (first >= 0) give_back_unused(first);
    if (second >= 0) give_back(second);
    return NULL;
}

static void *print(void *unused) {
    (void)unused;
    int page = take();
    int cover = take();
    if (cover >= 0) give_back(cover);
    if (page >= 0) give_back(page);
    return NULL;
}

int main(void) {
    for (unsigned i = 0; i < BUFFERS; i++) atomic_store(&next[i], i + 1 < BUFFERS ? i + 1 : END);
    pthread_t loader, printer;
    pthread_create(&printer, NULL, print, NULL);
    pthread_create(&loader, NULL, load, NULL);
    pthread_join(printer, NULL);
    pthread_join(loader, NULL);
    printf("all buffers used\n");
    return 0;
}
