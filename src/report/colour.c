/* The colour ramps. Viridis (van der Walt and Smith, 2015) through ten of its points: even steps
 * look even, also in grey and to the colour-blind. Trust goes from brown over grey to violet,
 * colours that no class has, readable on white and on black. */
#include <math.h>

#include "report/svg_inside.h"

static uint32_t mix(uint32_t a, uint32_t b, double t)
{
    uint32_t out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double x = a >> shift & 255, y = b >> shift & 255;
        out |= (uint32_t)lround(x + (y - x) * t) << shift;
    }
    return out;
}

static uint32_t ramp(const uint32_t *stop, int stops, double at)
{
    double place = fmin(1, fmax(0, at)) * (stops - 1);
    int below = (int)place < stops - 1 ? (int)place : stops - 2;
    return mix(stop[below], stop[below + 1], place - below);
}

uint32_t colour_viridis(double at)
{
    static const uint32_t stop[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                    0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};
    return ramp(stop, 10, at);
}

uint32_t colour_trust(double at)
{
    static const uint32_t stop[] = {0xa0662f, 0x999999, 0x8250df};
    return ramp(stop, 3, at);
}

/* Compares relative luminance with the middle of black and white in contrast (W3C's formula). */
bool colour_is_dark(uint32_t rgb)
{
    static const double weight[] = {0.0722, 0.7152, 0.2126};
    double luminance = 0;
    for (int i = 0; i < 3; i++) {
        double v = (double)(rgb >> (8 * i) & 255) / 255;
        luminance += weight[i] * (v <= 0.03928 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return luminance < 0.179;
}
