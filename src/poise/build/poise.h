/* libpoise: inverse kinematics that keeps limits, of solvers and trackers that were prepared in Python.

   `Solver.export("arm.poise")` and `Tracker.export` write a file.  Here it is loaded once, and each thread begins work of
   its own with it:

     size_t need = pz_size(file, bytes);
     pz_status status = pz_load(file, bytes, malloc(need), &arm);
     pz_work *work = pz_begin(arm, malloc(pz_work_size(arm)));
     status = pz_solve(work, target, q0, q, NULL, NULL, NULL);

   Nothing here allocates, locks, reads a clock or a file, or keeps a pointer to what it was given but to the memory of
   pz_load and pz_begin, which is the caller's.  What pz_load has made is read-only: any number of threads share it.  A
   pz_work is for one thread at a time.

   Units are metres and radians.  A pose has seven numbers, x y z, then the quaternion w x y z.  A target has seven
   numbers too: of a task that leads a frame to a pose, a point or a rotation these, of others what docs/c.md says.  A configuration q has
   pz_count(arm, PZ_NQ) numbers, in the order of PZ_COORDINATE. */

#ifndef POISE_H
#define POISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && !defined(PZ_INSIDE)
#define PZ_API __declspec(dllimport)
#elif defined(_WIN32)
#define PZ_API __declspec(dllexport)
#else
#define PZ_API __attribute__((visibility("default")))
#endif

/* How a call ended; pz_message has a sentence for each. */
typedef enum {
  /* generated: statuses */
  /* every task is within its tolerances, or the step was taken */
  PZ_OK = 0,
  /* the search came to rest short of the target, which proves nothing; q is the closest found */
  PZ_LOCAL_MINIMUM = 1,
  /* the iterations, starts or time that were allowed were spent before anything converged */
  PZ_BUDGET = 2,
  /* shapes would be nearer to each other than asked in every solution that was found */
  PZ_COLLISION = 3,
  /* every start came to a step that is no finite number, as singular poses make it; damp the method */
  PZ_NOT_FINITE = 4,
  /* the target or the start holds numbers that make none, and nothing was solved */
  PZ_BAD_INPUT = 5,
  /* limits hold back all that was found */
  PZ_LIMIT = 6,
  /* loops are farther open at this q than a step closes, and q stays: begin at one that a Solver finds */
  PZ_LOOPS_OPEN = 7,
  /* these are not the bytes of a file that Solver.export or Tracker.export wrote */
  PZ_NO_FILE = 8,
  /* the file was cut or changed since it was written: export it anew */
  PZ_DAMAGED = 9,
  /* the file was written by a newer poise than this library is of: update the library */
  PZ_NEWER = 10,
  /* the file was written by an older poise than this library is of: export it anew */
  PZ_OLDER = 11,
  /* this CPU lacks instructions that the library needs */
  PZ_NO_CPU = 12,
  /* this file is of a tracker, which takes steps and solves nothing: export a Solver */
  PZ_NO_SOLVER = 13,
  /* this file is of a solver, which takes no steps: export a Tracker */
  PZ_NO_TRACKER = 14,
  /* nothing is kept apart here: export it with a CollisionLimit among its limits */
  PZ_NO_SHAPES = 15,
  /* a pointer is null, or a number is none of those that there are */
  PZ_BAD_ARGUMENT = 16,
  /* end */
} pz_status;

/* What there are, for pz_count, and, from PZ_TASK on but for PZ_ERROR, for pz_name. */
typedef enum {
  PZ_NQ,         /* numbers of a configuration */
  PZ_NV,         /* numbers of a velocity, the columns of a Jacobian */
  PZ_TARGET,     /* numbers of all targets: seven a task, then those of a posture */
  PZ_POSTURE,    /* numbers of a posture, 0 or nq */
  PZ_TASK,       /* tasks that have seven numbers as target, by the frames that they lead; "" of one without */
  PZ_ERROR,      /* errors that a report tells of */
  PZ_COORDINATE, /* numbers of q, by name */
  PZ_FRAME,      /* frames, whose poses and Jacobians can be asked for */
  PZ_SHAPE,      /* shapes that are kept apart; those of a link have its name */
  PZ_OBSTACLE    /* shapes of the world that can be moved */
} pz_what;

typedef struct pz_solver pz_solver; /* a solver or a tracker */
typedef struct pz_work pz_work;

/* How an answer was found. */
typedef struct {
  pz_status status;
  int64_t iterations, restarts;
  int64_t start;        /* the start that led to it: 0 for q0, -1 for a closed form */
  double distance;      /* from q0 [rad and m] */
  double cost;          /* sum of the squares of all errors, weighted */
  const double *errors; /* PZ_ERROR of them [m or rad], in the work until its next call */
} pz_report;

/* The two shapes that are nearest to each other. */
typedef struct {
  double distance; /* [m], negative where they are in each other, infinite where no two may meet */
  int first, second; /* of PZ_SHAPE */
  double at_first[3], at_second[3]; /* the nearest points [m], in the world */
  double away[3]; /* the unit vector in which the second gets away from the first */
} pz_proximity;

/* A sentence about a status. */
PZ_API const char *pz_message(pz_status status);

/* Bytes of memory that pz_load needs for a file; 0 for what pz_load refuses. */
PZ_API size_t pz_size(const void *file, size_t bytes);

/* Load what `export` wrote into memory of pz_size bytes, which `solver` then points into.  The file may go.  A sum guards
   it against damage, not malice: whoever writes a file with a sum that fits can make kernels read and write anywhere. */
PZ_API pz_status pz_load(const void *file, size_t bytes, void *memory, const pz_solver **solver);

/* Bytes of memory that pz_begin needs. */
PZ_API size_t pz_work_size(const pz_solver *solver);

/* Work for one thread, in memory of pz_work_size bytes: with the file's targets and obstacles, and no past.  To begin
   again in the same memory forgets everything. */
PZ_API pz_work *pz_begin(const pz_solver *solver, void *memory);

/* Whether it is a tracker, which steps, and no solver. */
PZ_API int pz_is_tracker(const pz_solver *solver);

PZ_API int64_t pz_count(const pz_solver *solver, pz_what what);

/* The name of one of those that have one; NULL for others. */
PZ_API const char *pz_name(const pz_solver *solver, pz_what what, int64_t number);

/* Limits and home of q, nq each. */
PZ_API const double *pz_lower(const pz_solver *solver);
PZ_API const double *pz_upper(const pz_solver *solver);
PZ_API const double *pz_home(const pz_solver *solver);

/* The targets that it begins with, PZ_TARGET numbers. */
PZ_API const double *pz_targets(const pz_solver *solver);

/* Solve for targets, PZ_TARGET numbers, from q0; NULL stands for the targets of the file, and for its home.

   q receives the answer, or the closest configuration that was found, within the limits of joints.  It is left alone
   from PZ_BAD_INPUT on, and, where more than limits of joints must hold, such as shapes or sums of joints, with every
   status but PZ_OK.  `report` may be NULL.

   `stop`, which may be NULL, is called with `data` every eight iterations, some ten to a hundred microseconds.  If it
   returns other than 0 the search ends: the best start so far descends to its end, which takes as long as a solve of a
   near target, a tenth of a millisecond for an arm. */
PZ_API pz_status pz_solve(pz_work *work, const double *targets, const double *q0, double *q, pz_report *report,
                          int (*stop)(void *data), void *data);

/* One step of a tracker from q, or with NULL from where the last one led, which the first has to be told, towards targets, with NULL those of the last
   step; `next`, which may be q itself, receives where it leads.  A step does not iterate: it needs no deadline.

   From where loops are farther open than a step closes it is PZ_LOOPS_OPEN, and `next` is q: pz_home closes them. */
PZ_API pz_status pz_step(pz_work *work, const double *q, const double *targets, double *next);

/* The same of a robot that was measured to be at a configuration: the step leads no farther ahead of that than the
   tracker's FollowingErrorLimit allows, and waits there.  The first step begins at `measured` where q is NULL.  NULL for
   `measured` says that it is not known, as pz_step does. */
PZ_API pz_status pz_step_measured(pz_work *work, const double *q, const double *targets, const double *measured,
                                  double *next);

/* The pose of a frame, 7 numbers, and of all frames, 7 each. */
PZ_API pz_status pz_pose(pz_work *work, const double *q, int64_t frame, double *pose);
PZ_API pz_status pz_poses(pz_work *work, const double *q, double *poses);

/* The Jacobian of a frame, 6 x nv, row by row: the velocity of its origin, then its angular velocity, along the axes of
   the world. */
PZ_API pz_status pz_jacobian(pz_work *work, const double *q, int64_t frame, double *jacobian);

/* How near shapes are at q. */
PZ_API pz_status pz_distance(pz_work *work, const double *q, pz_proximity *nearest);

/* Bring an obstacle's own frame to a pose in the world, for this work alone; there it counts as standing still. */
PZ_API pz_status pz_move(pz_work *work, int64_t obstacle, const double *pose);

#ifdef __cplusplus
}
#endif

#endif
