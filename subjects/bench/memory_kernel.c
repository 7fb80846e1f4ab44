// A dense kernel: each thread multiplies its half of two matrices. Almost every instruction is a
// memory access.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int n;
static double *a, *b, *c;

static void *work(void *half) {
    long from = (long)half * n / 2, to = ((long)half + 1) * n / 2;
    for (long i = from; i < to; i++)
        for (long j = 0; j < n; j++) {
            double sum = 0;
            for (long k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
    return NULL;
}

int main(int argc, char **argv) {
    n = argc > 1 ? atoi(argv[1]) : 300;
    a = malloc(sizeof *a * n * n);
    b = malloc(sizeof *b * n * n);
    c = malloc(sizeof *c * n * n);
    for (int i = 0; i < n * n; i++) a[i] = i % 7, b[i] = i % 5;
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    double sum = 0;
    for (int i = 0; i < n * n; i++) sum += c[i];
    printf("%.0f\n", sum);
    return 0;
}
