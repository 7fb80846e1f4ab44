// A worker waits for a message for a day at most, and then adds to a total. The day ends by the clock of the run.
// The first thread adds before that.
// Finds: nothing harmful
// Flags: -lrt
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int total;
static mqd_t queue;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 24 * 60 * 60;
    char got;
    assert(mq_timedreceive(queue, &got, 1, NULL, &limit) == 1);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    char name[40];
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    snprintf(name, sizeof name, "/norn-subject-%d", getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
    assert(queue != (mqd_t)-1);
    mq_unlink(name);
    pthread_create(&worker, NULL, work, NULL);
    add();
    assert(mq_send(queue, "g", 1, 0) == 0);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
