/* Times of libpoise in C, for benchmarks/carried.py: the kernel alone and what pz_solve makes of it, then every single
   call.  poise.c is compiled into it, so that the kernel can be called as pz_solve calls it.

     carried SOLVER TRACKER PROBLEMS SOLVES STEPS FRAME FIFO */

#include "poise.c"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROUNDS = 31, BIN = 20, BINS = 1 << 20 };

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static size_t read_all(const char *path, void **out) {
  FILE *stream = fopen(path, "rb");
  if (!stream) perror(path), exit(2);
  fseek(stream, 0, SEEK_END);
  size_t bytes = (size_t)ftell(stream);
  rewind(stream);
  *out = malloc(bytes);
  if (fread(*out, 1, bytes, stream) != bytes) exit(2);
  fclose(stream);
  return bytes;
}

static pz_work *begun(const char *path, const pz_solver **arm) {
  void *file;
  size_t bytes = read_all(path, &file);
  pz_status status = pz_load(file, bytes, malloc(pz_size(file, bytes)), arm);
  if (status != PZ_OK) fprintf(stderr, "%s: %s\n", path, pz_message(status)), exit(2);
  return pz_begin(*arm, malloc(pz_work_size(*arm)));
}

/* [ns] of a problem that is laid out already, by the kernel; and of all that pz_solve does. */
static int64_t by_kernel(pz_work *work, const double *problem) {
  aimed(work, problem), started(work, problem + POSE);
  Word *call = work->words + image_of(work)[IMAGE_CALL];
  int64_t begin = now();
  while (run(work) == RUNNING) call[CALL_PHASE] = GO_ON;
  int64_t took = now() - begin;
  call[CALL_PHASE] = BEGIN;
  return took;
}

static int64_t by_face(pz_work *work, const double *problem, double *q) {
  int64_t begin = now();
  pz_solve(work, problem, problem + POSE, q, NULL, NULL, NULL);
  return now() - begin;
}

/* What is left of so many problems where nobody else took the core: the least time of each [us a problem]. */
static double least(const int64_t *times, int64_t problems) {
  double sum = 0.0;
  for (int64_t k = 0; k < problems; k++) {
    int64_t found = times[k];
    for (int round = 1; round < ROUNDS; round++)
      if (times[round * problems + k] < found) found = times[round * problems + k];
    sum += (double)found;
  }
  return sum / (double)problems / 1e3;
}

/* A system stops what is of real time and never rests, for the twentieth part of each second. */
static void rested(void) {
  static int64_t since;
  if (now() - since < 20000000) return;
  nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  since = now();
}

static int64_t bins[BINS];

static void told(const char *what, int64_t count, int64_t worst) {
  const double parts[] = {0.5, 0.99, 0.999, 0.9999, 0.99999};
  printf("%s %lld", what, (long long)count);
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    int64_t sum = 0, bin = 0;
    while (bin < BINS - 1 && (sum += bins[bin]) < parts[k] * (double)count) bin++;
    printf(" %.2f", (double)(bin * BIN + BIN / 2) / 1e3);
  }
  printf(" %.2f\n", (double)worst / 1e3);
  memset(bins, 0, sizeof bins);
}

static int64_t counted(int64_t took, int64_t worst) {
  bins[took / BIN < BINS ? took / BIN : BINS - 1]++;
  return took > worst ? took : worst;
}

int main(int count, char **given) {
  if (count != 8) return 2;
  const pz_solver *arm, *tracking;
  pz_work *work = begun(given[1], &arm), *follower = begun(given[2], &tracking);
  void *read;
  size_t bytes = read_all(given[3], &read);
  const int64_t nq = pz_count(arm, PZ_NQ), width = POSE + nq, problems = (int64_t)(bytes / 8) / width;
  const int64_t solves = atoll(given[4]), steps = atoll(given[5]);
  const double *problem = read;
  double *q = calloc((size_t)nq, sizeof *q);
  mlockall(MCL_CURRENT);
  struct sched_param first = {.sched_priority = 50};
  if (atoi(given[7]) && sched_setscheduler(0, SCHED_FIFO, &first)) return 3;

  int64_t *kernel = calloc((size_t)(ROUNDS * problems), 8), *face = calloc((size_t)(ROUNDS * problems), 8);
  for (int round = 0; round < ROUNDS; round++)
    for (int64_t k = 0; k < problems; k++, rested()) {
      const double *one = problem + width * k;
      int64_t *first = round & 1 ? face : kernel, at = round * problems + k;
      for (int way = 0; way < 2; way++, first = first == face ? kernel : face)
        first[at] = first == face ? by_face(work, one, q) : by_kernel(work, one);
    }
  printf("ratio %.4f %.3f\n", least(face, problems) / least(kernel, problems), least(kernel, problems));

  int64_t worst = 0;
  for (int64_t k = 0; k < solves; k++, rested())
    worst = counted(by_face(work, problem + width * (k % problems), q), worst);
  told("solve", solves, worst);

  double target[POSE];
  copied(q, pz_home(tracking), nq);
  int64_t frame = 0;
  while (frame < pz_count(tracking, PZ_FRAME) && strcmp(pz_name(tracking, PZ_FRAME, frame), given[6])) frame++;
  if (pz_pose(follower, q, frame, target) != PZ_OK) return 4;
  const double y = target[1];
  worst = 0;
  for (int64_t k = 0; k < steps; k++, rested()) {
    int64_t phase = k % 4000; /* 0.2 m to the left and back, in four seconds */
    target[1] = y + 1e-4 * (double)(phase < 2000 ? phase : 4000 - phase);
    int64_t begin = now();
    pz_step(follower, q, target, q);
    worst = counted(now() - begin, worst);
  }
  told("step", steps, worst);
  return 0;
}
