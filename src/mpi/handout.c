/* Ranks that work on their own: texts to rank 0, and numbers back. Several threads of a rank may
 * ask, one after the other; only one thread at a time calls MPI. */
#include "program/handout.h"
#include "mpi/inside.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { TAG_TEXT = 1, TAG_NUMBER = 2 };

static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER, inside = PTHREAD_MUTEX_INITIALIZER;

static consm_status handout_ask(int64_t *answer, const char *text)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    MPI_Request request[2];
    int here = 0;
    pthread_mutex_lock(&asking);
    pthread_mutex_lock(&inside);
    MPI_Irecv(answer, 1, MPI_INT64_T, 0, TAG_NUMBER, world.comm, &request[0]);
    MPI_Isend(text, (int)strlen(text), MPI_CHAR, 0, TAG_TEXT, world.comm, &request[1]);
    while (!here) {
        MPI_Testall(2, request, &here, MPI_STATUSES_IGNORE);
        pthread_mutex_unlock(&inside);
        if (!here)
            nanosleep(&nap, NULL);
        pthread_mutex_lock(&inside);
    }
    pthread_mutex_unlock(&inside);
    pthread_mutex_unlock(&asking);
    return CONSM_OK;
}

static consm_status handout_poll(char **text, int *from)
{
    consm_status st = CONSM_OK;
    MPI_Status status;
    int here = 0, length = 0;
    *text = NULL;
    pthread_mutex_lock(&inside);
    MPI_Iprobe(MPI_ANY_SOURCE, TAG_TEXT, world.comm, &here, &status);
    if (here) {
        MPI_Get_count(&status, MPI_CHAR, &length);
        *from = status.MPI_SOURCE;
        *text = world.os->zalloc((size_t)length + 1, 1);
        if (*text)
            MPI_Recv(*text, length, MPI_CHAR, *from, TAG_TEXT, world.comm, MPI_STATUS_IGNORE);
        else
            st = CONSM_ENOMEM;
    }
    pthread_mutex_unlock(&inside);
    return st;
}

static void handout_reply(int to, int64_t number)
{
    pthread_mutex_lock(&inside);
    MPI_Send(&number, 1, MPI_INT64_T, to, TAG_NUMBER, world.comm);
    pthread_mutex_unlock(&inside);
}

__attribute__((visibility("default"))) handout_open_fn consm_handout;

consm_status consm_handout(const struct handout **out, uint64_t layout)
{
    static const struct handout functions = {handout_ask, handout_poll, handout_reply};
    if (!world.os || layout != plugin_layout())
        return CONSM_ENOTFOUND;
    *out = &functions;
    return CONSM_OK;
}
