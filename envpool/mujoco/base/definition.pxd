"""The env definition of a MuJoCo task, built from the functions of the task, its model, its fields and its options."""

from libc.stdint cimport uint32_t

from envpool.mujoco.base.model cimport Model
from envpool.mujoco.base.renderer cimport CameraView
from envpool.mujoco.base.simulation cimport TaskFunctions
from envpool.mujoco.base.structs cimport PrepareFunction

# Returns the capsule of an env definition (include/envpool/env.h).
#   name            name of the env, which begins the name of its EnvSpec class
#   config          the options of the pool; frame_skip, frame_stack, debug_info and those of pixels are read here
#   observations    {name: shape}: "obs" or "obs:...", in the order in which TaskFunctions.observe writes them
#   info            {name: index or (index, size)}: where Sim.info has each info array; names may share an index
#   action_range    (2, actions): lowest and highest value of each control; its dtype, float64 or float32, is that of
#                   the actions that users send
#   options         the bytes of the struct that Sim.options points to
#   view            how upstream renders the task
#   private_arrays  the arrays of the model that the task changes, see private_array()
#   keep            an object that must live as long as the env definition, since `options` points into it
#   flags           flags of the env definition, see env.h
#   prepare         see SimConfig.prepare
#   follows_masses  whether the masses of subtrees follow changed masses of bodies, which upstream's do not
cdef object define_task(str name, const TaskFunctions* task, Model model, object config, dict observations, dict info,
                        object action_range, bytes options, const CameraView* view, private_arrays=*, object keep=*,
                        uint32_t flags=*, PrepareFunction prepare=*, bint follows_masses=*)

# Entries of `private_arrays`: an array of n doubles or floats, given by the address of its pointer in model.m. The task
# changes at most `count` elements from `first` on. Saved states contain these elements.
cdef tuple private_array(Model model, double** member, size_t n, size_t first, size_t count)
cdef tuple private_float_array(Model model, float** member, size_t n, size_t first, size_t count)
