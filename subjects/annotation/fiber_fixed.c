// The twin of fiber.c: a fiber begins on one thread and continues on another one. It adds to a total on both.
// The second thread adds after it has run the fiber, which orders it after the first one.
// Finds: nothing harmful
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <ucontext.h>

void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_set_fiber_name(void *fiber, const char *name);
void __tsan_testonly_barrier_init(void *barrier, unsigned threads);
void __tsan_testonly_barrier_wait(void *barrier);

static char stack[1 << 18];
static ucontext_t context, back;
static void *fiber, *home;
static int total;
static long parked;

static void add(void) {
    int seen = total;
    total = seen + 1;
}

static void enter(void) {
    home = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber, 0);
    swapcontext(&back, &context);
}

static void leave(void) {
    __tsan_switch_to_fiber(home, 0);
    swapcontext(&context, &back);
}

static void body(void) {
    add();
    leave();
    add();
    leave();
}

static void *first(void *arg) {
    enter();
    __tsan_testonly_barrier_wait(&parked);
    return arg;
}

static void *second(void *arg) {
    __tsan_testonly_barrier_wait(&parked);
    enter();
    add();
    return arg;
}

int main(void) {
    pthread_t thread[2];
    __tsan_testonly_barrier_init(&parked, 2);
    fiber = __tsan_create_fiber(0);
    __tsan_set_fiber_name(fiber, "worker");
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = sizeof stack;
    makecontext(&context, body, 0);
    pthread_create(&thread[0], NULL, first, NULL);
    pthread_create(&thread[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    __tsan_destroy_fiber(fiber);
    assert(total == 3);
    return 0;
}
