/* KNOWN(x) tells clang's static analyzer that x is true here, if this file alone does not show it.
 * In a build it does nothing. */
#ifndef BASE_KNOWN_H
#define BASE_KNOWN_H

#ifdef __clang_analyzer__
#define KNOWN(x)                     \
    do {                             \
        if (!(x))                    \
            __builtin_unreachable(); \
    } while (0)
#else
#define KNOWN(x) ((void)0)
#endif

#endif
