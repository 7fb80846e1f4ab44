// A child process posts a semaphore and signals a condition variable in shared memory; the parent waits for both, and
// adds to a total as its worker does.
// Bug: the parent adds without the lock.
// Finds: race on total; assertion
// The twin is other_process_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sem_t started;
    int ready;
};

static struct shared *shared;
static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void *work(void *argument) {
    pthread_mutex_lock(&lock);
    add();
    pthread_mutex_unlock(&lock);
    return argument;
}

static void make_shared(void) {
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->changed, &condition);
    sem_init(&shared->started, 1, 0);
}

static void child(void) {
    usleep(1000);
    sem_post(&shared->started);
    pthread_mutex_lock(&shared->lock);
    shared->ready = 1;
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    _exit(0);
}

int main(void) {
    pthread_t worker;
    make_shared();
    pid_t pid = fork();
    if (pid == 0) child();
    assert(sem_wait(&shared->started) == 0);
    pthread_mutex_lock(&shared->lock);
    while (!shared->ready) pthread_cond_wait(&shared->changed, &shared->lock);
    pthread_mutex_unlock(&shared->lock);
    assert(waitpid(pid, NULL, 0) == pid);
    pthread_create(&worker, NULL, work, NULL);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    add();
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(worker, NULL);
    assert(total == 2);
    return 0;
}
