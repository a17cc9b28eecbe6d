"""A compiled declaration: tables that one function evaluates, without the GIL.

All numbers of one environment are in its registers: an array of doubles behind the random state in Sim.task_state. The
observation begins at register 0. An instruction writes `n` registers from `out` on. compiler.py makes the tables.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

from envpool.mujoco.base.mujoco cimport mjData, mjModel
from envpool.mujoco.base.simulation cimport Outcome, Sim
from envpool.mujoco.dmc.control cimport Options

cdef extern from "envpool/mujoco_term.h" nogil:
    const uint32_t ENVPOOL_MUJOCO_TERM_VERSION
    const char* ENVPOOL_MUJOCO_TERM_CAPSULE

    ctypedef struct envpool_mujoco_call:
        uint32_t struct_size
        int32_t is_reset
        const mjModel* model
        mjData* data
        const double* inputs
        double* out
        char* text
        int32_t text_size
        int32_t num_inputs

    ctypedef struct envpool_mujoco_term:
        uint32_t version
        uint32_t struct_size
        int32_t mujoco_version
        int32_t size
        uint64_t model_size
        uint64_t data_size
        const char* name
        int32_t (*compute)(const envpool_mujoco_call* call) noexcept nogil
        int32_t num_inputs

cdef struct Instruction:
    int32_t op
    int32_t n                   # numbers that are written
    int32_t out                 # first register of the result
    int32_t a                   # first register of the first operand; of the operations without operands: an index
    int32_t b                   # first register of the second operand
    int32_t step_a              # 1, or 0 if the operand is one number that is used n times
    int32_t step_b
    int32_t count               # numbers in the operand of an operation that reduces it to one number
    int32_t flag                # see each operation
    size_t member               # offset in mjData of the pointer to an array
    double[4] x                 # constants

# A summand of the reward.
cdef struct RewardTerm:
    int32_t value               # register
    double weight
    int32_t info                # index in Sim.info; -1: not reported

# Registers that are copied to Sim.info after every reset and step.
cdef struct Report:
    int32_t first
    int32_t n
    int32_t info

# A part of a reset: see ResetOp in program.pyx.
cdef struct ResetRow:
    int32_t op
    int32_t n                   # numbers that are set
    int32_t targets             # index in Program.indices of the n places in the array, or of registers
    int32_t low                 # indices in Program.constants of n numbers each
    int32_t high
    size_t member               # offset in mjData of the pointer to the array
    bint is_register            # the targets are registers

cdef struct Program:
    Options head                # used with dm_control's conventions, see control.pxd
    Instruction* instructions
    int32_t num_instructions
    int32_t num_constant        # the first instructions, whose results never change: only resets run them
    RewardTerm* rewards         # the summands, and behind them the costs
    int32_t num_rewards
    int32_t num_costs
    int32_t first_flag          # registers of the terminations: 1 if they hold, otherwise 0
    int32_t num_flags
    int32_t flags_info          # index in Sim.info of copies of these registers; -1: not reported
    Report* reports
    int32_t num_reports
    ResetRow* resets
    int32_t num_resets
    int32_t* indices
    double* constants
    const envpool_mujoco_term** terms       # native terms, which belong to capsules of other modules
    uint8_t* sides              # bits of each geom, one array (geoms) for each CONTACTS
    size_t registers            # offset in Sim.task_state
    int32_t num_registers
    int32_t observation_size
    int32_t* controls           # the control of each number of an action; NULL: action and controls are the same array
    double* centers             # of normalised actions: control = center + action * half; NULL: not normalised
    double* halves
    bint reads_contact_forces   # cfrc_ext
    void* function              # a FunctionCaller, borrowed; NULL: none
    int32_t total               # register of the reward before it is rounded to float32, if there is a function
    bint is_suite               # dm_control's conventions instead of Gymnasium's


cdef inline double* registers_of(const Sim* s) noexcept nogil:
    return <double*>(<char*>s.task_state + (<const Program*>s.options).registers)


# Runs the instructions; returns 0, or fail() if a native term fails. `action` is NULL after a reset.
cdef int evaluate(Sim* s, const Program* p, const double* action) noexcept nogil
# Sets reward and termination from the registers, and writes the reported terms.
cdef void conclude(Sim* s, const Program* p, Outcome* out) noexcept nogil
# Runs the parts of a reset in their order; returns 0, or fail().
cdef int run_resets(Sim* s, const Program* p) noexcept nogil
