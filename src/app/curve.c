/* Records a run's learning curve and thins it. */
#include "app/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBERS = 256 }; /* of candidates; trials over other edges have larger numbers */
enum { MOST_MEMBERS = 1000 };
static const double MOST_UPDATES = 1e9;

void curve_free(struct train_curve *c)
{
    mem_free(c->point);
    *c = (struct train_curve){0};
}

static int backbone_of(const char *name)
{
    int i = 0;
    while (config_names_backbone[i] && (!name || strcmp(config_names_backbone[i], name) != 0))
        i++;
    return config_names_backbone[i] ? i : 0;
}

bool curve_hear(struct train_curve *c, const struct progress *p)
{
    bool candidate = p->epoch == 0 && p->candidate > 0 && p->candidate < MOST_NUMBERS;
    if (p->refit || (p->epoch == 0 && (!candidate || p->update == 0)))
        return true;
    c->lost = c->lost || GROW(c->point, c->count, c->room, 1) < 0;
    if (c->lost)
        return false;
    c->point[c->count++] =
        (struct curve_point){.member = (double)p->member,
                             .candidate = candidate ? (double)p->candidate : 0,
                             .number = (double)(candidate ? p->update : p->epoch),
                             .loss = isfinite(p->loss) ? p->loss : 0,
                             .score = p->best_val >= 0 ? p->val_acc : -2,
                             .backbone = candidate ? backbone_of(p->backbone) : 0};
    return true;
}

bool curve_sound(const struct curve_point *point, int64_t count)
{
    int backbones = 0;
    while (config_names_backbone[backbones])
        backbones++;
    for (int64_t i = 0; i < count; i++) {
        const struct curve_point *p = &point[i];
        if (!(p->member >= 0 && p->member <= MOST_MEMBERS) ||
            !(p->chosen == 0 || (p->chosen == 1 && p->candidate > 0)) ||
            !(p->candidate >= 0 && p->candidate < MOST_NUMBERS) ||
            !(p->number >= 1 && p->number <= MOST_UPDATES) || !isfinite(p->loss) ||
            !(p->score >= -2 && p->score <= 1) || !(p->backbone >= 0 && p->backbone < backbones))
            return false;
    }
    return true;
}

/* ---- the chosen candidates ------------------------------------------------- */

/* The points of one member, which stand together. */
struct span {
    struct curve_point *point;
    int64_t count;
};

/* The candidate with the best validation, of equal ones the last, that trained up to the run's
 * first epoch. */
static int64_t find_winner(const struct span *s, const char *backbone)
{
    double first = 0, best[MOST_NUMBERS], most = -INFINITY;
    int64_t winner = 0;
    for (int i = 0; i < MOST_NUMBERS; i++)
        best[i] = -INFINITY;
    for (int64_t i = s->count; i-- > 0;)
        first = s->point[i].candidate == 0 ? s->point[i].number : first;
    for (int64_t i = 0; i < s->count; i++) {
        const struct curve_point *p = &s->point[i];
        int who = (int)p->candidate;
        best[who] = p->score > best[who] ? p->score : best[who];
    }
    for (int64_t i = 0; i < s->count; i++) {
        const struct curve_point *p = &s->point[i];
        if (p->candidate > 0 && p->number >= first - 1 && (first == 0 || p->number <= first) &&
            (!backbone || strcmp(config_names_backbone[(int)p->backbone], backbone) == 0) &&
            best[(int)p->candidate] >= most) {
            winner = (int64_t)p->candidate;
            most = best[winner];
        }
    }
    return winner;
}

/* A student has its winner's number and begins again with update 1. If it was taken, its updates
 * count, else the winner's own, before the student and after it. student -1: not known, so that the
 * better one counts. */
static void mark_winner(struct span *s, int64_t winner, int student)
{
    double best[2] = {-INFINITY, -INFINITY}, last = 0;
    for (int pass = 0; pass < 2; pass++) {
        bool taught = best[1] > -INFINITY;
        bool taken = taught && (student < 0 ? best[1] >= best[0] : student > 0);
        int part = 0; /* 1: the student; 2: the winner continues */
        last = 0;
        for (int64_t i = 0; winner > 0 && i < s->count; i++) {
            struct curve_point *p = &s->point[i];
            if ((int64_t)p->candidate != winner)
                continue;
            part += part == 0 ? p->number <= last : part == 1 && p->number != last + 1;
            last = p->number;
            if (part < 2 && p->score > best[part])
                best[part] = p->score;
            p->chosen = pass && (part == 1) == taken;
        }
    }
}

static int by_member(const void *a, const void *b)
{
    const struct curve_point *x = *(struct curve_point *const *)a,
                             *y = *(struct curve_point *const *)b;
    if (x->member != y->member)
        return x->member < y->member ? -1 : 1;
    return x < y ? -1 : 1; /* as they came */
}

static consm_status order_by_member(struct train_curve *c)
{
    consm_status st = CONSM_OK;
    struct curve_point **order = NULL, *point = NULL;
    TRY(NEW(order, c->count));
    TRY(NEW(point, c->count));
    for (int64_t i = 0; i < c->count; i++)
        order[i] = &c->point[i];
    if (c->count > 0)
        qsort(order, (size_t)c->count, sizeof *order, by_member);
    for (int64_t i = 0; i < c->count; i++)
        point[i] = *order[i];
    if (c->count > 0)
        memcpy(c->point, point, (size_t)c->count * sizeof *point);
done:
    mem_free(order);
    mem_free(point);
    return st;
}

consm_status curve_settle(struct train_curve *c, int64_t chosen, const char *backbone, int student)
{
    consm_status st = CONSM_OK;
    TRY(order_by_member(c));
    for (int64_t from = 0, to; from < c->count; from = to) {
        for (to = from; to < c->count && c->point[to].member == c->point[from].member;)
            to++;
        struct span s = {c->point + from, to - from};
        mark_winner(&s, chosen > 0 && s.point->member <= 1 ? chosen : find_winner(&s, backbone),
                    student);
    }
done:
    return st;
}

int64_t curve_winner(const struct train_curve *c)
{
    for (int64_t i = 0; i < c->count && c->point[i].member <= 1; i++)
        if (c->point[i].chosen == 1)
            return (int64_t)c->point[i].candidate;
    return 0;
}

int64_t curve_best(const struct train_curve *c)
{
    const struct curve_point *best = NULL;
    for (int64_t i = 0; i < c->count && c->point[i].member <= 1; i++) {
        const struct curve_point *p = &c->point[i];
        bool own = p->candidate == 0 || p->chosen == 1;
        if (own && p->score >= -1 && (!best || p->score > best->score))
            best = p;
    }
    return best ? (int64_t)best->number : 0;
}

int curve_longest(int64_t chosen[CURVE_CANDIDATES], const struct train_curve *c)
{
    double last[MOST_NUMBERS] = {0};
    int count = 0;
    for (int64_t i = 0; i < c->count; i++) {
        const struct curve_point *p = &c->point[i];
        if (p->member <= 1 && p->candidate > 0 && p->number > last[(int)p->candidate])
            last[(int)p->candidate] = p->number;
    }
    int64_t winner = curve_winner(c);
    if (winner > 0)
        last[winner] = INFINITY;
    for (; count < CURVE_CANDIDATES; count++) {
        int best = 0;
        for (int k = 1; k < MOST_NUMBERS; k++)
            best = last[k] > last[best] ? k : best;
        if (last[best] == 0)
            break;
        chosen[count] = best;
        last[best] = 0;
    }
    return count;
}

consm_status curve_thin(struct train_curve *out, const struct train_curve *c)
{
    consm_status st = CONSM_OK;
    int64_t drawn[CURVE_CANDIDATES], kept = 0, last[MOST_NUMBERS][2];
    int count = curve_longest(drawn, c);
    *out = (struct train_curve){0};
    TRY(NEW(out->point, c->count));
    memset(last, 0xff, sizeof last); /* the last two of each that were kept: -1 */
    for (int64_t i = 0; i < c->count; i++) {
        const struct curve_point p = c->point[i];
        int who = (int)p.candidate;
        bool whole = who == 0 || p.chosen == 1, shown = whole;
        for (int k = 0; p.member <= 1 && k < count; k++)
            shown |= who == drawn[k];
        if (!shown)
            continue;
        int64_t *two = last[who];
        bool level = !whole && two[1] >= 0 && out->point[two[0]].score == p.score &&
                     out->point[two[1]].score == p.score;
        if (level) { /* the middle of the stretch moves on to its end */
            out->point[two[0]] = p;
            continue;
        }
        two[1] = whole ? -1 : two[0];
        two[0] = whole ? -1 : kept;
        out->point[kept++] = p;
    }
    out->count = kept;
done:
    return st;
}
