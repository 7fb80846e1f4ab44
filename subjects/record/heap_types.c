// Members of structures on the heap, each written with a value of its own. What they are called must not
// depend on the compiler.
#include <pthread.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long key;
};

typedef struct {
    pthread_mutex_t lock;
    struct node *head;
    long counts[3];
} queue_t;

struct task {
    int priority;
    long cost;
};

queue_t *queue;
struct node *spare[2];
struct task *tasks;

__attribute__((noinline)) static void *allocate(size_t size) { return calloc(1, size); }

__attribute__((noinline)) static void push(queue_t *to, long key) {
    struct node *new = allocate(sizeof *new);
    new->key = key;
    new->next = to->head;
    to->head = new;
}

__attribute__((noinline)) static void *work(void *argument) {
    queue_t *own = argument;
    pthread_mutex_lock(&own->lock);
    own->counts[1] = 3001;
    push(own, 3002);
    own->head->key = 3003;
    pthread_mutex_unlock(&own->lock);
    return NULL;
}

int main(void) {
    queue = allocate(sizeof *queue);
    pthread_mutex_init(&queue->lock, NULL);
    for (int i = 0; i < 2; i++) {
        spare[i] = allocate(sizeof *spare[i]);
        spare[i]->key = 3010 + i;
    }
    tasks = allocate(4 * sizeof *tasks);
    for (int i = 0; i < 4; i++) {
        tasks[i].cost = 3020 + i;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, work, queue);
    pthread_join(thread, NULL);
    return tasks[2].cost != 3022;
}
