/* norn.h: annotations of a program for Norn.
 *
 *     NORN_EVENT("auth", user);          a named event on an object (or with a number)
 *     NORN_ATOMIC { a = b; b = 0; }      a region that should be atomic
 *     NORN_ATOMIC_BEGIN(); ... NORN_ATOMIC_END();
 *
 * `norn cc` and `norn c++` find this file automatically. `norn header > norn.h` writes it for other
 * builds: there, and in a run that is not recorded, the macros have no effect. For C and C++ with gcc
 * and clang.
 *
 * A region ends with its block, also by return, break, continue and goto, and in C++ by an exception.
 * Regions may be nested.
 */
#ifndef NORN_H
#define NORN_H

#if defined(__GNUC__) && defined(__x86_64__)

#ifdef __cplusplus
extern "C" {
#endif

struct norn_name {
    const char *text;
    unsigned process;
};

/* Defined by Norn's runtime, if it is linked. */
extern void norn_event(struct norn_name *, unsigned long) __attribute__((weak));
extern void norn_region_begin(void) __attribute__((weak));
extern void norn_region_end(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#define NORN_EVENT(name, object)                                                  \
    do {                                                                          \
        static struct norn_name norn_name_here = {"" name, 0};                    \
        if (norn_event)                                                           \
            norn_event(&norn_name_here, (unsigned long)(object));                 \
    } while (0)

#define NORN_ATOMIC_BEGIN() ((void)(norn_region_begin ? (norn_region_begin(), 0) : 0))
#define NORN_ATOMIC_END() ((void)(norn_region_end ? (norn_region_end(), 0) : 0))

static inline __attribute__((unused)) int norn_region_enter(void)
{
    NORN_ATOMIC_BEGIN();
    return 1;
}

static inline __attribute__((unused)) void norn_region_leave(int *inside)
{
    (void)inside;
    NORN_ATOMIC_END();
}

#define NORN_ATOMIC                                                               \
    for (int norn_inside __attribute__((cleanup(norn_region_leave))) =            \
             norn_region_enter();                                                 \
         norn_inside; norn_inside = 0)

#else

#define NORN_EVENT(name, object) ((void)(name), (void)(object))
#define NORN_ATOMIC_BEGIN() ((void)0)
#define NORN_ATOMIC_END() ((void)0)
#define NORN_ATOMIC

#endif

#endif
