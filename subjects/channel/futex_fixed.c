// The twin of futex.c: a worker adds to a total as soon as it is woken by a futex.
// The first thread adds before that: a wait for a futex returns after the call that wakes it.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int total;
static unsigned gate;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    while (__atomic_load_n(&gate, __ATOMIC_ACQUIRE) == 0)
        syscall(SYS_futex, &gate, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    add();
    return argument;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, NULL, work, NULL);
    add();
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &gate, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
