// A transaction reads without a lock, computes, and commits if nothing has changed. After three conflicts
// it falls back to a slower way.
// Bug (atomicity violation): the fall-back commits without a check.
// Deep: each of three attempts must be disturbed, and the fall-back as well: eight switches.
// Consequence: assertion
// The twin is optimistic_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { ATTEMPTS = 3, DEPOSITS = 5 };

struct record {
    pthread_mutex_t lock;
    int version;
    long value;
};

static struct record record = { .lock = PTHREAD_MUTEX_INITIALIZER };

static long read_record(int *version) {
    pthread_mutex_lock(&record.lock);
    long value = record.value;
    *version = record.version;
    pthread_mutex_unlock(&record.lock);
    return value;
}

static int commit(int version, long value) {
    pthread_mutex_lock(&record.lock);
    int same = record.version == version;
    if (same) {
        record.value = value;
        record.version++;
    }
    pthread_mutex_unlock(&record.lock);
    return same;
}

static void fall_back(long amount) {
#ifdef FIXED
    pthread_mutex_lock(&record.lock);
    record.value += amount;
    record.version++;
    pthread_mutex_unlock(&record.lock);
#else
    int version;
    long value = read_record(&version);
    pthread_mutex_lock(&record.lock);
    record.value = value + amount;
    record.version++;
    pthread_mutex_unlock(&record.lock);
#endif
}

static void add(long amount) {
    for (int i = 0; i < ATTEMPTS; i++) {
        int version;
        long value = read_record(&version);
        if (commit(version, value + amount)) return;
    }
    fall_back(amount);
}

static void *deposit(void *unused) {
    for (int i = 0; i < DEPOSITS; i++) {
        pthread_mutex_lock(&record.lock);
        record.value++;
        record.version++;
        pthread_mutex_unlock(&record.lock);
    }
    return unused;
}

static void *add_interest(void *unused) {
    add(100);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, deposit, NULL);
    pthread_create(&two, NULL, add_interest, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("value: %ld\n", record.value);
    assert(record.value == 100 + DEPOSITS);
    return 0;
}
