// The twin of ignored.c: two threads count in a statistic and in a total. The accesses to the statistic are in a region that
// is ignored, and races on the last value are declared benign.
// The total is counted under a lock.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *at, size_t size,
                             const char *text);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long statistic[2], last;
static int total;

static void *count(void *arg) {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    statistic[0]++;
    statistic[1] += statistic[0];
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    last = 1;
    pthread_mutex_lock(&mutex);
    int seen = total;
    total = seen + 1;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t thread[2];
    AnnotateBenignRaceSized(__FILE__, __LINE__, &last, sizeof last, "any value will do");
    for (int i = 0; i < 2; i++) pthread_create(&thread[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    pthread_mutex_lock(&mutex);
    assert(total == 2);
    pthread_mutex_unlock(&mutex);
    return 0;
}
