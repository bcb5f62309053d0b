/* The only cuBLAS function that is used, as the loop of its equation. */
#ifndef CARD_CUBLAS_V2_H
#define CARD_CUBLAS_V2_H

#include <stdint.h>

typedef struct card_blas *cublasHandle_t;
enum cublasOperation_t { CUBLAS_OP_N, CUBLAS_OP_T };

/* C = alpha·op(A)·op(B) + beta·C, by columns. */
static inline void cublasSgemm_64(cublasHandle_t, cublasOperation_t ta, cublasOperation_t tb,
                                  int64_t m, int64_t n, int64_t k, const float *alpha,
                                  const float *a, int64_t lda, const float *b, int64_t ldb,
                                  const float *beta, float *c, int64_t ldc)
{
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            double sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += (double)(ta == CUBLAS_OP_T ? a[l + i * lda] : a[i + l * lda]) *
                       (double)(tb == CUBLAS_OP_T ? b[j + l * ldb] : b[l + j * ldb]);
            c[i + j * ldc] =
                (float)((double)*alpha * sum) + (*beta != 0 ? *beta * c[i + j * ldc] : 0);
        }
}

#endif
