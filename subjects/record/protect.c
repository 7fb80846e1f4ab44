// The last write before its page becomes unreadable.
// Events: a write of 5 to the page, then one of 1 to `after`. The program must not crash.
#include <stdio.h>
#include <sys/mman.h>

static int after;

int main(void) {
    int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 5;
    mprotect(page, 4096, PROT_NONE);
    after = 1;
    printf("%d\n", after);
    return 0;
}
