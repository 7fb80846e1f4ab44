// A chained hash table with striped locks: inserts, look-ups and removals of random keys, with
// allocation. Pointer chasing, short critical sections, heap traffic.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 4096
#define STRIPES 64

struct node { uint64_t key, value; struct node *next; };

static struct node *table[BUCKETS];
static pthread_mutex_t locks[STRIPES];
static long operations;
static long found[2];

static void *work(void *self) {
    uint64_t state = 88172645463325252u + (uintptr_t)self;
    long hits = 0;
    for (long i = 0; i < operations; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        uint64_t key = state % 20000;
        unsigned bucket = key * 2654435761u % BUCKETS;
        pthread_mutex_lock(&locks[bucket % STRIPES]);
        struct node **at = &table[bucket];
        while (*at && (*at)->key != key) at = &(*at)->next;
        if (*at) {
            hits += (*at)->value == key * 3;
            if (state >> 60 == 0) {
                struct node *gone = *at;
                *at = gone->next;
                free(gone);
            }
        } else {
            struct node *new = malloc(sizeof *new);
            new->key = key, new->value = key * 3, new->next = NULL;
            *at = new;
        }
        pthread_mutex_unlock(&locks[bucket % STRIPES]);
    }
    found[(uintptr_t)self] = hits;
    return NULL;
}

int main(int argc, char **argv) {
    operations = argc > 1 ? atol(argv[1]) : 1000000;
    for (int i = 0; i < STRIPES; i++) pthread_mutex_init(&locks[i], NULL);
    pthread_t threads[2];
    for (uintptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    printf("%s\n", found[0] + found[1] > 0 ? "ok" : "nothing found");
    return 0;
}
