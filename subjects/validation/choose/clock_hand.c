// A cache of pages. A page that was used recently gets a second chance: the hand only clears its mark when it comes
// by, and reuses the page in the next round, if nobody has pinned it.
// Bug (atomicity violation): `fetch` compares the number of the page before it pins it, and not afterwards.
// Deep: the hand must come by twice in between, since the first time it only clears the mark.
// Consequence: assertion
// The twin is clock_hand_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { PAGES = 2 };

struct page { atomic_int number, mark, pins, content; };

static struct page pages[PAGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned hand;

static void load(struct page *page, int number) {
    atomic_store(&page->number, number);
    atomic_store(&page->content, number * 100);
}

static void replace(int number) {
    pthread_mutex_lock(&lock);
    for (int step = 0; step < 2 * PAGES; step++) {
        struct page *page = &pages[hand++ % PAGES];
        if (atomic_exchange(&page->mark, 0)) continue;
        int unused = 0;
        if (!atomic_compare_exchange_strong(&page->pins, &unused, -1)) continue;
        load(page, number);
        atomic_store(&page->pins, 0);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static int pin(struct page *page) {
    int pins = atomic_load(&page->pins);
    while (pins >= 0)
        if (atomic_compare_exchange_strong(&page->pins, &pins, pins + 1)) return 1;
    return 0;
}

static int fetch(int number) {
    for (int i = 0; i < PAGES; i++) {
        struct page *page = &pages[i];
        if (atomic_load(&page->number) != number || !pin(page)) continue;
#ifdef FIXED
        if (atomic_load(&page->number) != number) {
            atomic_fetch_sub(&page->pins, 1);
            continue;
        }
#endif
        atomic_store(&page->mark, 1);
        int content = atomic_load(&page->content);
        atomic_fetch_sub(&page->pins, 1);
        return content;
    }
    return -1;
}

static void *reader(void *unused) {
    (void)unused;
    for (int number = 1; number <= 2; number++) {
        int content = fetch(number);
        assert(content == -1 || content == number * 100);
    }
    return NULL;
}

static void *pager(void *unused) {
    (void)unused;
    replace(3);
    replace(4);
    return NULL;
}

int main(void) {
    for (int i = 0; i < PAGES; i++) {
        load(&pages[i], i + 1);
        atomic_store(&pages[i].mark, 1);
    }
    pthread_t a, b;
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, pager, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("paged\n");
    return 0;
}
