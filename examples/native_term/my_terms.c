/* A native term for declared MuJoCo tasks, to copy and change. docs/own_mujoco.md explains it. */
#include <Python.h>
#include <math.h>

#include "envpool/mujoco_term.h"

/* The mechanical power that the actuators spend on the joints (W), above a limit that is the only input. */
static int32_t excess_power(const envpool_mujoco_call *call) {
  double power = 0;
  for (int i = 0; i < call->model->nv; i++) power += fabs(call->data->qfrc_actuator[i] * call->data->qvel[i]);
  call->out[0] = fmax(power - call->inputs[0], 0);
  return 0;
}

static envpool_mujoco_term excess_power_term;
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "my_terms", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_my_terms(void) {
  PyObject *made = PyModule_Create(&module);
  envpool_mujoco_term_init(&excess_power_term, "excess_power", excess_power, 0, 1); /* a scalar, of one input */
  PyObject *capsule = PyCapsule_New(&excess_power_term, ENVPOOL_MUJOCO_TERM_CAPSULE, NULL);
  if (made && PyModule_AddObjectRef(made, "excess_power", capsule)) Py_CLEAR(made);
  Py_XDECREF(capsule);
  return made;
}
