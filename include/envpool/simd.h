/* ENVPOOL_SIMD marks a function whose loops the compiler vectorises. The function is built once per instruction set, and
 * the variant for the CPU is chosen when the library is loaded.
 *
 * Such a loop may only contain additions, multiplications, divisions and comparisons: they are rounded in the same way
 * at every vector width, so all variants give the same bits. FMA stays off, because a fused multiply-add rounds once. */
#ifndef ENVPOOL_SIMD_H
#define ENVPOOL_SIMD_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define ENVPOOL_SIMD __attribute__((target_clones("avx2", "default")))
#else
#define ENVPOOL_SIMD
#endif

#endif /* ENVPOOL_SIMD_H */
