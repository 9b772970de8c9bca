/* Python's door to the compiled kernels: one extension module for all versions of Python from 3.11.

   Every kernel is a plain C function of the words of its arguments, once for each level of the
   processor's instructions. A table that is made with them names each kernel and its parameters;
   what is here reads arguments by it, lets go of the interpreter lock, and calls. Arrays are taken
   as they lie in memory, never copied or converted: one that does not fit is refused. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

/* ---- What compiled code asks for: arrays that live while a kernel runs ---- */

typedef struct {
    size_t references;
    void *destructor, *destructor_argument, *data;
    size_t size;
    void *allocator;
} Block;

static _Thread_local int out_of_memory;

/* Numba's own name and layout; the count of references is changed by compiled code. */
void *NRT_MemInfo_alloc_aligned(size_t size, unsigned align)
{
    Block *block = malloc(sizeof(Block) + align + size);
    if (block == NULL) {
        out_of_memory = 1;
        return NULL;
    }
    uintptr_t start = (uintptr_t)(block + 1) + align - 1;
    *block = (Block){1, NULL, NULL, (void *)(start - start % align), size, NULL};
    return block;
}

void NRT_MemInfo_call_dtor(Block *block) { free(block); }

/* ---- Arguments ---- */

/* A parameter in the table: a letter and, of arrays, what they must be.
     q Q d ?    int64, uint64, double, bool
     [kbnw      an array: kind of its elements, bytes of each, dimensions; w if it is written to
     (n         a tuple of n that follow                                                        */
typedef struct {
    const char *at;
    uint64_t *word;
    const Entry *entry;
    int argument;
} Reader;

static int refuse(Reader *reader, const char *wanted)
{
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Format(PyExc_TypeError, "kernel %s: argument %d is not %s", reader->entry->name,
                     reader->argument, wanted);
    }
    return -1;
}

static int read_array(Reader *reader, PyObject *value)
{
    char kind = reader->at[1], size = reader->at[2], dimensions = reader->at[3], mode = reader->at[4];
    reader->at += 5;
    if (PyArray_Check(value)) {
        PyArrayObject *array = (PyArrayObject *)value;
        PyArray_Descr *type = PyArray_DESCR(array);
        int flags = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | (mode == 'w' ? NPY_ARRAY_WRITEABLE : 0);
        if (type->kind == kind && PyDataType_ELSIZE(type) == size - '0' && type->byteorder != '>' &&
            PyArray_NDIM(array) == dimensions - '0' && PyArray_CHKFLAGS(array, flags)) {
            *reader->word++ = (uint64_t)(uintptr_t)PyArray_DATA(array);
            for (int i = 0; i < dimensions - '0'; i++) *reader->word++ = (uint64_t)PyArray_DIM(array, i);
            return 0;
        }
    }
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError,
                 "kernel %s: argument %d is no contiguous%s array of %c%c with %c dimensions",
                 reader->entry->name, reader->argument, mode == 'w' ? ", writable" : "", kind, size,
                 dimensions);
    return -1;
}

static int read_value(Reader *reader, PyObject *value)
{
    switch (*reader->at) {
    case '[':
        return read_array(reader, value);
    case '(': {
        int n = (int)strtol(reader->at + 1, (char **)&reader->at, 10);
        if (!PyTuple_Check(value) || PyTuple_Size(value) != n) return refuse(reader, "such a tuple");
        for (int i = 0; i < n; i++) {
            if (read_value(reader, PyTuple_GetItem(value, i)) < 0) return -1;
        }
        return 0;
    }
    case 'd': {
        double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred()) return refuse(reader, "a number");
        memcpy(reader->word++, &number, sizeof number);
        break;
    }
    case '?': {
        int truth = PyObject_IsTrue(value);
        if (truth < 0) return refuse(reader, "true or false");
        *reader->word++ = (uint64_t)truth;
        break;
    }
    default: {
        /* Both kinds of whole numbers have the same words, and wrap as in NumPy's arrays. */
        uint64_t number = PyLong_Check(value) ? PyLong_AsUnsignedLongLongMask(value) : 0;
        if (!PyLong_Check(value)) {
            PyObject *whole = PyNumber_Index(value);
            if (whole == NULL) return refuse(reader, "a whole number");
            number = PyLong_AsUnsignedLongLongMask(whole);
            Py_DecRef(whole);
        }
        *reader->word++ = number;
    }
    }
    reader->at++;
    return 0;
}

/* ---- Calls ---- */

static PyObject *returned(char kind, uint64_t word)
{
    double number;
    switch (kind) {
    case 'q':
        return PyLong_FromLongLong((long long)word);
    case 'Q':
        return PyLong_FromUnsignedLongLong(word);
    case '?':
        return PyBool_FromLong((long)word);
    default:
        memcpy(&number, &word, sizeof number);
        return PyFloat_FromDouble(number);
    }
}

static PyObject *call(PyObject *self, PyObject *const *arguments, Py_ssize_t n)
{
    const Call *bound = PyCapsule_GetPointer(self, NULL);
    const Entry *entry = bound->entry;
    uint64_t words[MOST_WORDS], results[MOST_RESULTS];
    Reader reader = {entry->parameters, words, entry, 0};
    if (n != entry->n_parameters) {
        return PyErr_Format(PyExc_TypeError, "kernel %s: %zd arguments, not %d", entry->name, n,
                            entry->n_parameters);
    }
    for (; reader.argument < n; reader.argument++) {
        if (read_value(&reader, arguments[reader.argument]) < 0) return NULL;
    }
    int status, is_full;
    Py_BEGIN_ALLOW_THREADS
    out_of_memory = 0;
    status = bound->function(words, results);
    is_full = out_of_memory;
    Py_END_ALLOW_THREADS
    if (status != 0) {
        if (is_full) return PyErr_NoMemory();
        return PyErr_Format(PyExc_RuntimeError, "kernel %s failed", entry->name);
    }
    size_t n_results = strlen(entry->results);
    if (n_results == 0) return Py_NewRef(Py_None);
    if (n_results == 1) return returned(entry->results[0], results[0]);
    PyObject *tuple = PyTuple_New((Py_ssize_t)n_results);
    for (size_t i = 0; tuple != NULL && i < n_results; i++) {
        PyObject *item = returned(entry->results[i], results[i]);
        if (item == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, item) < 0) {
            Py_DecRef(tuple);
            return NULL;
        }
    }
    return tuple;
}

/* ---- The module ---- */

static Call calls[N_LEVELS][N_KERNELS];
static PyMethodDef methods[N_KERNELS];

static int runs(int level)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (strcmp(LEVELS[level], "x86-64-v3") == 0) return __builtin_cpu_supports("x86-64-v3");
    if (strcmp(LEVELS[level], "x86-64-v4") == 0) return __builtin_cpu_supports("x86-64-v4");
#endif
    return 1;
}

static PyObject *kernels(PyObject *module, PyObject *name)
{
    PyObject *found = PyDict_New();
    for (int level = 0; level < N_LEVELS; level++) {
        if (PyUnicode_CompareWithASCIIString(name, LEVELS[level]) != 0) continue;
        if (!runs(level)) break;
        for (int i = 0; found != NULL && i < N_KERNELS; i++) {
            const Entry *entry = &ENTRIES[i];
            calls[level][i] = (Call){entry, entry->functions[level]};
            methods[i] = (PyMethodDef){strrchr(entry->name, '.') + 1, (PyCFunction)(void (*)(void))call,
                                       METH_FASTCALL, NULL};
            PyObject *self = PyCapsule_New(&calls[level][i], NULL, NULL);
            PyObject *function = self == NULL ? NULL : PyCFunction_NewEx(&methods[i], self, NULL);
            if (function == NULL || PyDict_SetItemString(found, entry->name, function) < 0) {
                Py_CLEAR(found);
            }
            Py_XDECREF(function);
            Py_XDECREF(self);
        }
        return found;
    }
    Py_XDECREF(found);
    return PyErr_Format(PyExc_ValueError, "this processor does not run the code for %S", name);
}

static PyMethodDef module_methods[] = {
    {"kernels", kernels, METH_O, "Return the kernels of a level by their names."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module)
{
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    PyObject *levels = PyList_New(0);
    for (int level = N_LEVELS - 1; levels != NULL && level >= 0; level--) {
        PyObject *name = runs(level) ? PyUnicode_FromString(LEVELS[level]) : NULL;
        if (name != NULL && PyList_Append(levels, name) < 0) Py_CLEAR(levels);
        Py_XDECREF(name);
    }
    if (levels == NULL || PyModule_AddObjectRef(module, "LEVELS", levels) < 0) return -1;
    Py_DecRef(levels);
    return PyModule_AddStringConstant(module, "DIGEST", DIGEST);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, (void *)fill}, {0, NULL}};
static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", "Kernels compiled ahead.", 0, module_methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
