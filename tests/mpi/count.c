/* Counts what a process asks MPI to send, through the profiling interface; preloaded by
 * check_mpi.sh. At the end it writes the bytes of started persistent sends and of gathered rows,
 * counted per receiving rank, to COUNT_FOLDER/RANK: "sends gathers". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 16 };
static struct {
    MPI_Request request;
    long long bytes;
} known[MOST];
static int count;
static long long sends, gathers;

static long long type_bytes(MPI_Datatype type, int number)
{
    int size;
    PMPI_Type_size(type, &size);
    return (long long)size * number;
}

int MPI_Send_init(const void *buffer, int number, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    int result = PMPI_Send_init(buffer, number, type, to, tag, comm, request);
    if (count == MOST)
        abort();
    known[count].request = *request;
    known[count++].bytes = type_bytes(type, number);
    return result;
}

int MPI_Request_free(MPI_Request *request)
{
    for (int k = 0; k < count; k++)
        if (known[k].request == *request)
            known[k] = known[--count];
    return PMPI_Request_free(request);
}

int MPI_Startall(int number, MPI_Request request[])
{
    for (int i = 0; i < number; i++)
        for (int k = 0; k < count; k++)
            if (known[k].request == request[i])
                sends += known[k].bytes;
    return PMPI_Startall(number, request);
}

int MPI_Iallgatherv(const void *from, int number, MPI_Datatype type, void *to, const int counts[],
                    const int places[], MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request)
{
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    gathers += type_bytes(to_type, counts[rank]) * (size - 1);
    return PMPI_Iallgatherv(from, number, type, to, counts, places, to_type, comm, request);
}

int MPI_Finalize(void)
{
    char path[4096];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/%d", getenv("COUNT_FOLDER"), rank);
    FILE *file = fopen(path, "w");
    if (!file)
        abort();
    fprintf(file, "%lld %lld\n", sends, gathers);
    fclose(file);
    return PMPI_Finalize();
}
