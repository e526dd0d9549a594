/* Files that were damaged or forged, and calls with wrong arguments: nothing of libpoise may crash.

     fuzz COUNT SEED FILE...

   Compiled with -fsanitize=address,undefined, with poise.c in it and the kernels of the library: see test_c.py, and
   `python tests/carried/fuzz.py 1000000`.  A file whose sum was left alone must be refused unless nothing changed;
   then it is called.  One whose head, links, presets or names were changed, and whose sum was made anew, may load; then
   all is called that calls no kernel, for what a problem's own words say cannot be checked. */

#include "poise.c"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORK = 1 << 24 };

static uint64_t state;

static uint64_t draw(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state;
}

static size_t below(size_t count) { return count ? (size_t)(draw() % count) : 0; }

static int64_t some_word(int64_t old, int64_t words) {
  const int64_t edges[] = {0, 1, -1, words, words - 1, words + 1, INT64_MAX, INT64_MIN, INT64_C(1) << 40};
  switch (below(5)) {
  case 0: return edges[below(sizeof edges / sizeof *edges)];
  case 1: return (int64_t)((uint64_t)old ^ UINT64_C(1) << below(64));
  case 2: return (int64_t)((uint64_t)old + below(17) - 8);
  case 3: return (int64_t)below((size_t)words);
  default: return (int64_t)draw();
  }
}

static double some_number(void) {
  const double odd[] = {0.0, NAN, INFINITY, -INFINITY, 1e308, -1e308, 1e-308, 1e17, 1.0, -1.0};
  return below(3) ? (double)(int64_t)draw() / 4e18 : odd[below(sizeof odd / sizeof *odd)];
}

/* Numbers, in memory that ends where they do; or NULL. */
static double *some_numbers(int64_t count, int filled) {
  if (!below(8)) return NULL;
  double *out = malloc((size_t)count * sizeof *out + !count);
  for (int64_t i = 0; i < count; i++) out[i] = filled ? some_number() : 0.0;
  return out;
}

static int enough(void *data) { return data == NULL; }

static void called(const pz_solver *arm) {
  int64_t nq = pz_count(arm, PZ_NQ), frames = pz_count(arm, PZ_FRAME);
  void *memory = malloc(pz_work_size(arm));
  pz_work *work = below(16) ? pz_begin(arm, memory) : pz_begin(NULL, memory);
  for (int k = 0; k < 8; k++) {
    double *targets = some_numbers(pz_count(arm, PZ_TARGET), 1), *q = some_numbers(nq, 1), *out = some_numbers(nq, 0);
    double *pose = some_numbers(7, 1), *poses = some_numbers(7 * frames, 0);
    double *rows = some_numbers(6 * pz_count(arm, PZ_NV), 0), *measured = some_numbers(nq, 1);
    int64_t place = below(4) ? (int64_t)below((size_t)frames) : some_word(0, frames);
    pz_report report;
    pz_proximity near;
    pz_solve(work, targets, q, out, below(2) ? &report : NULL, enough, NULL);
    pz_step(work, q, targets, out), pz_step_measured(work, below(2) ? q : NULL, targets, measured, out);
    pz_pose(work, q, place, pose), pz_poses(work, q, poses), pz_jacobian(work, q, place, rows);
    pz_distance(work, q, below(8) ? &near : NULL);
    pz_move(work, below(2) ? place : 0, pose);
    free(targets), free(q), free(out), free(pose), free(poses), free(rows), free(measured);
  }
  free(memory);
}

/* All that calls no kernel. */
static void looked_through(const pz_solver *arm) {
  volatile double sum = 0.0;
  volatile size_t letters = 0;
  const double *rows[] = {pz_lower(arm), pz_upper(arm), pz_home(arm)};
  for (int64_t i = 0; i < pz_count(arm, PZ_NQ); i++)
    for (int k = 0; k < 3; k++) sum = sum + rows[k][i];
  for (int what = -1; what <= PZ_OBSTACLE + 1; what++)
    for (int k = 0; k < 4; k++) {
      int64_t count = pz_count(arm, (pz_what)what);
      const char *name = pz_name(arm, (pz_what)what, k ? (int64_t)below((size_t)count) : some_word(0, count));
      if (name) letters = letters + strlen(name);
    }
  size_t need = pz_work_size(arm);
  if (need > MOST_WORK) return;
  void *memory = malloc(need);
  pz_begin(arm, memory);
  free(memory);
}

/* Change some words of the head, links, presets or names, and make the sum anew. */
static void forged(unsigned char *file, size_t bytes) {
  const int64_t words = (int64_t)(bytes / 8), body = word_of(file, IMAGE_PRESETS);
  for (size_t k = 0; k <= below(3); k++) {
    size_t place = (size_t)body + below((size_t)(words - body));
    if (below(3)) place = IMAGE_SUM + 1 + below(IMAGE_WORDS - IMAGE_SUM - 1);
    int64_t made = some_word(word_of(file, (Word)place), words);
    memcpy(file + 8 * place, &made, 8);
  }
  int64_t sum = sum_of(file + 8 * (IMAGE_SUM + 1), bytes - 8 * (IMAGE_SUM + 1));
  memcpy(file + 8 * IMAGE_SUM, &sum, 8);
}

/* Flip a bit, cut, put in, swap two words or write another. */
static size_t damaged(unsigned char *file, size_t bytes, size_t room) {
  size_t at = below(bytes), other = below(bytes / 8), word = below(bytes / 8), more = below(room - bytes + 1);
  int64_t made;
  switch (below(6)) {
  case 0: file[at] ^= (unsigned char)(1u << below(8)); return bytes;
  case 1: return at;
  case 2: memmove(file + at + more, file + at, bytes - at); return bytes + more;
  case 3:
    memcpy(&made, file + 8 * word, 8);
    memcpy(file + 8 * word, file + 8 * other, 8);
    memcpy(file + 8 * other, &made, 8);
    return bytes;
  case 4:
    made = some_word(0, (int64_t)(bytes / 8));
    memcpy(file + 8 * below(IMAGE_WORDS), &made, 8);
    return bytes;
  default:
    more = at + 8 < bytes ? 8 : 0;
    memmove(file + at, file + at + more, bytes - at - more);
    return bytes;
  }
}

int main(int count, char **given) {
  if (count < 4) return fprintf(stderr, "fuzz COUNT SEED FILE...\n"), 2;
  const long rounds = atol(given[1]);
  state = strtoull(given[2], NULL, 10) * 2 + 1;
  long loaded = 0, whole = 0, refused[PZ_BAD_ARGUMENT + 1] = {0};
  static unsigned char written[1 << 22], changed[(1 << 22) + 64];
  for (long round = 0; round < rounds; round++) {
    FILE *stream = fopen(given[3 + round % (count - 3)], "rb");
    if (!stream) return perror("fuzz"), 2;
    const size_t bytes = fread(written, 1, sizeof written, stream);
    fclose(stream);
    memcpy(changed, written, bytes);
    const int anew = below(2) != 0;
    size_t left = bytes;
    if (anew)
      forged(changed, bytes);
    else if (below(8))
      left = damaged(changed, bytes, bytes + 64);
    const int same = left == bytes && !memcmp(changed, written, bytes);
    unsigned char *file = malloc(left + 1); /* one byte on, for it need not be aligned */
    memcpy(file + 1, changed, left);
    const size_t need = pz_size(file + 1, left);
    void *memory = malloc(need);
    const pz_solver *arm = NULL;
    const pz_status status = pz_load(file + 1, left, memory, &arm);
    if (pz_load(file + 1, left, NULL, &arm) == PZ_OK || pz_load(file + 1, left, memory, NULL) == PZ_OK) return 1;
    pz_load(NULL, left, memory, &arm);
    free(file);
    if (same && status != PZ_OK) return fprintf(stderr, "a whole file was refused: %s\n", pz_message(status)), 1;
    if (!same && !anew && status == PZ_OK) return fprintf(stderr, "a damaged file was loaded\n"), 1;
    refused[status]++;
    if (status == PZ_OK) {
      const pz_solver *again = NULL;
      unsigned char *copy = malloc(left);
      memcpy(copy, changed, left);
      pz_load(copy, left, memory, &again);
      free(copy);
      loaded++, whole += same;
      looked_through(again);
      if (same) called(again);
    }
    free(memory);
  }
  pz_message((pz_status)-1), pz_message((pz_status)1000);
  pz_count(NULL, PZ_NQ), pz_name(NULL, PZ_FRAME, 0), pz_work_size(NULL), pz_lower(NULL), pz_is_tracker(NULL);
  printf("%ld files: %ld loaded, %ld of them whole\n", rounds, loaded, whole);
  for (int k = 0; k <= PZ_BAD_ARGUMENT; k++)
    if (refused[k]) printf("%8ld %s\n", refused[k], pz_message((pz_status)k));
  return 0;
}
