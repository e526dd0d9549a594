/* A library without Python: make the calls of a tape, as tests/building/carried.py writes it.
   carried LIBRARY LEVEL TAPE > answers
   A tape is made of words of eight bytes, each number one; a name is its length in words, then as many. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <windows.h>
#define aligned_alloc(to, count) _aligned_malloc(count, to)
#define dlopen(name, how) (void *)LoadLibraryA(name)
#define dlsym(library, name) (void *)GetProcAddress((HMODULE)library, name)
#define dlerror() "the library cannot be loaded"
#define free _aligned_free
#define binary() _setmode(1, _O_BINARY)
#else
#include <dlfcn.h>
#define binary() 0
#endif

enum { BLOCK, POINTER, ROUTINE, RUN, WRITE, FORGET };
enum { MOST = 64 };

static void *library;
static const char *level;
static FILE *tape;
static int64_t *blocks[MOST], used;

/* Whether there is one more number. */
static int more(int64_t *x) { return fread(x, 8, 1, tape) == 1; }

static int64_t number(void) {
  int64_t x = 0;
  return more(&x) ? x : (exit(3), 0);
}

static int64_t *words(int64_t count) {
  int64_t *at = aligned_alloc(64, (8 * (size_t)count + 64) / 64 * 64);
  return at && fread(at, 8, (size_t)count, tape) == (size_t)count ? at : (exit(4), at);
}

static int64_t routine(void) {
  char *name = (char *)words(number()), whole[256];
  snprintf(whole, sizeof whole, "%s_%s", name, level);
  int64_t found = (int64_t)(intptr_t)dlsym(library, whole);
  if (!found) fprintf(stderr, "there is no %s\n", whole), exit(5);
  free(name);
  return found;
}

/* Within a block. */
static int64_t *place(void) {
  int64_t *block = blocks[number()];
  return block + number();
}

int main(int count, char **given) {
  int64_t *at, what;
  binary();
  library = count == 4 ? dlopen(given[1], RTLD_NOW) : NULL;
  if (!library) return fprintf(stderr, "%s\n", count == 4 ? dlerror() : "carried LIBRARY LEVEL TAPE"), 2;
  level = given[2], tape = fopen(given[3], "rb");
  if (!tape) return fprintf(stderr, "there is no %s\n", given[3]), 2;
  while (more(&what)) {
    if (what == BLOCK && used < MOST) {
      blocks[used++] = words(number());
    } else if (what == POINTER) {
      at = place(), *at = (int64_t)(intptr_t)place();
    } else if (what == ROUTINE) {
      at = place(), *at = routine();
    } else if (what == RUN) {
      int64_t (*run)(int64_t) = (int64_t (*)(int64_t))routine();
      double code = (double)run((int64_t)(intptr_t)place());
      fwrite(&code, 8, 1, stdout);
    } else if (what == WRITE) {
      at = place(), fwrite(at, 8, (size_t)number(), stdout);
    } else if (what == FORGET) {
      while (used) free(blocks[--used]);
    } else {
      return 6;
    }
  }
  return 0;
}
