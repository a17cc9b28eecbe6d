"""The Atari envs of a pool: configuration, state and memory. In a .pxd, so that it is compiled into the extension."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free

from envpool.atari.emulator cimport Emulator, Machine, Resizer, Rom, new_emulator, new_resizer, new_rom
from envpool.numerics.rng cimport ep_pcg64

cdef struct Config:             # of one kind; the bytes of its ROM follow
    int32_t stack_num
    int32_t frame_skip
    int32_t noop_max
    int32_t max_episode_steps
    int32_t height              # of a frame
    int32_t width
    int32_t mode
    int32_t difficulty
    int32_t num_planes          # 1 for grey, 3 for colours
    uint8_t actions[18]         # ALE's number of each action
    bint presses_fire
    bint episodic_life
    bint cuts_discount          # where a life is lost
    bint clips_reward
    bint area
    bint draws                  # pictures: every last screen of a step may be looked at
    int32_t picture_height
    int32_t picture_width
    float repeat_action_probability
    int64_t rom_size

cdef struct Env:
    Emulator* emulator
    ep_pcg64 rng
    uint64_t seed
    bint is_fresh               # seeded, and not reset since
    bint is_broken              # its console could not be built or reset
    bint is_over                # the game is
    bint has_lost_life          # in the last step
    int32_t lives
    int32_t steps               # since the game started
    float reward                # of the last step, before clipping
    int32_t newest              # entry of `frames`
    int32_t num_frames          # entries since the game started, at most stack_num
    uint8_t* frames             # ring (stack_num, num_planes, height, width)
    uint8_t* planes             # (num_planes, pixels of a screen)
    uint8_t* older              # screen before the last one of a step

cdef struct Envs:
    Config config
    int32_t num_envs
    Rom* rom
    Resizer* resizer
    Resizer* picture_resizer    # NULL where pictures have the size of a screen
    size_t pixels               # of a screen
    size_t plane                # bytes of one plane of a frame
    uint8_t tables[4][256]      # palette index to grey, red, green, blue
    uint8_t* memory             # what the envs point into
    Env* env                    # (num_envs)


cdef inline void destroy(void* state) noexcept nogil:
    cdef Envs* s = <Envs*>state
    cdef int32_t i
    if s.env != NULL:
        for i in range(s.num_envs):
            del s.env[i].emulator
    del s.resizer
    del s.picture_resizer
    del s.rom
    free(s.env)
    free(s.memory)
    free(s)


cdef inline void* create(const void* config, int32_t n) noexcept nogil:
    cdef Envs* s = <Envs*>calloc(1, sizeof(Envs))
    if s == NULL:
        return NULL
    s.config = (<const Config*>config)[0]
    s.num_envs = n
    if not allocate(s, <const Config*>config + 1):
        destroy(s)
        return NULL
    return s


cdef inline bint allocate(Envs* s, const void* rom) noexcept nogil:
    """Everything but the consoles, which are built when the envs are seeded; the first one tells the screen's size."""
    cdef Config* c = &s.config
    cdef Machine machine
    cdef size_t frames, planes
    cdef uint8_t* free_memory
    cdef int32_t i, rows, columns
    s.env = <Env*>calloc(s.num_envs, sizeof(Env))
    s.rom = new_rom(rom, c.rom_size)
    if s.env == NULL or s.rom == NULL or not s.rom.is_open():
        return False
    machine.rom = s.rom
    machine.mode = c.mode
    machine.difficulty = c.difficulty
    machine.repeat_action_probability = c.repeat_action_probability
    for i in range(s.num_envs):
        s.env[i].emulator = new_emulator(machine)
        if s.env[i].emulator == NULL:
            return False
    if not s.env[0].emulator.load(0):
        return False
    s.env[0].emulator.palette(&s.tables[0][0], &s.tables[1][0], &s.tables[2][0], &s.tables[3][0])
    s.pixels = <size_t>s.env[0].emulator.height() * s.env[0].emulator.width()
    s.plane = <size_t>c.height * c.width
    rows, columns = s.env[0].emulator.height(), s.env[0].emulator.width()
    s.resizer = new_resizer(rows, columns, c.height, c.width, c.area)
    if c.draws and (c.picture_height != rows or c.picture_width != columns):
        s.picture_resizer = new_resizer(rows, columns, c.picture_height, c.picture_width, True)
        if s.picture_resizer == NULL:
            return False
    frames = s.plane * c.num_planes * c.stack_num
    planes = s.pixels * c.num_planes
    s.memory = <uint8_t*>calloc(s.num_envs, frames + planes + s.pixels)
    if s.resizer == NULL or s.memory == NULL:
        return False
    free_memory = s.memory
    for i in range(s.num_envs):
        s.env[i].frames = free_memory
        s.env[i].planes = free_memory + frames
        s.env[i].older = free_memory + frames + planes
        free_memory += frames + planes + s.pixels
    return True
