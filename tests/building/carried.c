/* A library without Python: solve the problems of a file, as tests/building/carried.py writes it.
   carried LIBRARY SOLVE SEARCH PLACE < problems > answers */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#define binary() (_setmode(0, _O_BINARY), _setmode(1, _O_BINARY))
#else
#include <dlfcn.h>
#define binary() 0
#endif

enum { ROWS, WORDS, CALL, ROUTINES, GOAL, GOALS, START, NQ, ANSWER, PROBLEMS, PROBLEM, NARROW, WIDE, TABLE, WIDE_TABLE, HEAD };

static void *taken(size_t count) {
  void *at = aligned_alloc(64, (8 * count + 63) / 64 * 64);
  return at ? memset(at, 0, 8 * count) : (exit(3), at);
}

static void *read_words(size_t count) {
  void *at = taken(count);
  return fread(at, 8, count, stdin) == count ? at : (exit(4), at);
}

int main(int count, char **given) {
  binary();
  void *library = count == 5 ? dlopen(given[1], RTLD_NOW) : NULL;
  if (!library) return fprintf(stderr, "%s\n", count == 5 ? dlerror() : "carried LIBRARY SOLVE SEARCH PLACE"), 2;
  int64_t (*solve)(int64_t) = (int64_t (*)(int64_t))dlsym(library, given[2]);
  int64_t search = (int64_t)(intptr_t)dlsym(library, given[3]);
  int64_t *n = read_words(HEAD), *words = read_words(n[WORDS]), *call = read_words(n[CALL]);
  int64_t *routines = taken(n[ROUTINES]);
  double *narrow = taken(n[ROWS]), *wide = taken(8 * n[ROWS]);
  if (!solve || !search) return 5;
  routines[atoi(given[4])] = search;
  call[n[PROBLEM]] = (int64_t)(intptr_t)words, call[n[NARROW]] = (int64_t)(intptr_t)narrow;
  call[n[WIDE]] = (int64_t)(intptr_t)wide;
  call[n[TABLE]] = call[n[WIDE_TABLE]] = (int64_t)(intptr_t)routines;
  for (int64_t k = 0; k < n[PROBLEMS]; k++) {
    double *numbers = read_words(n[GOALS] + n[NQ]);
    memcpy(narrow + n[GOAL], numbers, 8 * n[GOALS]);
    memcpy(narrow + n[START], numbers + n[GOALS], 8 * n[NQ]);
    free(numbers);
    double code = solve((int64_t)(intptr_t)call) == 0 ? 0.0 : 1.0;
    fwrite(&code, 8, 1, stdout), fwrite(narrow + n[ANSWER], 8, n[NQ], stdout);
  }
  return 0;
}
