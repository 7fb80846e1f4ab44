// At least one doctor must be on call. A doctor may leave if the others are enough.
// Bug (write skew): each doctor checks the others under their locks and then leaves under the own lock,
// so that both can leave at the same time.
// Consequence: assertion
// The twin is on_call_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { DOCTORS = 2 };

struct doctor {
    pthread_mutex_t lock;
    int on_call;
    int requests;
};

static struct doctor doctors[DOCTORS] = {
    { PTHREAD_MUTEX_INITIALIZER, 1, 0 },
    { PTHREAD_MUTEX_INITIALIZER, 1, 0 },
};
#ifdef FIXED
static pthread_mutex_t rota = PTHREAD_MUTEX_INITIALIZER;
#endif

static int is_on_call(int doctor) {
    pthread_mutex_lock(&doctors[doctor].lock);
    int it = doctors[doctor].on_call;
    pthread_mutex_unlock(&doctors[doctor].lock);
    return it;
}

static int others_on_call(int doctor) {
    int count = 0;
    for (int i = 0; i < DOCTORS; i++)
        if (i != doctor) count += is_on_call(i);
    return count;
}

static void leave(int doctor) {
#ifdef FIXED
    pthread_mutex_lock(&rota);
#endif
    if (others_on_call(doctor) > 0) {
        pthread_mutex_lock(&doctors[doctor].lock);
        doctors[doctor].on_call = 0;
        doctors[doctor].requests++;
        pthread_mutex_unlock(&doctors[doctor].lock);
    }
#ifdef FIXED
    pthread_mutex_unlock(&rota);
#endif
}

static void *shift(void *argument) {
    leave(*(int *)argument);
    return NULL;
}

int main(void) {
    pthread_t threads[DOCTORS];
    int numbers[DOCTORS] = { 0, 1 };
    for (int i = 0; i < DOCTORS; i++) pthread_create(&threads[i], NULL, shift, &numbers[i]);
    for (int i = 0; i < DOCTORS; i++) pthread_join(threads[i], NULL);
    int left = is_on_call(0) + is_on_call(1);
    printf("%d on call\n", left);
    assert(left >= 1);
    return 0;
}
