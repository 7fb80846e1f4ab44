// A cache of decoded images. Whoever gets an image takes a reference and drops it when done; replacing
// an image drops the reference of the cache.
// Bug (use after free): `get_image` takes the reference after it has released the lock, so that the
// image may be replaced, and freed, in between.
// Consequence: use after free
// The twin is shared_image_fixed.c.
#undef NDEBUG
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct image {
    atomic_int references;
    int width, height;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *current;

static struct image *decode(int width, int height) {
    struct image *image = malloc(sizeof *image);
    assert(image != NULL);
    atomic_init(&image->references, 1);
    image->width = width;
    image->height = height;
    return image;
}

static void drop_image(struct image *image) {
    if (atomic_fetch_sub(&image->references, 1) == 1) free(image);
}

static struct image *get_image(void) {
    pthread_mutex_lock(&lock);
    struct image *image = current;
#ifdef FIXED
    atomic_fetch_add(&image->references, 1);
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&image->references, 1);
#endif
    return image;
}

static void replace_image(struct image *next) {
    pthread_mutex_lock(&lock);
    struct image *previous = current;
    current = next;
    pthread_mutex_unlock(&lock);
    drop_image(previous);
}

static void *draw(void *argument) {
    long area = 0;
    for (int i = 0; i < 2; i++) {
        struct image *image = get_image();
        area += (long)image->width * image->height;
        drop_image(image);
    }
    *(long *)argument = area;
    return NULL;
}

static void *reload(void *argument) {
    replace_image(decode(640, 480));
    replace_image(decode(800, 600));
    return argument;
}

int main(void) {
    pthread_t painter, loader;
    long area = 0;
    current = decode(320, 200);
    pthread_create(&painter, NULL, draw, &area);
    pthread_create(&loader, NULL, reload, NULL);
    pthread_join(painter, NULL);
    pthread_join(loader, NULL);
    drop_image(current);
    assert(area > 0);
    return 0;
}
