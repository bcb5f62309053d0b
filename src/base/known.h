/* KNOWN(x) tells clang's static analyzer what holds at this place and cannot be seen from this
 * file. It is nothing in a build. */
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
