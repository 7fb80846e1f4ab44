// Variables on stacks, each written once with a value of its own, by a function that only has the
// address.
// Events: T0 writes 1001 to `plain`, 1002 to `box.left`, 1003 to `box.right[2]`, 1004 to `first` and
// 1005 to `second`, which have a block each, 1006 to a parameter, 1007 to a variable of a `switch`;
// 1020 to 1022 to the `mine` of three turns of a recursion, and 1030 to 1032 on the way back.
// T0.1 and T0.2 are in the same function at the same time: 1101 and 1102 to their own `slot`, then
// 1201 by T0.1 to that of T0.2, 1202 the other way round, and 1301 and 1302 to `shared` of T0.
#include <pthread.h>
#include <stdio.h>

struct box {
    int left;
    int right[3];
};

struct task {
    int number;
    int *shared;
};

static pthread_barrier_t barrier;
static int *slots[3];

__attribute__((noinline)) static void put(int *where, int value) {
    *where = value;
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static int blocks(int choice) {
    int sum = 0;
    {
        int first[8];
        put(&first[1], 1004);
        sum += first[1];
    }
    {
        int second[8];
        put(&second[1], 1005);
        sum += second[1];
    }
    switch (choice) {
    case 0:
        return sum;
    case 1:
        return -sum;
    case 2: {
        int chosen = 0;
        put(&chosen, 1007);
        return sum + chosen;
    }
    case 3:
        return sum * 3;
    case 4:
        return sum ^ 5;
    default:
        return 0;
    }
}

__attribute__((noinline)) static int given(int parameter) {
    put(&parameter, 1006);
    return parameter;
}

__attribute__((noinline)) static int descend(int depth) {
    int mine = 0, below = 0;
    put(&mine, 1020 + depth);
    if (depth < 2)
        below = descend(depth + 1);
    put(&mine, 1030 + depth);
    return mine + below;
}

static void *work(void *argument) {
    struct task *task = argument;
    int slot = 0;
    put(&slot, 1100 + task->number);
    slots[task->number] = &slot;
    pthread_barrier_wait(&barrier);
    put(slots[3 - task->number], 1200 + task->number);
    pthread_barrier_wait(&barrier);
    if (task->number == 2)
        pthread_barrier_wait(&barrier);
    put(task->shared, 1300 + task->number);
    if (task->number == 1)
        pthread_barrier_wait(&barrier);
    return NULL;
}

int main(int count, char **words) {
    int plain = 0, shared = 0;
    struct box box = {0, {0, 0, 0}};
    struct task tasks[2] = {{1, &shared}, {2, &shared}};
    pthread_t threads[2];
    (void)words;
    put(&plain, 1001);
    put(&box.left, 1002);
    put(&box.right[2], 1003);
    printf("%d\n", blocks(count + 1) + given(count) + descend(0));
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, &tasks[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", plain + box.left + box.right[2] + shared);
    return 0;
}
