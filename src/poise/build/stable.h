/* What the fast path calls of Python's stable interface, as it is since 3.11: for every target alike, and where the headers of
   a Python are not. */

#include <stddef.h>
#include <stdint.h>

typedef intptr_t Py_ssize_t;
typedef struct object PyObject;
typedef struct thread PyThreadState;
typedef struct {
  Py_ssize_t references;
  PyObject *type;
} PyObjectHead;

typedef struct {
  void *buf;
  PyObject *obj;
  Py_ssize_t len, itemsize;
  int readonly, ndim;
  char *format;
  Py_ssize_t *shape, *strides, *suboffsets;
  void *internal;
} Py_buffer;

typedef struct {
  const char *name;
  void *function;
  int flags;
  const char *doc;
} PyMethodDef;

typedef struct {
  int slot;
  void *function;
} PyType_Slot;

typedef struct {
  const char *name;
  int size, item_size;
  unsigned int flags;
  PyType_Slot *slots;
} PyType_Spec;

typedef struct {
  PyObjectHead head;
  PyObject *(*init)(void);
  Py_ssize_t index;
  PyObject *copy;
  const char *name, *doc;
  Py_ssize_t size;
  PyMethodDef *methods;
  void *slots, *traverse, *clear, *free;
} PyModuleDef;

enum { ABI_VERSION = 3, METH_FASTCALL = 0x80 };
enum { Py_tp_dealloc = 52, Py_tp_methods = 64, Py_tp_traverse = 71 };
enum { Py_TPFLAGS_DISALLOW_INSTANTIATION = 1 << 7, Py_TPFLAGS_HAVE_GC = 1 << 14 };
enum { Py_TPFLAGS_LIST_SUBCLASS = 1 << 25, Py_TPFLAGS_TUPLE_SUBCLASS = 1 << 26 };
enum { PyBUF_WRITABLE = 0x1, PyBUF_FORMAT = 0x4, PyBUF_STRIDES = 0x18, PyBUF_C_CONTIGUOUS = 0x38 };

#if defined(_WIN32)
#define IMPORTED __declspec(dllimport)
#define EXPORTED __declspec(dllexport)
#else
#define IMPORTED
#define EXPORTED __attribute__((visibility("default")))
#endif

IMPORTED extern PyObject _Py_NoneStruct, _Py_FalseStruct, _Py_TrueStruct;
#define Py_None (&_Py_NoneStruct)
#define Py_False (&_Py_FalseStruct)
#define Py_True (&_Py_TrueStruct)

IMPORTED PyObject *PyModule_Create2(PyModuleDef *, int);
IMPORTED PyObject *PyType_FromSpec(PyType_Spec *);
IMPORTED PyObject *PyType_GenericAlloc(PyObject *, Py_ssize_t);
IMPORTED unsigned long PyType_GetFlags(PyObject *);
IMPORTED PyObject *PyObject_Type(PyObject *);
IMPORTED void PyObject_GC_UnTrack(void *);
IMPORTED void PyObject_GC_Del(void *);
IMPORTED void Py_IncRef(PyObject *);
IMPORTED void Py_DecRef(PyObject *);
IMPORTED PyObject *PyObject_GetAttr(PyObject *, PyObject *);
IMPORTED PyObject *PyObject_GetAttrString(PyObject *, const char *);
IMPORTED PyObject *PyImport_ImportModule(const char *);
IMPORTED int PyObject_SetAttr(PyObject *, PyObject *, PyObject *);
IMPORTED PyObject *PyObject_CallNoArgs(PyObject *);
IMPORTED PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
IMPORTED PyObject *PyUnicode_InternFromString(const char *);
IMPORTED int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
IMPORTED void PyBuffer_Release(Py_buffer *);
IMPORTED PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
IMPORTED int PyBytes_AsStringAndSize(PyObject *, char **, Py_ssize_t *);
IMPORTED Py_ssize_t PyList_Size(PyObject *);
IMPORTED PyObject *PyList_GetItem(PyObject *, Py_ssize_t);
IMPORTED int PyList_SetSlice(PyObject *, Py_ssize_t, Py_ssize_t, PyObject *);
IMPORTED int PyList_Append(PyObject *, PyObject *);
IMPORTED Py_ssize_t PySequence_Size(PyObject *);
IMPORTED PyObject *PySequence_GetItem(PyObject *, Py_ssize_t);
IMPORTED PyObject *PyTuple_New(Py_ssize_t);
IMPORTED int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
IMPORTED PyObject *PyLong_FromLongLong(long long);
IMPORTED long long PyLong_AsLongLong(PyObject *);
IMPORTED PyThreadState *PyEval_SaveThread(void);
IMPORTED void PyEval_RestoreThread(PyThreadState *);
IMPORTED PyObject *PyErr_Occurred(void);
IMPORTED void PyErr_Clear(void);
IMPORTED int PyErr_ExceptionMatches(PyObject *);
IMPORTED void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
IMPORTED void PyErr_Restore(PyObject *, PyObject *, PyObject *);
IMPORTED extern PyObject *PyExc_Exception;
