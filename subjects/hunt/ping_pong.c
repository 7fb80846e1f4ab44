// Two players hit a ball and count the hits.
// Bug: nothing protects the counter: a hit can be lost.
// Finds: race on hits; assertion
// The twin is ping_pong_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 3 };

static int hits;

struct player {
    const char *name;
    int own;
};

static void hit(struct player *player) {
    hits++;
    player->own++;
}

static void *play(void *argument) {
    for (int i = 0; i < ROUNDS; i++) hit(argument);
    return NULL;
}

int main(void) {
    struct player players[2] = { { "ping", 0 }, { "pong", 0 } };
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, play, &players[i]) != 0) return 2;
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        printf("%s: %d\n", players[i].name, players[i].own);
    }
    printf("hits: %d\n", hits);
    assert(hits == players[0].own + players[1].own);
    return 0;
}
