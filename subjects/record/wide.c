// Sixteen bytes at once: an integer, a vector, a long double.
// Events: a write and a read of 16 bytes of each variable; of the first two with the value below.
// (A long double is 10 bytes that matter; the other six are what they happen to be.)
#include <emmintrin.h>
#include <stdio.h>

static unsigned __int128 number;
static __m128i vector;
static long double real;

int main(void) {
    number = (unsigned __int128)0x0011223344556677 << 64 | 0x8899aabbccddeeff;
    unsigned __int128 n = number;
    vector = _mm_set_epi64x(0x0102030405060708, 0x1112131415161718);
    __m128i v = vector;
    real = 2.5L;
    long double r = real;
    printf("%lx %lx %lx %Lg\n", (long)(n >> 64), (long)n,
           (long)_mm_cvtsi128_si64(v), r);
    return 0;
}
