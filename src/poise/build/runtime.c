/* What a library has besides the functions of the kernels: which of its levels this CPU can run, and the functions that
   LLVM calls of its own accord, for the inside of the library. */

#include <stddef.h>
#include <stdint.h>

#define INSIDE __attribute__((visibility("hidden")))

INSIDE void *memset(void *to, int value, size_t count) {
  unsigned char *at = to;
  for (size_t i = 0; i < count; i++) at[i] = (unsigned char)value;
  return to;
}

INSIDE void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  unsigned char *at = to;
  const unsigned char *source = from;
  for (size_t i = 0; i < count; i++) at[i] = source[i];
  return to;
}

INSIDE void *memmove(void *to, const void *from, size_t count) {
  unsigned char *at = to;
  const unsigned char *source = from;
  if ((uintptr_t)to - (uintptr_t)from >= count)
    for (size_t i = 0; i < count; i++) at[i] = source[i];
  else
    for (size_t i = count; i > 0; i--) at[i - 1] = source[i - 1];
  return to;
}

#if defined(__APPLE__)

INSIDE void bzero(void *to, size_t count) { memset(to, 0, count); } /* on ARM */

INSIDE void __bzero(void *to, size_t count) { memset(to, 0, count); } /* on x86-64 */

INSIDE void memset_pattern16(void *to, const void *pattern, size_t count) {
  unsigned char *at = to;
  const unsigned char *source = pattern;
  for (size_t i = 0; i < count; i++) at[i] = source[i % 16];
}

#endif

#if defined(__x86_64__)

enum { A, B, C, D };

static void ask(uint32_t leaf, uint32_t x[4]) {
  __asm__ volatile("cpuid" : "=a"(x[A]), "=b"(x[B]), "=c"(x[C]), "=d"(x[D]) : "a"(leaf), "c"(0));
}

static int has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

#define BIT(n) (UINT32_C(1) << (n))

/* The levels of the System V ABI for x86-64: 0 is v2, 1 v3, 2 v4. */
int64_t poise_best_level(void) {
  uint32_t most[4], one[4], seven[4] = {0}, more[4], saved = 0, unused;
  ask(0, most), ask(1, one), ask(0x80000001, more);
  if (most[A] >= 7) ask(7, seven);
  /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF */
  if (!has(one[C], BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23)) || !has(more[C], BIT(0))) return -1;
  /* FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT; BMI1, AVX2, BMI2; and the system saves these registers */
  if (!has(one[C], BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29)) || !has(more[C], BIT(5))) return 0;
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(unused) : "c"(0));
  if (!has(seven[B], BIT(3) | BIT(5) | BIT(8)) || !has(saved, 0x06)) return 0;
  /* AVX-512 F, DQ, CD, BW, VL, likewise */
  return has(seven[B], BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31)) && has(saved, 0xe6) ? 2 : 1;
}

#else

int64_t poise_best_level(void) { return 0; }

#endif

#if defined(_WIN32)

/* What Windows calls when it loads a library. */
int DllMainCRTStartup(void *library, uint32_t reason, void *reserved) { return 1; }

/* What a function calls before it takes a page of the stack or more, for Windows lets it grow by one page at a time: touch
   each page of what is taken, and change no register that counts.  As compiler-rt of LLVM has it. */

#if defined(__x86_64__)

/* rax: bytes. */
INSIDE __attribute__((naked)) void ___chkstk_ms(void) {
  __asm__("push %rcx\n"
          "push %rax\n"
          "lea 24(%rsp), %rcx\n"
          "cmp $0x1000, %rax\n"
          "jb 2f\n"
          "1: sub $0x1000, %rcx\n"
          "test %rcx, (%rcx)\n"
          "sub $0x1000, %rax\n"
          "cmp $0x1000, %rax\n"
          "ja 1b\n"
          "2: sub %rax, %rcx\n"
          "test %rcx, (%rcx)\n"
          "pop %rax\n"
          "pop %rcx\n"
          "ret");
}

#else

/* x15: sixteens of bytes. */
INSIDE __attribute__((naked)) void __chkstk(void) {
  __asm__("lsl x16, x15, #4\n"
          "mov x17, sp\n"
          "1: sub x17, x17, #4096\n"
          "subs x16, x16, #4096\n"
          "ldr xzr, [x17]\n"
          "b.gt 1b\n"
          "ret");
}

#endif

#endif
