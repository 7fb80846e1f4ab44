// Mapped pages.
// Events: map of 8192 bytes, writes of 1 and 2 into both pages, unmap of the second page; the first
// moves or grows to 65,536 bytes: unmapped and mapped; unmap of these. A failed map leaves none.
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

int main(void) {
    int *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages[0] = 1;
    pages[1024] = 2;
    munmap(pages + 1024, 4096);
    pages = mremap(pages, 4096, 65536, MREMAP_MAYMOVE);
    printf("%d\n", pages[0]);
    munmap(pages, 65536);
    printf("%d\n", mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    return 0;
}
