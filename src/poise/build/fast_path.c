/* The fast path between Python and the kernels: what a call of a Solver and a step of a Tracker do where arguments are as usual,
   arrays of doubles and SE3.  All else gives None, and the same call is made in Python, which knows all and says what is
   wrong: nothing is refused here.  The numbers in capitals are those of `kernels/machine/layout.py`. */

#include "stable.h"

enum { MOST_TASKS = 32, MOST_NUMBERS = 512, HELD = 10, POSE = 'p', POINT = 't', POSTURE = 'q' };

/* What is prepared; `goal`, `start` and `out` are rows of a narrow workspace, of which `start` has `nq` and `goal` has
 * `count`, and `measured` the first of a following error's, of which a step has one.  Of a search `longest` is how long it may take [ns]. */
typedef struct {
  PyObjectHead head;
  int64_t (*run)(int64_t address);
  int64_t goal, start, out, nq, count, longest, tasks, address, measured;
  char kinds[MOST_TASKS];
  union {
    struct {
      PyObject *se3, *solution; /* the types */
      PyObject *idle, *own, *home, *pause; /* of a search: scratch that no call has, its goal numbers, NaN where it has none,
                                              its start, and a function that does nothing, which lets Python hear of
                                              signals */
      PyObject *look;                      /* what to call before: of a search with its scratch */
      PyObject *acquire, *release, *copy;  /* of a tracker: what to call around and after a step */
    };
    PyObject *held[HELD];
  };
} Line;

static PyObject *array_type, *line_type, *clock, *others, *array_name, *address_name, *copy_name, *told_name;

static PyObject *kept(PyObject *x) {
  Py_IncRef(x);
  return x;
}

static void drop(PyObject *x) {
  if (x) Py_DecRef(x);
}

static int is_a(PyObject *x, PyObject *type) {
  PyObject *own = PyObject_Type(x);
  Py_DecRef(own);
  return own == type;
}

/* None, whatever was wrong with an argument; but not where the process was interrupted meanwhile. */
static PyObject *nothing(void) {
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return NULL;
  PyErr_Clear();
  return kept(Py_None);
}

static int is_double(const Py_buffer *seen) { return seen->format && seen->format[0] == 'd' && !seen->format[1]; }

/* The doubles of an array (n,) or (rows, n), row by row, at most so many; how many there are, -1 for any other thing,
 * such as an array that is masked. */
static Py_ssize_t doubles(PyObject *given, double *to, Py_ssize_t most, Py_ssize_t *rows) {
  Py_buffer seen;
  Py_ssize_t count = -1;
  if (!is_a(given, array_type) || PyObject_GetBuffer(given, &seen, PyBUF_FORMAT | PyBUF_STRIDES)) {
    PyErr_Clear();
    return -1;
  }
  if (is_double(&seen) && (seen.ndim == 1 || seen.ndim == 2)) {
    int last = seen.ndim - 1;
    Py_ssize_t n = seen.shape[last];
    *rows = last ? seen.shape[0] : 0;
    if (n <= most && (!last || *rows * n <= most)) {
      count = last ? *rows * n : n;
      for (Py_ssize_t i = 0, k = 0; k < count; i++)
        for (Py_ssize_t j = 0; j < n; j++, k++)
          to[k] = *(const double *)((const char *)seen.buf + (last ? i * seen.strides[0] : 0) + j * seen.strides[last]);
    }
  }
  PyBuffer_Release(&seen);
  return count;
}

static int finite(double x) { return x - x == 0.0; }

static double size(double x) { return x < 0.0 ? -x : x; }

static double larger(double a, double b) { return a > b ? a : b; }

/* Place, and quaternion w x y z of any length, of a homogeneous matrix, as `poise.quaternions` has it to the bit. */
static int of_matrix(const double m[16], double to[7]) {
  double a = m[0], b = m[1], c = m[2], d = m[4], e = m[5], f = m[6], g = m[8], h = m[9], i = m[10];
  double off = size(a * a + b * b + c * c - 1.0);
  off = larger(off, size(d * d + e * e + f * f - 1.0)), off = larger(off, size(g * g + h * h + i * i - 1.0));
  off = larger(off, size(a * d + b * e + c * f)), off = larger(off, size(a * g + b * h + c * i));
  off = larger(off, size(d * g + e * h + f * i));
  double turning = g * (b * f - c * e) + h * (c * d - a * f) + i * (a * e - b * d), trace = a + e + i;
  if (!(off <= 1e-6 && turning > 0.0 && m[12] == 0.0 && m[13] == 0.0 && m[14] == 0.0 && m[15] == 1.0)) return 0;
  double w, x, y, z;
  if (trace >= larger(larger(a, e), i))
    w = 1.0 + trace, x = h - f, y = c - g, z = d - b;
  else if (a >= larger(e, i))
    w = h - f, x = 1.0 + a - e - i, y = b + d, z = c + g;
  else if (e >= i)
    w = c - g, x = b + d, y = 1.0 - a + e - i, z = f + h;
  else
    w = d - b, x = c + g, y = f + h, z = 1.0 - a - e + i;
  if (w < 0.0) w = -w, x = -x, y = -y, z = -z;
  to[0] = m[3], to[1] = m[7], to[2] = m[11], to[3] = w, to[4] = x, to[5] = y, to[6] = z;
  return 1;
}

/* Whether the quaternion was brought to unit length, and all is finite. */
static int sound(double to[7]) {
  double w = to[3], i = to[4], j = to[5], k = to[6], norm = __builtin_sqrt(w * w + i * i + j * j + k * k);
  if (!(finite(to[0] + to[1] + to[2]) && finite(norm) && norm >= 1e-12)) return 0;
  to[3] = w / norm, to[4] = i / norm, to[5] = j / norm, to[6] = k / norm;
  return 1;
}

/* poses(given, out): whether (n, 7) were written of contiguous (n, 4, 4), or of (n, 7) whose quaternions have any length;
   in `out` may stand anything if not. */
static PyObject *poses(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  Py_buffer from = {0}, to = {0};
  int done = count == 2 && !PyObject_GetBuffer(given[0], &from, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) &&
             !PyObject_GetBuffer(given[1], &to, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) && is_double(&from) &&
             is_double(&to);
  Py_ssize_t n = to.len / (GOAL_NUMBERS * 8), size = from.ndim == 2 ? GOAL_NUMBERS : 16;
  done = done && from.len == 8 * size * n;
  for (Py_ssize_t k = 0; done && k < n; k++) {
    const double *one = (const double *)from.buf + size * k;
    double *pose = (double *)to.buf + GOAL_NUMBERS * k;
    for (int i = 0; size == GOAL_NUMBERS && i < GOAL_NUMBERS; i++) pose[i] = one[i];
    done = (size == GOAL_NUMBERS || of_matrix(one, pose)) && sound(pose);
  }
  if (from.obj) PyBuffer_Release(&from);
  if (to.obj) PyBuffer_Release(&to);
  PyErr_Clear();
  return kept(done ? Py_True : Py_False);
}

static int read_pose(Line *line, PyObject *given, double to[7]) {
  double numbers[16];
  Py_ssize_t rows, count;
  if (is_a(given, line->se3)) {
    PyObject *array = PyObject_GetAttr(given, array_name);
    if (!array) return 0;
    count = doubles(array, to, 7, &rows);
    Py_DecRef(array);
    return count == 7 && !rows;
  }
  count = doubles(given, numbers, 16, &rows);
  if (count == 7 && !rows)
    for (int k = 0; k < 7; k++) to[k] = numbers[k];
  else if (!(count == 16 && rows == 4 && of_matrix(numbers, to)))
    return 0;
  return sound(to);
}

static int read_target(Line *line, int64_t task, PyObject *given, double to[7]) {
  Py_ssize_t rows;
  if (line->kinds[task] == POSE) return read_pose(line, given, to);
  if (line->kinds[task] != POINT || doubles(given, to, 3, &rows) != 3 || rows) return 0;
  to[3] = to[4] = to[5] = to[6] = 0.0;
  return 1;
}

static int copied(PyObject *numbers, double *to) {
  char *from;
  Py_ssize_t length;
  if (!numbers || PyBytes_AsStringAndSize(numbers, &from, &length)) return 0;
  for (Py_ssize_t k = 0; k < length / 8; k++) to[k] = ((const double *)(void *)from)[k];
  return 1;
}

static int is_list(PyObject *x) {
  PyObject *type = PyObject_Type(x);
  unsigned long flags = PyType_GetFlags(type);
  Py_DecRef(type);
  return (flags & (Py_TPFLAGS_LIST_SUBCLASS | Py_TPFLAGS_TUPLE_SUBCLASS)) != 0;
}

/* Whether all goal numbers were read, of one target, or of a list or tuple of one a task: else none are written.  What is
 * None, and loops of the model, have the search's own. */
static int read_goal(Line *line, PyObject *target, double *to) {
  double numbers[MOST_NUMBERS], *at = numbers;
  int64_t n = line->tasks;
  if (line->own && !copied(line->own, numbers)) return 0;
  if (is_list(target)) {
    if (PySequence_Size(target) != n) return 0;
    for (int64_t k = 0; k < n; k++) {
      PyObject *one = PySequence_GetItem(target, k);
      int read = one && ((line->own && one == Py_None) || read_target(line, k, one, at));
      drop(one);
      if (!read) return 0;
      if (line->kinds[k] != POSTURE) at += GOAL_NUMBERS;
    }
  } else if (target != Py_None ? n != 1 || !read_target(line, 0, target, numbers) : !line->own)
    return 0;
  for (int64_t k = 0; k < line->count; k++)
    if (numbers[k] != numbers[k]) return 0;
  for (int64_t k = 0; k < line->count; k++) to[k] = numbers[k];
  return 1;
}

static int read_start(Line *line, PyObject *q, double *to) {
  Py_ssize_t rows;
  return doubles(q, to, line->nq, &rows) == line->nq && !rows;
}

/* Whether a function of Python's, if there is one, has raised nothing. */
static int called(PyObject *function) {
  PyObject *done = function ? PyObject_CallNoArgs(function) : kept(Py_None);
  drop(done);
  return done != NULL;
}

static int64_t go(Line *line, int64_t address) {
  PyThreadState *state = PyEval_SaveThread();
  int64_t code = line->run(address);
  PyEval_RestoreThread(state);
  return code;
}

/* A Solution, with what its `__init__` keeps, in the same order; `whose` are the model and the search. */
static PyObject *solution(Line *line, PyObject *const *whose, PyObject *raw, const double *goal, int64_t code,
                          int64_t took, int late, PyObject *start) {
  PyObject *numbers = PyBytes_FromStringAndSize((const char *)goal, 8 * line->count);
  PyObject *told[] = {kept(whose[0]), kept(whose[1]), raw, numbers, PyLong_FromLongLong(code),
                      PyLong_FromLongLong(took), kept(late ? Py_True : Py_False), kept(Py_None), kept(others), kept(start)};
  PyObject *all = PyTuple_New(sizeof told / sizeof *told);
  for (size_t k = 0; k < sizeof told / sizeof *told; k++) PyTuple_SetItem(all, (Py_ssize_t)k, told[k]);
  PyObject *made = PyType_GenericAlloc(line->solution, 0);
  if (made && PyObject_SetAttr(made, told_name, all)) drop(made), made = NULL;
  Py_DecRef(all);
  return made;
}

static int64_t now(void) {
  PyObject *time = PyObject_CallNoArgs(clock);
  int64_t nanoseconds = time ? PyLong_AsLongLong(time) : 0;
  drop(time);
  return nanoseconds;
}

/* solve(model, search, target, q0): a Solution, or None, also where Python has to go on. */
static PyObject *solve(Line *line, PyObject *const *given, Py_ssize_t count) {
  Py_ssize_t last = count == 4 ? PyList_Size(line->idle) - 1 : -1;
  if (last < 0) return nothing();
  int64_t began = now();
  PyObject *scratch = kept(PyList_GetItem(line->idle, last)), *q0 = given[3], *found = NULL;
  PyList_SetSlice(line->idle, last, last + 1, NULL);
  PyObject *address = PyObject_GetAttr(scratch, address_name);
  int64_t *call = (int64_t *)(intptr_t)PyLong_AsLongLong(address), code = BAD_GOAL;
  double *narrow = (double *)(intptr_t)call[NARROW], *start = narrow + line->start;
  Py_DecRef(address);
  PyObject *looked = line->look ? PyObject_CallFunctionObjArgs(line->look, scratch, NULL) : kept(Py_None);
  if (looked && (q0 == Py_None ? copied(line->home, start) : read_start(line, q0, start)) &&
      read_goal(line, given[2], narrow + line->goal)) {
    PyObject *begun = q0 == Py_None ? kept(q0) : PyBytes_FromStringAndSize((const char *)start, 8 * line->nq);
    code = go(line, (int64_t)(intptr_t)call);
    int late = 0;
    while (code == RUNNING && called(line->pause)) {
      late = line->longest && now() - began >= line->longest;
      call[PHASE] = late ? END : GO_ON;
      code = go(line, (int64_t)(intptr_t)call);
    }
    call[PHASE] = BEGIN;
    if (code >= 0 && code != RUNNING && code != NEEDS) {
      PyObject *copy = PyObject_GetAttr(scratch, copy_name), *raw = PyObject_CallNoArgs(copy);
      found = solution(line, given, raw, narrow + line->goal, code, now() - began, late && code != SOLVED, begun);
      drop(copy);
    }
    Py_DecRef(begun);
  }
  drop(looked);
  PyList_Append(line->idle, scratch);
  Py_DecRef(scratch);
  return found || code == RUNNING ? found : nothing();
}

/* Where a step begins: q, or for None where the last step led, which is no number before the first. */
static int read_command(Line *line, PyObject *q, double *narrow) {
  const double *last = narrow + line->out;
  if (q != Py_None) return read_start(line, q, narrow + line->start);
  if (last[0] != last[0]) return 0;
  for (int64_t k = 0; k < line->nq; k++) narrow[line->start + k] = last[k];
  return 1;
}

/* Room for q in an array of NumPy's, which is lent until it is released; NULL if it has none. */
static double *room_in(Line *line, PyObject *out, Py_buffer *room) {
  if (!is_a(out, array_type) || PyObject_GetBuffer(out, room, PyBUF_WRITABLE | PyBUF_FORMAT | PyBUF_STRIDES)) return NULL;
  return room->ndim == 1 && is_double(room) && room->shape[0] == line->nq && room->strides[0] == 8 ? room->buf : NULL;
}

/* Whether it was said where the robot is, or for None that this is not known. */
static int read_measured(Line *line, PyObject *measured, double *to) {
  if (measured != Py_None) return read_start(line, measured, to) && to[0] == to[0];
  to[0] = __builtin_nan("");
  return 1;
}

/* step(q, target, out, measured): where the step leads, or the code of one that is no finite number, or None. */
static PyObject *step(Line *line, PyObject *const *given, Py_ssize_t count) {
  PyObject *acquired = count == 4 ? PyObject_CallFunctionObjArgs(line->acquire, Py_False, NULL) : NULL;
  drop(acquired);
  if (acquired != Py_True) return nothing();
  PyObject *q = given[0], *target = given[1], *out = given[2], *found = NULL;
  const int64_t *call = (const int64_t *)(intptr_t)line->address;
  double *narrow = (double *)(intptr_t)call[NARROW], *robot = (double *)(intptr_t)call[FOLLOWING_WORK];
  Py_buffer room = {0};
  double *led = out == Py_None ? NULL : room_in(line, out, &room);
  int raised = 0;
  if ((led || out == Py_None) && read_command(line, q, narrow) &&
      (target == Py_None || read_goal(line, target, narrow + line->goal)) &&
      read_measured(line, given[3], robot + line->measured) && !(raised = !called(line->look))) {
    int64_t code = go(line, line->address);
    for (int64_t k = 0; led && code >= 0 && k < line->nq; k++) led[k] = narrow[line->out + k];
    if (code == SOLVED) found = led ? kept(out) : PyObject_CallNoArgs(line->copy);
    if (code > SOLVED) found = PyLong_FromLongLong(code);
    raised = code >= 0 && !found;
  }
  if (room.obj) PyBuffer_Release(&room);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  drop(PyObject_CallNoArgs(line->release));
  PyErr_Restore(type, value, trace);
  return found || raised ? found : nothing();
}

static void freed(Line *line) {
  PyObject *type = line->head.type;
  PyObject_GC_UnTrack(line);
  for (int k = 0; k < HELD; k++) drop(line->held[k]);
  PyObject_GC_Del(line);
  Py_DecRef(type);
}

/* Show the collector of circles what it holds: a model knows its searches, whose scratch with shapes knows the model. */
static int traverse(Line *line, int (*visit)(PyObject *, void *), void *with) {
  int found = visit(line->head.type, with);
  for (int k = 0; k < HELD && !found; k++) found = line->held[k] ? visit(line->held[k], with) : 0;
  return found;
}

/* line(numbers, kinds, *held): what is prepared; None stands for what is not needed. */
static PyObject *line(PyObject *module, PyObject *const *given, Py_ssize_t count) {
  char *numbers, *kinds;
  Py_ssize_t length, tasks;
  if (count != 2 + HELD || PyBytes_AsStringAndSize(given[0], &numbers, &length) ||
      PyBytes_AsStringAndSize(given[1], &kinds, &tasks) || length != 9 * sizeof(int64_t) || tasks > MOST_TASKS ||
      ((const int64_t *)(const void *)numbers)[6] > MOST_NUMBERS)
    return nothing();
  Line *made = (Line *)PyType_GenericAlloc(line_type, 0);
  if (!made) return NULL;
  const int64_t *n = (const int64_t *)(const void *)numbers;
  made->run = (int64_t(*)(int64_t))(intptr_t)n[0];
  made->address = n[1], made->goal = n[2], made->start = n[3], made->out = n[4], made->nq = n[5];
  made->count = n[6], made->longest = n[7], made->measured = n[8];
  made->tasks = tasks;
  for (Py_ssize_t k = 0; k < tasks; k++) made->kinds[k] = kinds[k];
  for (int k = 0; k < HELD; k++) made->held[k] = given[2 + k] == Py_None ? NULL : kept(given[2 + k]);
  return (PyObject *)made;
}

static PyMethodDef of_lines[] = {{"solve", solve, METH_FASTCALL, 0}, {"step", step, METH_FASTCALL, 0}, {0}};
static PyType_Slot slots[] = {{Py_tp_dealloc, freed}, {Py_tp_traverse, traverse}, {Py_tp_methods, of_lines}, {0}};
static PyType_Spec spec = {"poise.fast_path.Line", sizeof(Line), 0, Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_GC,
                          slots};
static PyMethodDef functions[] = {{"line", line, METH_FASTCALL, 0}, {"poses", poses, METH_FASTCALL, 0}, {0}};
static PyModuleDef definition = {{1}, .name = "poise.fast_path", .size = -1, .methods = functions};

static PyObject *attribute(const char *module, const char *name) {
  PyObject *found = PyImport_ImportModule(module), *value = found ? PyObject_GetAttrString(found, name) : NULL;
  drop(found);
  return value;
}

EXPORTED PyObject *PyInit_fast_path(void) {
  PyObject *module = PyModule_Create2(&definition, ABI_VERSION);
  line_type = PyType_FromSpec(&spec), clock = attribute("time", "perf_counter_ns");
  array_type = attribute("numpy", "ndarray");
  array_name = PyUnicode_InternFromString("array"), address_name = PyUnicode_InternFromString("address");
  copy_name = PyUnicode_InternFromString("copy");
  told_name = PyUnicode_InternFromString("_told"), others = PyUnicode_InternFromString("random");
  return PyErr_Occurred() ? NULL : module;
}

#if defined(_WIN32)

/* What Windows calls when it loads a library. */
int DllMainCRTStartup(void *library, uint32_t reason, void *reserved) { return 1; }

#endif
