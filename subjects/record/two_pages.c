// Writes to a number that lies in two pages; then the second page becomes unreadable.
// Events: a write of 5 to `two.value`, of 1 to `after`, of 6 to `two.value` and of 2 to `after`. The program must not
// crash.
#include <stdio.h>
#include <sys/mman.h>

static struct __attribute__((packed, aligned(4096))) {
    char before[4092];
    long value;
    char rest[4092];
} two;
static volatile int after;

int main(void) {
    two.value = 5;
    after = 1;
    two.value = 6;
    mprotect((char *)&two + 4096, 4096, PROT_NONE);
    after = 2;
    printf("%d\n", after);
    return 0;
}
