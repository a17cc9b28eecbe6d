/* Loops that the compiler vectorises, built once per instruction set and picked when the library is loaded.
 *
 * Only additions, multiplications, divisions and comparisons belong in such a loop: each is exact in every width, so the
 * variants give the same bits. AVX2 without FMA, because a fused multiply-add would not. */
#ifndef ENVPOOL_SIMD_H
#define ENVPOOL_SIMD_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define ENVPOOL_SIMD __attribute__((target_clones("avx2", "default")))
#else
#define ENVPOOL_SIMD
#endif

#endif /* ENVPOOL_SIMD_H */
