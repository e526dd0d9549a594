/* libpoise's face in C, see poise.h: files of solvers and trackers, and calls of the kernels with what they hold.  How a
   file lies is said in `kernels/serialised.py`, whose fields are numbered in `generated.h`, as those of a CALL are. */

#define PZ_INSIDE
#include "poise.h"
#include "generated.h"

typedef int64_t Word;

struct pz_solver {
  const Word *image;
  Word *fixed;
};

struct pz_work {
  const pz_solver *solver;
  Word *words;
};

enum { POSE = 7, OBSTACLE_WORDS = 1 + POSE };

static int finite(double x) { return x - x == 0.0; }

static void *aligned(void *memory) { return (void *)(((uintptr_t)memory + 63) & ~(uintptr_t)63); }

static void copied(double *to, const double *from, Word count) {
  for (Word i = 0; i < count; i++) to[i] = from[i];
}

/* Files ------------------------------------------------------------------------------------------------------------ */

/* The CRC-32 of zlib and PNG, four bits at a time. */
static Word sum_of(const unsigned char *bytes, size_t count) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t sum = 0xffffffff;
  for (size_t i = 0; i < count; i++) {
    sum ^= bytes[i];
    sum = (sum >> 4) ^ table[sum & 15];
    sum = (sum >> 4) ^ table[sum & 15];
  }
  return (Word)(sum ^ 0xffffffff);
}

static Word word_of(const unsigned char *file, Word at) {
  uint64_t found = 0;
  for (int k = 7; k >= 0; k--) found = found << 8 | file[8 * at + k];
  return (Word)found;
}

/* Whether `count` words or records from `at` on are among so many. */
static int within(Word at, Word count, Word each, Word all) {
  return at >= 0 && count >= 0 && at <= all && count <= (all - at) / each;
}

static pz_status looked_at(const unsigned char *file, size_t bytes) {
  if (!file || bytes < 8 * (size_t)IMAGE_WORDS || word_of(file, IMAGE_MAGIC) != MAGIC) return PZ_NO_FILE;
  if (word_of(file, IMAGE_LENGTH) != (Word)(bytes / 8) || bytes % 8) return PZ_DAMAGED;
  size_t behind = 8 * (IMAGE_SUM + 1);
  if (word_of(file, IMAGE_SUM) != sum_of(file + behind, bytes - behind)) return PZ_DAMAGED;
  if (word_of(file, IMAGE_LAYOUT) != LAYOUT) return word_of(file, IMAGE_VERSION) > VERSION ? PZ_NEWER : PZ_OLDER;
  return PZ_OK;
}

/* The address of a function; 0 where this library has none of this name. */
static Word function_called(const char *name, Word most) {
  Word low = 0, high = pz_function_count;
  while (low < high) {
    Word middle = (low + high) / 2, k = 0;
    const char *other = pz_functions[middle].name;
    while (k < most && name[k] && name[k] == other[k]) k++;
    if (k == most) return 0;
    if (name[k] == other[k]) return (Word)(uintptr_t)pz_functions[middle].at[poise_best_level()];
    if ((unsigned char)name[k] < (unsigned char)other[k])
      high = middle;
    else
      low = middle + 1;
  }
  return 0;
}

static const char *names(const Word *image) { return (const char *)(image + image[IMAGE_NAMES]); }

/* A name, as the number of it among all; NULL if there are fewer. */
static const char *name_at(const Word *image, Word number) {
  const char *at = names(image), *end = (const char *)(image + image[IMAGE_LENGTH]);
  for (; number > 0; number--) {
    while (at < end && *at) at++;
    if (at++ >= end) return 0;
  }
  return number == 0 && at < end ? at : 0;
}

/* Whether all that is written and read behind the first words of a file lies within it, and within the work. */
static int sound(const Word *image) {
  static const char in_work[] = {IMAGE_SCENE, IMAGE_SCENE_WORK, IMAGE_SIGHT};
  static const char in_fixed[] = {IMAGE_QUERY, IMAGE_RUN, IMAGE_POSES, IMAGE_JACOBIANS, IMAGE_NEAREST, IMAGE_PLACE};
  Word words = image[IMAGE_LENGTH], work = image[IMAGE_WORK_WORDS], fixed = image[IMAGE_FIXED_WORDS];
  for (int k = IMAGE_NQ; k <= IMAGE_FUNCTIONS; k++)
    if (image[k] < 0 || image[k] > words) return 0;
  if (work < 0 || work > ((Word)1 << 40)) return 0;
  if (!within(image[IMAGE_FIXED], fixed, 1, words) || !within(image[IMAGE_LINKS], image[IMAGE_LINK_COUNT], 3, words) ||
      !within(image[IMAGE_PRESETS], image[IMAGE_PRESET_WORDS], 1, words) || !within(image[IMAGE_NAMES], 1, 1, words) ||
      names(image)[8 * (words - image[IMAGE_NAMES]) - 1])
    return 0;
  Word behind = image[IMAGE_FIXED] + fixed; /* addresses are written before this, and nothing that was looked at is */
  if (image[IMAGE_FIXED] < IMAGE_WORDS || image[IMAGE_PRESETS] < behind || image[IMAGE_LINKS] < behind ||
      image[IMAGE_NAMES] < behind)
    return 0;
  for (size_t k = 0; k < sizeof in_work; k++)
    if (!within(image[(int)in_work[k]], 1, 1, work)) return 0;
  for (size_t k = 0; k < sizeof in_fixed; k++)
    if (!within(image[(int)in_fixed[k]], 1, 1, fixed)) return 0;
  Word nq = image[IMAGE_NQ], tasks = image[IMAGE_TASKS];
  if (!within(image[IMAGE_CALL], CALL_WORDS, 1, work) || !within(image[IMAGE_START], nq, 1, work) || !within(image[IMAGE_MEASURED], nq, 1, work) || !within(image[IMAGE_GUIDE], image[IMAGE_POSTURE], 1, work) ||
      !within(image[IMAGE_GOAL], tasks, POSE, work) || !within(image[IMAGE_TARGETS], tasks, POSE, fixed) ||
      !within(image[IMAGE_OUT], ANSWER + nq + image[IMAGE_BLOCKS], 1, work) ||
      !within(image[IMAGE_READS], tasks, 1, fixed) || !within(image[IMAGE_MOVABLE], image[IMAGE_OBSTACLES], OBSTACLE_WORDS, fixed) ||
      !within(image[IMAGE_LOWER], nq, 1, fixed) || !within(image[IMAGE_UPPER], nq, 1, fixed) ||
      !within(image[IMAGE_HOME], nq, 1, fixed) || !within(image[IMAGE_POSE_ALL], image[IMAGE_FRAMES], POSE, work) ||
      !within(image[IMAGE_POSE_OUT], image[IMAGE_NV], 6, work) ||
      !within(image[IMAGE_POSE_FRAMES], image[IMAGE_FRAME_WORDS], 1, work) ||
      !within(image[IMAGE_POSE_LINEAR], image[IMAGE_COLUMN_WORDS], 1, work) ||
      !within(image[IMAGE_POSE_ANGULAR], image[IMAGE_COLUMN_WORDS], 1, work))
    return 0;
  const Word *preset = image + image[IMAGE_PRESETS], *end = preset + image[IMAGE_PRESET_WORDS];
  while (preset < end) {
    if (end - preset < 2 || !within(preset[0], preset[1], 1, work) || preset[1] > end - preset - 2) return 0;
    preset += 2 + preset[1];
  }
  const Word *link = image + image[IMAGE_LINKS];
  for (Word k = 0; k < image[IMAGE_LINK_COUNT]; k++, link += 3) {
    Word to = link[0] == FUNCTION ? image[IMAGE_FUNCTIONS] : link[0] == FIXED ? fixed : work;
    if (link[0] < FUNCTION || link[0] > WORK || !within(link[1], 1, 1, link[0] == FUNCTION ? fixed : work) ||
        !within(link[2], 1, 1, to))
      return 0;
  }
  return 1;
}

size_t pz_size(const void *file, size_t bytes) {
  return looked_at(file, bytes) == PZ_OK ? bytes + sizeof(pz_solver) + 64 : 0;
}

pz_status pz_load(const void *file, size_t bytes, void *memory, const pz_solver **solver) {
  if (!solver) return PZ_BAD_ARGUMENT;
  *solver = 0;
  pz_status status = looked_at(file, bytes);
  if (status != PZ_OK) return status;
  if (!memory) return PZ_BAD_ARGUMENT;
  Word *image = aligned(memory);
  for (size_t k = 0; k < bytes / 8; k++) image[k] = word_of(file, (Word)k);
  if (!sound(image)) return PZ_DAMAGED;
  if (poise_best_level() < 0) return PZ_NO_CPU;
  pz_solver *made = (pz_solver *)(image + bytes / 8);
  made->image = image, made->fixed = image + image[IMAGE_FIXED];
  const Word *link = image + image[IMAGE_LINKS];
  for (Word k = 0; k < image[IMAGE_LINK_COUNT]; k++, link += 3) {
    if (link[0] != FUNCTION) continue;
    const char *name = name_at(image, link[2]);
    Word address = name ? function_called(name, (const char *)(image + image[IMAGE_LENGTH]) - name) : 0;
    if (!address) return PZ_OLDER;
    made->fixed[link[1]] = address;
  }
  *solver = made;
  return PZ_OK;
}

/* What there is -------------------------------------------------------------------------------------------------- */

int pz_is_tracker(const pz_solver *solver) { return solver && solver->image[IMAGE_KIND] == TRACKER; }

int64_t pz_count(const pz_solver *solver, pz_what what) {
  static const int fields[] = {IMAGE_NQ,     IMAGE_NV, IMAGE_TASKS,  IMAGE_POSTURE, IMAGE_TASKS,
                               IMAGE_BLOCKS, IMAGE_NQ, IMAGE_FRAMES, IMAGE_SHAPES,  IMAGE_OBSTACLES};
  if (!solver || (unsigned)what >= sizeof fields / sizeof *fields) return 0;
  Word found = solver->image[fields[what]];
  return what == PZ_TARGET ? POSE * found + solver->image[IMAGE_POSTURE] : found;
}

const char *pz_name(const pz_solver *solver, pz_what what, int64_t number) {
  if (!solver || what < PZ_TASK || what == PZ_ERROR || number < 0 || number >= pz_count(solver, what)) return 0;
  Word before = solver->image[IMAGE_FUNCTIONS];
  for (int k = PZ_TASK; k < (int)what; k++)
    if (k != PZ_ERROR) before += pz_count(solver, (pz_what)k);
  return name_at(solver->image, before + number);
}

static const double *numbers(const pz_solver *solver, int field) {
  return solver ? (const double *)(solver->fixed + solver->image[field]) : 0;
}

const double *pz_lower(const pz_solver *solver) { return numbers(solver, IMAGE_LOWER); }
const double *pz_upper(const pz_solver *solver) { return numbers(solver, IMAGE_UPPER); }
const double *pz_home(const pz_solver *solver) { return numbers(solver, IMAGE_HOME); }
const double *pz_targets(const pz_solver *solver) { return numbers(solver, IMAGE_TARGETS); }

/* Work ------------------------------------------------------------------------------------------------------------- */

size_t pz_work_size(const pz_solver *solver) {
  return solver ? 8 * (size_t)solver->image[IMAGE_WORK_WORDS] + sizeof(pz_work) + 64 : 0;
}

pz_work *pz_begin(const pz_solver *solver, void *memory) {
  if (!solver || !memory) return 0;
  const Word *image = solver->image;
  Word *words = aligned(memory), count = image[IMAGE_WORK_WORDS];
  pz_work *work = (pz_work *)(words + count);
  work->solver = solver, work->words = words;
  for (Word k = 0; k < count; k++) words[k] = 0;
  const Word *preset = image + image[IMAGE_PRESETS], *end = preset + image[IMAGE_PRESET_WORDS];
  for (; preset < end; preset += 2 + preset[1])
    for (Word k = 0; k < preset[1]; k++) words[preset[0] + k] = preset[2 + k];
  const Word *link = image + image[IMAGE_LINKS];
  for (Word k = 0; k < image[IMAGE_LINK_COUNT]; k++, link += 3)
    if (link[0] != FUNCTION)
      words[link[1]] = (Word)(uintptr_t)((link[0] == FIXED ? solver->fixed : words) + link[2]);
  return work;
}

static const Word *image_of(const pz_work *work) { return work->solver->image; }

static double *row(const pz_work *work, int field) { return (double *)(work->words + image_of(work)[field]); }

/* The address of a function, as a whole number, for a call through a pointer of its type. */
static uintptr_t function(const pz_work *work, int field) {
  return (uintptr_t)work->solver->fixed[image_of(work)[field]];
}

static Word run(pz_work *work) {
  Word *call = work->words + image_of(work)[IMAGE_CALL];
  return ((Word(*)(Word))function(work, IMAGE_RUN))((Word)(uintptr_t)call);
}

/* Whether a quaternion was brought to unit length, which takes one that is no shorter than 1e-12; one that has it but
   for rounding stays, to the bit. */
static int unit(double *wxyz) {
  double square = 0.0;
  for (int k = 0; k < 4; k++) square += wxyz[k] * wxyz[k];
  if (square > 1.0 - 1e-15 && square < 1.0 + 1e-15) return 1;
  double length = __builtin_sqrt(square);
  if (!(finite(length) && length >= 1e-12)) return 0;
  for (int k = 0; k < 4; k++) wxyz[k] /= length;
  return 1;
}

/* Whether all numbers of the targets are such, and were taken over; else none is. */
static int aimed(pz_work *work, const double *targets) {
  const Word *image = image_of(work), *reads = work->solver->fixed + image[IMAGE_READS];
  Word tasks = image[IMAGE_TASKS], posture = image[IMAGE_POSTURE];
  for (Word k = 0; k < POSE * tasks + posture; k++)
    if (!finite(targets[k])) return 0;
  for (Word k = 0; k < tasks; k++) {
    double turn[4];
    copied(turn, targets + POSE * k + 3, 4);
    if (reads[k] & TURN && !unit(turn)) return 0;
  }
  double *goal = row(work, IMAGE_GOAL);
  copied(goal, targets, POSE * tasks);
  for (Word k = 0; k < tasks; k++)
    if (reads[k] & TURN) unit(goal + POSE * k + 3);
  copied(row(work, IMAGE_GUIDE), targets + POSE * tasks, posture);
  return 1;
}

static int started(pz_work *work, const double *q) {
  Word nq = image_of(work)[IMAGE_NQ];
  for (Word k = 0; k < nq; k++)
    if (!finite(q[k])) return 0;
  copied(row(work, IMAGE_START), q, nq);
  return 1;
}

static pz_status status_of(const Word *image, Word code) {
  switch (code) {
  case SOLVED: return PZ_OK;
  case RUNNING: return PZ_BUDGET;
  case NOT_FINITE: return PZ_NOT_FINITE;
  case OPEN: return PZ_LOOPS_OPEN;
  case BLOCKED: return image[IMAGE_SHAPES] ? PZ_COLLISION : PZ_LIMIT;
  case BAD_GOAL:
  case BAD_START: return PZ_BAD_INPUT;
  default: return image[IMAGE_HELD] ? PZ_LIMIT : PZ_LOCAL_MINIMUM;
  }
}

/* What is told where nothing was solved. */
static pz_status unsolved(pz_report *report, pz_status status) {
  if (report) {
    pz_report none = {status, 0, 0, 0, 0.0, 0.0, 0};
    *report = none;
  }
  return status;
}

pz_status pz_solve(pz_work *work, const double *targets, const double *q0, double *q, pz_report *report,
                   int (*stop)(void *data), void *data) {
  if (!work || !q) return unsolved(report, PZ_BAD_ARGUMENT);
  const Word *image = image_of(work);
  if (image[IMAGE_KIND] != SOLVER) return unsolved(report, PZ_NO_SOLVER);
  if (!targets) targets = pz_targets(work->solver);
  if (!aimed(work, targets) || !started(work, q0 ? q0 : pz_home(work->solver))) return unsolved(report, PZ_BAD_INPUT);
  Word *call = work->words + image[IMAGE_CALL], code = run(work);
  int stopped = 0;
  while (code == RUNNING) {
    stopped = stop && stop(data);
    call[CALL_PHASE] = stopped ? END : GO_ON;
    code = run(work);
  }
  call[CALL_PHASE] = BEGIN;
  pz_status status = stopped && code != SOLVED && code >= 0 ? PZ_BUDGET : status_of(image, code);
  if (code < 0) return unsolved(report, status);
  const double *out = row(work, IMAGE_OUT);
  if (code == SOLVED || !image[IMAGE_HELD]) copied(q, out + ANSWER, image[IMAGE_NQ]);
  if (report) {
    report->status = status;
    report->iterations = (Word)out[ITERATIONS], report->restarts = (Word)out[RESTARTS];
    report->start = (Word)out[START], report->distance = out[DISTANCE], report->cost = out[COST];
    report->errors = out + ANSWER + image[IMAGE_NQ];
  }
  return status;
}

/* Whether it was taken over where the robot is; NULL where that is not known. */
static int measured_at(pz_work *work, const double *measured) {
  Word nq = image_of(work)[IMAGE_NQ];
  double *robot = row(work, IMAGE_MEASURED);
  if (!measured) {
    *robot = __builtin_nan("");
    return 1;
  }
  for (Word k = 0; k < nq; k++)
    if (!finite(measured[k])) return 0;
  copied(robot, measured, nq);
  return 1;
}

pz_status pz_step(pz_work *work, const double *q, const double *targets, double *next) {
  return pz_step_measured(work, q, targets, 0, next);
}

pz_status pz_step_measured(pz_work *work, const double *q, const double *targets, const double *measured,
                           double *next) {
  if (!work || !next) return PZ_BAD_ARGUMENT;
  const Word *image = image_of(work);
  if (image[IMAGE_KIND] != TRACKER) return PZ_NO_TRACKER;
  const double *led = row(work, IMAGE_OUT);
  if (!q) q = measured && !finite(*led) ? measured : led; /* no step has led anywhere yet */
  if (!started(work, q) || (targets && !aimed(work, targets)) || !measured_at(work, measured)) return PZ_BAD_INPUT;
  Word code = run(work);
  if (code < 0) return status_of(image, code);
  copied(next, led, image[IMAGE_NQ]);
  return status_of(image, code);
}

/* Kinematics ------------------------------------------------------------------------------------------------------- */

static pz_status posed(pz_work *work, const double *q) {
  const Word *image = image_of(work);
  Word nq = image[IMAGE_NQ];
  for (Word k = 0; k < nq; k++)
    if (!finite(q[k])) return PZ_BAD_INPUT;
  typedef void (*Poses)(Word, const double *, Word, double *, Word, double *, Word, Word);
  ((Poses)function(work, IMAGE_POSES))((Word)(uintptr_t)(work->solver->fixed + image[IMAGE_QUERY]), q, nq,
                                       row(work, IMAGE_POSE_FRAMES), image[IMAGE_FRAME_WORDS],
                                       row(work, IMAGE_POSE_ALL), POSE * image[IMAGE_FRAMES], 1);
  return PZ_OK;
}

pz_status pz_poses(pz_work *work, const double *q, double *poses) {
  if (!work || !q || !poses) return PZ_BAD_ARGUMENT;
  pz_status status = posed(work, q);
  if (status == PZ_OK) copied(poses, row(work, IMAGE_POSE_ALL), POSE * image_of(work)[IMAGE_FRAMES]);
  return status;
}

pz_status pz_pose(pz_work *work, const double *q, int64_t frame, double *pose) {
  if (!work || !q || !pose || frame < 0 || frame >= image_of(work)[IMAGE_FRAMES]) return PZ_BAD_ARGUMENT;
  pz_status status = posed(work, q);
  if (status == PZ_OK) copied(pose, row(work, IMAGE_POSE_ALL) + POSE * frame, POSE);
  return status;
}

pz_status pz_jacobian(pz_work *work, const double *q, int64_t frame, double *jacobian) {
  if (!work || !q || !jacobian || frame < 0 || frame >= image_of(work)[IMAGE_FRAMES]) return PZ_BAD_ARGUMENT;
  const Word *image = image_of(work);
  Word nq = image[IMAGE_NQ], nv = image[IMAGE_NV];
  double *out = row(work, IMAGE_POSE_OUT);
  for (Word k = 0; k < nq; k++)
    if (!finite(q[k])) return PZ_BAD_INPUT;
  for (Word k = 0; k < 6 * nv; k++) out[k] = 0.0;
  typedef void (*Jacobians)(Word, Word, const double *, Word, double *, Word, double *, Word, double *, Word, double *,
                            Word, double *, Word, Word, Word);
  ((Jacobians)function(work, IMAGE_JACOBIANS))(
      (Word)(uintptr_t)(work->solver->fixed + image[IMAGE_QUERY]), frame, q, nq, row(work, IMAGE_POSE_FRAMES),
      image[IMAGE_FRAME_WORDS], row(work, IMAGE_POSE_LINEAR), image[IMAGE_COLUMN_WORDS], row(work, IMAGE_POSE_ANGULAR),
      image[IMAGE_COLUMN_WORDS], row(work, IMAGE_POSE_ALL), POSE, out, 1, 6, nv);
  copied(jacobian, out, 6 * nv);
  return PZ_OK;
}

/* Shapes ----------------------------------------------------------------------------------------------------------- */

/* The address of a section of a problem, and where one of a workspace begins. */
static Word section(const Word *problem, int word) { return problem[word]; }

static Word address(const void *memory) { return (Word)(uintptr_t)memory; }

pz_status pz_distance(pz_work *work, const double *q, pz_proximity *nearest) {
  if (!work || !q || !nearest) return PZ_BAD_ARGUMENT;
  const Word *image = image_of(work);
  if (!image[IMAGE_SHAPES]) return PZ_NO_SHAPES;
  const Word *scene = work->words + image[IMAGE_SCENE];
  Word nq = image[IMAGE_NQ], routines = work->words[image[IMAGE_CALL] + CALL_ROUTINES];
  double *sight = row(work, IMAGE_SIGHT);
  for (Word k = 0; k < nq; k++)
    if (!finite(q[k])) return PZ_BAD_INPUT;
  copied(sight + section(scene, HEADER_Q), q, nq);
  double distance = ((double (*)(Word, Word, Word))function(work, IMAGE_NEAREST))(address(scene), address(sight), routines);
  const double *pair = sight + section(scene, HEADER_PROXIMITY_NEAR) + 1;
  int met = finite(distance);
  nearest->distance = distance;
  nearest->first = met ? (int)pair[0] : -1, nearest->second = met ? (int)pair[1] : -1;
  for (int k = 0; k < 3; k++) {
    nearest->at_first[k] = met ? pair[3 + k] : 0.0, nearest->at_second[k] = met ? pair[6 + k] : 0.0;
    nearest->away[k] = met ? pair[9 + k] : 0.0;
  }
  return distance == distance ? PZ_OK : PZ_BAD_INPUT;
}

/* The product of two quaternions, and what one makes of a vector. */
static void product(const double a[4], const double b[4], double out[4]) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static void matrix(const double q[4], double out[9]) {
  double w = q[0], x = q[1], y = q[2], z = q[3];
  out[0] = 1.0 - 2.0 * (y * y + z * z), out[1] = 2.0 * (x * y - w * z), out[2] = 2.0 * (x * z + w * y);
  out[3] = 2.0 * (x * y + w * z), out[4] = 1.0 - 2.0 * (x * x + z * z), out[5] = 2.0 * (y * z - w * x);
  out[6] = 2.0 * (x * z - w * y), out[7] = 2.0 * (y * z + w * x), out[8] = 1.0 - 2.0 * (x * x + y * y);
}

pz_status pz_move(pz_work *work, int64_t obstacle, const double *pose) {
  if (!work || !pose || obstacle < 0 || obstacle >= image_of(work)[IMAGE_OBSTACLES]) return PZ_BAD_ARGUMENT;
  const Word *image = image_of(work);
  double turn[4], turned[4], rotation[9];
  for (int k = 0; k < POSE; k++)
    if (!finite(pose[k])) return PZ_BAD_INPUT;
  copied(turn, pose + 3, 4);
  if (!unit(turn)) return PZ_BAD_INPUT;
  const Word *one = work->solver->fixed + image[IMAGE_MOVABLE] + OBSTACLE_WORDS * obstacle;
  const double *core = (const double *)(one + 1);
  Word *scene = work->words + image[IMAGE_SCENE];
  double *shape = (double *)(scene + section(scene, HEADER_SHAPES) + SHAPE_WORDS * one[0] + SHAPE_POSE);
  matrix(turn, rotation);
  for (int i = 0; i < 3; i++)
    shape[9 + i] = pose[i] + rotation[3 * i] * core[0] + rotation[3 * i + 1] * core[1] + rotation[3 * i + 2] * core[2];
  product(turn, core + 3, turned);
  matrix(turned, shape);
  double *work_of[] = {row(work, IMAGE_SCENE_WORK), row(work, IMAGE_SIGHT)};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 3; i++) work_of[k][section(scene, HEADER_PROXIMITY_DRIFT) + 3 * one[0] + i] = 0.0; /* it stands */
  Word *call = work->words + image[IMAGE_CALL];
  void (*place)(Word, Word, Word) = (void (*)(Word, Word, Word))function(work, IMAGE_PLACE);
  place(address(scene), call[CALL_SCENE_WORK], call[CALL_ROUTINES]);
  place(address(scene), address(row(work, IMAGE_SIGHT)), call[CALL_ROUTINES]);
  row(work, IMAGE_SCENE_WORK)[section(scene, HEADER_PROXIMITY_NEAR)] = -1.0; /* the next look is a first one */
  return PZ_OK;
}

const char *pz_message(pz_status status) {
  return (unsigned)status < sizeof pz_messages / sizeof *pz_messages ? pz_messages[status] : "no status of poise's";
}
