"""A simulation that runs once, when a pool is made; scratch.pxd documents the function."""

from envpool.mujoco.base.mujoco cimport ep_mj_call, ep_mj_enter, ep_mj_leave, mj_deleteData, mj_makeData, mjfLogHandler

from envpool.errors import ConfigError

cdef struct ScratchCall:
    mjModel* model
    mjData* data
    ScratchFunction function
    void* argument


cdef int run(void* argument) noexcept nogil:
    cdef ScratchCall* call = <ScratchCall*>argument
    call.data = mj_makeData(call.model)
    return -1 if call.data == NULL else call.function(call.model, call.data, call.argument)


cdef int run_scratch(Model model, ScratchFunction function, void* argument) except -1:
    cdef ScratchCall call = ScratchCall(model.m, NULL, function, argument)
    cdef char text[1000]
    cdef mjfLogHandler before
    cdef int failed
    text[0] = 0
    with nogil:
        before = ep_mj_enter()
        failed = ep_mj_call(run, &call, text, sizeof(text))
        mj_deleteData(call.data)
        ep_mj_leave(before)
    if failed:
        reason = text.decode(errors="replace") or "not enough memory for a simulation"
        raise ConfigError(f"MuJoCo cannot prepare the first state of {model.source}: {reason}")
    return 0
