// An allocator in a library of its own, to be loaded first: each block begins at the start of a page
// that follows one which nobody may touch, as large blocks of jemalloc may.
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ul

static struct { char *block; size_t size; } blocks[1 << 16];
static int count;

void *malloc(size_t size) {
    size_t room = (size + 2 * PAGE - 1) / PAGE * PAGE + PAGE;
    char *start = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int number = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
    if (start == MAP_FAILED || number >= 1 << 16) {
        errno = ENOMEM;
        return NULL;
    }
    mprotect(start, PAGE, PROT_NONE);
    blocks[number].block = start + PAGE;
    blocks[number].size = size;
    return start + PAGE;
}

void free(void *block) {
    (void)block;
}

void *calloc(size_t number, size_t size) {
    return malloc(number * size);
}

void *realloc(void *old, size_t size) {
    char *new = malloc(size);
    for (int i = 0; new != NULL && old != NULL && i < count; i++)
        if (blocks[i].block == old) memcpy(new, old, blocks[i].size < size ? blocks[i].size : size);
    return new;
}
