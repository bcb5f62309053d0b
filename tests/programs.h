/* Programs in tests: reading values after a run, and parameters on the host. */
#ifndef TESTS_PROGRAMS_H
#define TESTS_PROGRAMS_H

#include "check.h"

#include "backends/open.h"
#include "program/program.h"

static inline const float *value_of(struct program *p, node x)
{
    const float *value = NULL;
    OK(program_read(&value, p, x));
    return value;
}

static inline float *param_values(struct params *params)
{
    float *values = NULL;
    OK(params_write(&values, params, PLACE_VALUE));
    return values;
}

static inline const float *param_grads(struct params *params)
{
    const float *values = NULL;
    OK(params_read(&values, params, PLACE_GRAD));
    return values;
}

#endif
