// A resolver keeps the last answer with its name. Other threads ask for it.
// Bug (data race): the answer is copied without the lock that protects its update.
// Consequence: assertion
// The twin is dns_cache_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct answer {
    char name[16];
    int address;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct answer last = { "localhost", 1 };
static int hits, misses;

static int resolve(const char *name) {
    int address = 0;
    for (; *name != 0; name++) address = address * 31 + *name;
    return address & 0xffff;
}

static void remember(const char *name, int address) {
    pthread_mutex_lock(&lock);
    strncpy(last.name, name, sizeof last.name - 1);
    last.address = address;
    pthread_mutex_unlock(&lock);
}

static int look_up(const char *name) {
    struct answer known;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int same = strcmp(last.name, name) == 0;
    known.address = last.address;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    if (same) return known.address;
    int address = resolve(name);
    remember(name, address);
    return address;
}

static void *browse(void *unused) {
    int one = look_up("example.org");
    int two = look_up("example.org");
    assert(one == two);
    hits++;
    return unused;
}

static void *mail(void *unused) {
    int address = look_up("example.com");
    assert(address == resolve("example.com"));
    misses++;
    return unused;
}

int main(void) {
    pthread_t browser, mailer;
    pthread_create(&browser, NULL, browse, NULL);
    pthread_create(&mailer, NULL, mail, NULL);
    pthread_join(browser, NULL);
    pthread_join(mailer, NULL);
    printf("%d %d\n", hits, misses);
    return 0;
}
