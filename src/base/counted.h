/* A number with its noun for messages: "1 edge", "3 edges", "2 classes". */
#ifndef BASE_COUNTED_H
#define BASE_COUNTED_H

#include <stdint.h>

struct counted {
    char text[80];
};

/* noun is singular; its first word gets the plural ("pair of nodes": "2 pairs of nodes"). */
struct counted counted(int64_t number, const char *noun);

/* As an argument of a printf; valid until the end of that call. */
#define COUNTED(number, noun) (counted((number), (noun)).text)

#endif
