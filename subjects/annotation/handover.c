// A thread fills a record and hands it over at a barrier that tools do not see. Annotations
// describe the order instead.
// Bug: the record is changed once more after the announcement.
// Finds: order on record; assertion
// The twin is handover_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>

void AnnotateHappensBefore(const char *file, int line, const volatile void *at);
void AnnotateHappensAfter(const char *file, int line, const volatile void *at);

void __tsan_testonly_barrier_init(void *barrier, unsigned threads);
void __tsan_testonly_barrier_wait(void *barrier);

static int record;
static long ready;

static void *fill(void *arg) {
    record = 1;
    AnnotateHappensBefore(__FILE__, __LINE__, &ready);
    __tsan_testonly_barrier_wait(&ready);
    record = 2;
    return arg;
}

int main(void) {
    pthread_t thread;
    __tsan_testonly_barrier_init(&ready, 2);
    pthread_create(&thread, NULL, fill, NULL);
    __tsan_testonly_barrier_wait(&ready);
    AnnotateHappensAfter(__FILE__, __LINE__, &ready);
    assert(record == 1);
    pthread_join(thread, NULL);
    return 0;
}
