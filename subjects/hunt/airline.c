// Agents sell the seats of a flight until there are none left.
// Bug: nothing protects the number of seats that are sold: more are sold than there are.
// Finds: race on sold; assertion
// The twin is airline_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { SEATS = 2, AGENTS = 3 };

static int sold;
static int closed;

static void sell(int *tickets) {
    if (closed) return;
    *tickets += 1;
    sold++;
    if (sold == SEATS) closed = 1;
}

static void *agent(void *tickets) {
    sell(tickets);
    return NULL;
}

int main(void) {
    pthread_t agents[AGENTS];
    int tickets[AGENTS] = { 0 };
    int all = 0;
    for (int i = 0; i < AGENTS; i++) {
        if (pthread_create(&agents[i], NULL, agent, &tickets[i]) != 0) return 2;
    }
    for (int i = 0; i < AGENTS; i++) {
        pthread_join(agents[i], NULL);
        all += tickets[i];
    }
    printf("seats: %d, tickets: %d\n", SEATS, all);
    assert(all <= SEATS);
    return 0;
}
