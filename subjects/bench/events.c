// One thread that only writes memory: what an event costs.
#include <stdio.h>
#include <stdlib.h>

static int cell[1024];

int main(int count, char **argument) {
    int rounds = count > 1 ? atoi(argument[1]) : 1000;
    for (int i = 0; i < rounds; i++) cell[i & 1023] = i;
    printf("%d\n", cell[(rounds - 1) & 1023]);
    return 0;
}
