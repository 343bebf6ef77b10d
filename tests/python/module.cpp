// SPDX-License-Identifier: BSL-1.0
// A Python module over a program of onto's: arrays of NumPy, PyTorch and others go in without a copy, and results come
// out as objects that they take over. Built and tested by check.py.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <onto/dlpack.hpp>
#include <onto/npz.hpp>
#include <onto/safetensors.hpp>

#include <exception>
#include <new>
#include <string>
#include <utility>
#include <variant>

using namespace onto;

namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;

template <class Managed>
constexpr const char* capsule_name = "dltensor";
template <>
constexpr const char* capsule_name<DLManagedTensorVersioned> = "dltensor_versioned";
template <class Managed>
constexpr const char* used_name = "used_dltensor";
template <>
constexpr const char* used_name<DLManagedTensorVersioned> = "used_dltensor_versioned";

/// An exception of C++ as one of Python.
PyObject* raised() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const not_found_error& e) {
    PyErr_SetString(PyExc_LookupError, e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  }
  return nullptr;
}

// [in]
/// The capsule of an object that has __dlpack__: of the newest kind that it knows.
PyObject* capsule_of(PyObject* array) {
  PyObject* const method = PyObject_GetAttrString(array, "__dlpack__");
  if (!method) return nullptr;
  PyObject *const none = PyTuple_New(0), *const newest = Py_BuildValue("{s:(ii)}", "max_version", 1, 0);
  PyObject* capsule = PyObject_Call(method, none, newest);
  if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) {  // one from before DLPack 1.0
    PyErr_Clear();
    capsule = PyObject_Call(method, none, nullptr);
  }
  Py_DECREF(method);
  Py_DECREF(none);
  Py_DECREF(newest);
  return capsule;
}

/// The values in a capsule. Where they are refused, they stay the capsule's.
template <class Managed, class T, int... Dims>
shared_tensor<T, Dims...> values_of(PyObject* capsule, bool copy) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>));
  auto values = copy ? from_dlpack<T, Dims...>(managed) : from_dlpack<T, Dims...>(managed, never_copy);
  PyCapsule_SetName(capsule, used_name<Managed>);  // they are ours now
  return values;
}
template <class T, int... Dims>
shared_tensor<T, Dims...> values_of(PyObject* capsule, bool copy = true) {
  if (PyCapsule_IsValid(capsule, capsule_name<DLManagedTensorVersioned>))
    return values_of<DLManagedTensorVersioned, T, Dims...>(capsule, copy);
  return values_of<DLManagedTensor, T, Dims...>(capsule, copy);
}
// [in]

// [out]
/// A capsule with a tensor in it. Who takes the tensor renames it; else it takes the tensor along.
template <class Managed, class T, int... Dims>
PyObject* capsule_with(tensor<T, Dims...>&& t) {
  return PyCapsule_New(to_dlpack<Managed>(std::move(t)), capsule_name<Managed>, [](PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, capsule_name<Managed>)) return;
    auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, capsule_name<Managed>));
    managed->deleter(managed);
  });
}
// [out]

template <class T>
using matrix = tensor<T, dyn, dyn>;
using any_matrix =
    std::variant<std::monostate, matrix<float>, matrix<double>, matrix<half>, matrix<bfloat16>, matrix<bool>,
                 matrix<std::int8_t>, matrix<std::int16_t>, matrix<std::int32_t>, matrix<std::int64_t>,
                 matrix<std::uint8_t>, matrix<std::uint16_t>, matrix<std::uint32_t>, matrix<std::uint64_t>>;

/// A result in Python: numpy.from_dlpack and torch.from_dlpack take it over, once.
struct result_object {
  PyObject_HEAD any_matrix values;
};

PyObject* result_dlpack(PyObject* self, PyObject*, PyObject* keywords) {
  PyObject* const version = keywords ? PyDict_GetItemString(keywords, "max_version") : nullptr;
  const bool versioned = version && version != Py_None && PyTuple_Check(version) && PyTuple_Size(version) == 2 &&
                         PyLong_AsLong(PyTuple_GetItem(version, 0)) >= 1;
  try {
    return std::visit(
        [&](auto& values) -> PyObject* {
          if constexpr (std::is_same_v<decltype(values), std::monostate&>) {
            PyErr_SetString(PyExc_BufferError, "the result was given away");
            return nullptr;
          } else {
            auto given = std::move(values);
            reinterpret_cast<result_object*>(self)->values = std::monostate();
            return versioned ? capsule_with<DLManagedTensorVersioned>(std::move(given))
                             : capsule_with<DLManagedTensor>(std::move(given));
          }
        },
        reinterpret_cast<result_object*>(self)->values);
  } catch (...) {
    return raised();
  }
}

PyObject* result_device(PyObject*, PyObject*) { return Py_BuildValue("ii", dlpack::cpu, 0); }

void result_free(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  reinterpret_cast<result_object*>(self)->values.~any_matrix();
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef result_methods[] = {
    {"__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&result_dlpack)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__dlpack_device__", &result_device, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot result_slots[] = {
    {Py_tp_methods, result_methods}, {Py_tp_dealloc, reinterpret_cast<void*>(&result_free)}, {0, nullptr}};
PyType_Spec result_spec = {"onto_arrays.Result", sizeof(result_object), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, result_slots};
PyObject* result_type = nullptr;

template <class T>
PyObject* result(matrix<T>&& values) {
  auto* const type = reinterpret_cast<PyTypeObject*>(result_type);
  PyObject* const self = type->tp_alloc(type, 0);
  if (self) ::new (&reinterpret_cast<result_object*>(self)->values) any_matrix(std::move(values));
  return self;
}

// [program]
constexpr auto x = placeholder<"x", float, dyn, dyn>;

/// twice(array): the program's result, with the address that was fed.
PyObject* twice(PyObject*, PyObject* array) {
  PyObject* const capsule = capsule_of(array);
  if (!capsule) return nullptr;
  PyObject* made = nullptr;
  try {
    const auto values = values_of<float, dyn, dyn>(capsule);
    made = Py_BuildValue("Nn", result(evaluate(2 * x, x = values)), reinterpret_cast<Py_ssize_t>(values.data()));
  } catch (...) {
    raised();
  }
  Py_DECREF(capsule);
  return made;
}
// [program]

/// in_place(array): the address of the values, or ValueError where they cannot be used where they lie.
PyObject* in_place(PyObject*, PyObject* array) {
  PyObject* const capsule = capsule_of(array);
  if (!capsule) return nullptr;
  PyObject* made = nullptr;
  try {
    made = PyLong_FromVoidPtr(const_cast<float*>(values_of<float, dyn, dyn>(capsule, false).data()));
  } catch (...) {
    raised();
  }
  Py_DECREF(capsule);
  return made;
}

template <class T>
PyObject* echoed(PyObject* capsule) {
  return result(matrix<T>(values_of<T, dyn, dyn>(capsule).ref()));
}

/// echo(array, type): the same values of one of the element types.
PyObject* echo(PyObject*, PyObject* arguments) {
  PyObject* array = nullptr;
  const char* type = nullptr;
  if (!PyArg_ParseTuple(arguments, "Os", &array, &type)) return nullptr;
  PyObject* const capsule = capsule_of(array);
  if (!capsule) return nullptr;
  const std::pair<const char*, PyObject* (*)(PyObject*)> types[] = {{"float16", &echoed<half>},
                                                                    {"bfloat16", &echoed<bfloat16>},
                                                                    {"float32", &echoed<float>},
                                                                    {"float64", &echoed<double>},
                                                                    {"bool", &echoed<bool>},
                                                                    {"int8", &echoed<std::int8_t>},
                                                                    {"int16", &echoed<std::int16_t>},
                                                                    {"int32", &echoed<std::int32_t>},
                                                                    {"int64", &echoed<std::int64_t>},
                                                                    {"uint8", &echoed<std::uint8_t>},
                                                                    {"uint16", &echoed<std::uint16_t>},
                                                                    {"uint32", &echoed<std::uint32_t>},
                                                                    {"uint64", &echoed<std::uint64_t>}};
  PyObject* made = nullptr;
  try {
    for (const auto& [name, function] : types)
      if (std::string(name) == type) made = function(capsule);
    if (!made && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "no such type");
  } catch (...) {
    raised();
  }
  Py_DECREF(capsule);
  return made;
}

shared_tensor<float, dyn, dyn> kept{tensor<float, dyn, dyn>()};

/// keep(array): uses the values until the next call; keep(None) lets go.
PyObject* keep(PyObject*, PyObject* array) {
  if (array == Py_None) {
    kept = shared_tensor<float, dyn, dyn>(tensor<float, dyn, dyn>());
    Py_RETURN_NONE;
  }
  PyObject* const capsule = capsule_of(array);
  if (!capsule) return nullptr;
  try {
    kept = values_of<float, dyn, dyn>(capsule);
  } catch (...) {
    raised();
  }
  Py_DECREF(capsule);
  if (PyErr_Occurred()) return nullptr;
  Py_RETURN_NONE;
}

/// npz(from, name, to): reads a float matrix of an archive, and writes it and its double into another.
PyObject* npz(PyObject*, PyObject* arguments) {
  const char *from = nullptr, *name = nullptr, *to = nullptr;
  if (!PyArg_ParseTuple(arguments, "sss", &from, &name, &to)) return nullptr;
  try {
    const auto values = load_npz<float, dyn, dyn>(from, name);
    save_npz(to, {{name, values}, {"double", evaluate(cast<double>(x), x = values)}});
  } catch (...) {
    return raised();
  }
  Py_RETURN_NONE;
}

constexpr auto weights = variable<"w", float, dyn, 3>;
constexpr auto steps = variable<"step", std::int64_t>;

/// checkpoint(from, to): a session restores a file, makes a step, and saves what it has.
PyObject* checkpoint(PyObject*, PyObject* arguments) {
  const char *from = nullptr, *to = nullptr;
  if (!PyArg_ParseTuple(arguments, "ss", &from, &to)) return nullptr;
  try {
    session sess;
    sess.restore(from);
    sess.run(fetches(assign(weights, 2.f * weights), assign_add(steps, 1)));
    sess.save(to);
  } catch (...) {
    return raised();
  }
  Py_RETURN_NONE;
}

/// safetensors(bytes): the names of the tensors.
PyObject* safetensors(PyObject*, PyObject* bytes) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0) return nullptr;
  try {
    PyObject* const list = PyList_New(0);
    for (const std::string& name :
         safetensors_file(std::as_bytes(std::span(data, static_cast<std::size_t>(size)))).names()) {
      PyObject* const text = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
      PyList_Append(list, text);
      Py_DECREF(text);
    }
    return list;
  } catch (...) {
    return raised();
  }
}

PyMethodDef functions[] = {{"twice", &twice, METH_O, nullptr},
                           {"in_place", &in_place, METH_O, nullptr},
                           {"echo", &echo, METH_VARARGS, nullptr},
                           {"keep", &keep, METH_O, nullptr},
                           {"npz", &npz, METH_VARARGS, nullptr},
                           {"checkpoint", &checkpoint, METH_VARARGS, nullptr},
                           {"safetensors", &safetensors, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "onto_arrays", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_onto_arrays() {
  result_type = PyType_FromSpec(&result_spec);
  return result_type ? PyModule_Create(&module) : nullptr;
}
