/*
 * Parses dates: year first with - or /, or day first with points; optionally a time and a zone.
 * 03/04/2021 is refused: the month is ambiguous.
 */
#include "data/table/recipe.h"

#include <string.h>

/* Parses a number of digits and moves *at past them. */
static bool digits(int *out, const char **at, const char *end, int least, int most)
{
    int count = 0;
    *out = 0;
    while (*at < end && count < most && **at >= '0' && **at <= '9') {
        *out = *out * 10 + (**at - '0');
        ++*at;
        count++;
    }
    return count >= least;
}

static bool sign(char c, const char **at, const char *end)
{
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

/* Days since 1970-01-01 in the Gregorian calendar (Hinnant, "chrono-compatible low-level date
 * algorithms"): years start in March, so that the leap day is the last. */
static int64_t days_from_civil(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool civil(int64_t *out, int year, int month, int day)
{
    static const int length[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (month < 1 || month > 12 || day < 1 || day > length[month - 1] ||
        (month == 2 && day == 29 && !leap))
        return false;
    *out = days_from_civil(year, month, day);
    return true;
}

/* "04:30", "04:30:15.25", then nothing, "Z" or "+02:00", as seconds. */
static bool clock_time(double *seconds, const char *at, const char *end)
{
    int hour, minute, second = 0, fraction, zone_hour = 0, zone_minute = 0, sign_of = 0;
    if (!digits(&hour, &at, end, 2, 2) || !sign(':', &at, end) || !digits(&minute, &at, end, 2, 2))
        return false;
    if (sign(':', &at, end) && !digits(&second, &at, end, 2, 2))
        return false;
    if (sign('.', &at, end) &&
        !digits(&fraction, &at, end, 1, 9)) /* fractions of a second are ignored */
        return false;
    if (hour > 24 || minute > 59 || second > 60)
        return false;
    if (sign('+', &at, end))
        sign_of = 1;
    else if (sign('-', &at, end))
        sign_of = -1;
    else
        (void)(sign('Z', &at, end) || sign('z', &at, end));
    if (sign_of) {
        if (!digits(&zone_hour, &at, end, 2, 2))
            return false;
        (void)sign(':', &at, end);
        if (at < end && !digits(&zone_minute, &at, end, 2, 2))
            return false;
    }
    *seconds =
        3600.0 * (hour - sign_of * zone_hour) + 60.0 * (minute - sign_of * zone_minute) + second;
    return at == end;
}

bool recipe_day(double *out, const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    int a, b, c;
    int64_t day;
    double seconds = 0;
    if (length > 40 || !digits(&a, &at, end, 1, 4) || at == end)
        return false;
    char between = *at;
    bool year_first = at - text == 4 && (between == '-' || between == '/');
    if (!(year_first || (between == '.' && at - text <= 2)) || !sign(between, &at, end) ||
        !digits(&b, &at, end, 1, 2) || !sign(between, &at, end) ||
        !digits(&c, &at, end, year_first ? 1 : 4, year_first ? 2 : 4))
        return false;
    if (!civil(&day, year_first ? a : c, b, year_first ? c : a))
        return false;
    if (at < end &&
        (!(sign('T', &at, end) || sign(' ', &at, end)) || !clock_time(&seconds, at, end)))
        return false;
    *out = (double)day + seconds / 86400;
    return true;
}
