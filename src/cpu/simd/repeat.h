/* Writes a statement once per vector register: REPEAT(7, M) is M(0) M(1) … M(6). Accumulators must
 * be named variables; compilers spill arrays of them. */
#ifndef CPU_SIMD_REPEAT_H
#define CPU_SIMD_REPEAT_H

#define REPEAT_0(M)
#define REPEAT_1(M)  REPEAT_0(M) M(0)
#define REPEAT_2(M)  REPEAT_1(M) M(1)
#define REPEAT_3(M)  REPEAT_2(M) M(2)
#define REPEAT_4(M)  REPEAT_3(M) M(3)
#define REPEAT_5(M)  REPEAT_4(M) M(4)
#define REPEAT_6(M)  REPEAT_5(M) M(5)
#define REPEAT_7(M)  REPEAT_6(M) M(6)
#define REPEAT_8(M)  REPEAT_7(M) M(7)
#define REPEAT_9(M)  REPEAT_8(M) M(8)
#define REPEAT_10(M) REPEAT_9(M) M(9)
#define REPEAT_11(M) REPEAT_10(M) M(10)
#define REPEAT_12(M) REPEAT_11(M) M(11)
#define REPEAT_13(M) REPEAT_12(M) M(12)
#define REPEAT_14(M) REPEAT_13(M) M(13)
#define REPEAT_15(M) REPEAT_14(M) M(14)
#define REPEAT_16(M) REPEAT_15(M) M(15)
#define REPEAT_17(M) REPEAT_16(M) M(16)
#define REPEAT_18(M) REPEAT_17(M) M(17)
#define REPEAT_19(M) REPEAT_18(M) M(18)
#define REPEAT_20(M) REPEAT_19(M) M(19)
#define REPEAT_21(M) REPEAT_20(M) M(20)
#define REPEAT_22(M) REPEAT_21(M) M(21)
#define REPEAT_23(M) REPEAT_22(M) M(22)
#define REPEAT_24(M) REPEAT_23(M) M(23)

#define REPEAT_PASTE(n, M) REPEAT_##n(M)
#define REPEAT(n, M)       REPEAT_PASTE(n, M)

#endif
