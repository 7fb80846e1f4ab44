// The functions that allocate.
// Events: allocations of 1001 to 1009 bytes, each freed later; the one of 1003 grows to 300,000 in
// another place: freed and allocated. The one of 1010 is asked to grow beyond all memory and stays.
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    void *a = malloc(1001);
    free(a);
    void *b = calloc(1, 1002);
    free(b);
    void *c = malloc(1003);
    void *wall = malloc(64);
    c = realloc(c, 300000);
    free(c);
    free(wall);
    void *d;
    int result = posix_memalign(&d, 64, 1004);
    free(d);
    void *e = aligned_alloc(64, 1005);
    free(e);
    void *f = memalign(64, 1006);
    free(f);
    void *g = valloc(1007);
    free(g);
    void *h = reallocarray(NULL, 1, 1008);
    free(h);
    void *i = realloc(NULL, 1009);
    free(i);
    void *j = malloc(1010);
    volatile size_t huge = (size_t)1 << 60;
    void *k = realloc(j, huge);
    printf("%d %d\n", result, k == NULL);
    free(k == NULL ? j : k);
    free(NULL);
    return 0;
}
