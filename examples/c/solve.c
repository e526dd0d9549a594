/* Load an arm, solve for a pose, and print where it is then.

     poise export panda arm.poise --frame panda_hand
     solve arm.poise panda_hand 0.4 0.1 0.5  0 1 0 0 */

#include <poise.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pz_solver *loaded(const char *path) {
  FILE *stream = fopen(path, "rb");
  if (!stream) return perror(path), NULL;
  static unsigned char file[1 << 20]; /* a file has some tens of kilobytes */
  size_t bytes = fread(file, 1, sizeof file, stream);
  fclose(stream);
  void *memory = malloc(pz_size(file, bytes) + 1); /* of the solver, as long as it is used */
  const pz_solver *arm;
  pz_status status = memory ? pz_load(file, bytes, memory, &arm) : PZ_BAD_ARGUMENT;
  if (status != PZ_OK) return fprintf(stderr, "%s: %s\n", path, pz_message(status)), NULL;
  return arm;
}

static int64_t frame_called(const pz_solver *arm, const char *name) {
  for (int64_t i = 0; i < pz_count(arm, PZ_FRAME); i++)
    if (!strcmp(pz_name(arm, PZ_FRAME, i), name)) return i;
  return -1;
}

static void print(const char *what, const double *numbers, int64_t count) {
  printf("%s", what);
  for (int64_t i = 0; i < count; i++) printf(" %.17g", numbers[i]);
  printf("\n");
}

int main(int count, char **given) {
  const pz_solver *arm = count == 10 ? loaded(given[1]) : NULL;
  if (count != 10) fprintf(stderr, "usage: solve FILE FRAME X Y Z QW QX QY QZ\n");
  if (!arm) return 1;
  double target[7];
  for (int i = 0; i < 7; i++) target[i] = strtod(given[3 + i], NULL);

  int64_t nq = pz_count(arm, PZ_NQ), nv = pz_count(arm, PZ_NV);
  double *q = calloc((size_t)nq, sizeof *q), *jacobian = calloc(6 * (size_t)nv, sizeof *jacobian), pose[7];
  pz_work *work = pz_begin(arm, malloc(pz_work_size(arm)));
  if (!q || !jacobian || !work) return fprintf(stderr, "there is no memory\n"), 1;

  pz_report report;
  pz_status status = pz_solve(work, target, NULL, q, &report, NULL, NULL);
  printf("%s\n", pz_message(status));
  if (status >= PZ_BAD_INPUT) return 1; /* q was left alone */
  printf("iterations %d\n", (int)report.iterations);
  print("q", q, nq);

  int64_t frame = frame_called(arm, given[2]);
  status = pz_pose(work, q, frame, pose);
  if (status == PZ_OK) status = pz_jacobian(work, q, frame, jacobian);
  if (status != PZ_OK) return fprintf(stderr, "%s: %s\n", given[2], pz_message(status)), 1;
  print("pose", pose, 7);
  for (int row = 0; row < 6; row++) print("jacobian", jacobian + row * nv, nv);
  return 0;
}
