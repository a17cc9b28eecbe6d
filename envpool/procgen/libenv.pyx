# optimize: -Og
"""Loading Procgen's library, and making handles.

The library ends the process when an option is unknown or wrong: `envpool.procgen.game` checks all values before.
"""

from libc.stdint cimport int32_t
from libc.string cimport memset, strcpy, strlen

cdef extern from "<dlfcn.h>" nogil:
    enum: RTLD_NOW, RTLD_LOCAL, RTLD_DEEPBIND
    void* dlopen(const char* path, int flags)
    void* dlsym(void* library, const char* name)
    char* dlerror()

cdef enum:
    VERSION = 1
    UINT8 = 1
    INT32 = 2
    MAX_OPTIONS = 20

ctypedef int (*VersionFunction)() noexcept nogil

cdef Library LIBRARY
cdef bint IS_LOADED = False
cdef char ROOT[4096]            # folder of the images, with a slash at its end; only the first handle reads it


def load(bytes path, bytes assets):
    """Load the library, unless this process has loaded one before.

    Parameters
    ----------
    path : bytes
        Path of ``libenv.so``.
    assets : bytes
        Folder of the images, with a slash at its end.

    Raises
    ------
    ImportError
        The library, or one that it needs, cannot be loaded; or it is not a library of this kind.
    """
    global IS_LOADED
    cdef void* opened
    cdef void* symbols[8]
    if IS_LOADED:
        return
    if len(assets) >= <Py_ssize_t>sizeof(ROOT):
        raise ImportError(f"the path of the images is too long: {assets!r}")
    # Deeply bound, as gym3 does it: the Qt that belongs to the library must not meet another one of the process.
    opened = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
    if opened == NULL:
        raise ImportError(dlerror().decode(errors="replace"))
    names = ["libenv_version", "libenv_make", "libenv_set_buffers", "libenv_act", "libenv_observe", "libenv_close",
             "get_state", "set_state"]
    for i, name in enumerate(names):
        symbols[i] = dlsym(opened, name.encode())
        if symbols[i] == NULL:
            raise ImportError(f"{path.decode()} has no function {name}")
    if (<VersionFunction>symbols[0])() != VERSION:
        raise ImportError(f"{path.decode()} has version {(<VersionFunction>symbols[0])()} of libenv, not {VERSION}")
    LIBRARY.make = <void* (*)(int, Options) noexcept nogil>symbols[1]
    LIBRARY.set_buffers = <void (*)(void*, Buffers*) noexcept nogil>symbols[2]
    LIBRARY.act = <void (*)(void*) noexcept nogil>symbols[3]
    LIBRARY.observe = <void (*)(void*) noexcept nogil>symbols[4]
    LIBRARY.close = <void (*)(void*) noexcept nogil>symbols[5]
    LIBRARY.get_state = <int (*)(void*, int, char*, int) noexcept nogil>symbols[6]
    LIBRARY.set_state = <void (*)(void*, int, char*, int) noexcept nogil>symbols[7]
    strcpy(ROOT, assets)
    IS_LOADED = True


cdef const Library* loaded() noexcept nogil:
    return &LIBRARY if IS_LOADED else NULL


cdef void add(Options* options, const char* name, int32_t dtype, int32_t count, const void* data) noexcept nogil:
    cdef Option* option = &options.items[options.count]
    memset(option, 0, sizeof(Option))
    strcpy(option.name, name)
    option.dtype = dtype
    option.count = count
    option.data = <void*>data
    options.count += 1


cdef void* make_handle(const Settings* settings, int32_t num, int32_t rand_seed) noexcept nogil:
    cdef Option items[MAX_OPTIONS]
    cdef Options options
    cdef int32_t num_actions = NUM_ACTIONS, num_threads = 0, debug_mode = 0
    options.items = items
    options.count = 0
    add(&options, b"env_name", UINT8, <int32_t>strlen(settings.env_name), settings.env_name)
    add(&options, b"resource_root", UINT8, <int32_t>strlen(ROOT), ROOT)
    add(&options, b"rand_seed", INT32, 1, &rand_seed)
    add(&options, b"num_threads", INT32, 1, &num_threads)
    add(&options, b"num_actions", INT32, 1, &num_actions)
    add(&options, b"debug_mode", INT32, 1, &debug_mode)
    add(&options, b"distribution_mode", INT32, 1, &settings.distribution_mode)
    add(&options, b"num_levels", INT32, 1, &settings.num_levels)
    add(&options, b"start_level", INT32, 1, &settings.start_level)
    add(&options, b"use_sequential_levels", UINT8, 1, &settings.use_sequential_levels)
    add(&options, b"center_agent", UINT8, 1, &settings.center_agent)
    add(&options, b"use_backgrounds", UINT8, 1, &settings.use_backgrounds)
    add(&options, b"use_monochrome_assets", UINT8, 1, &settings.use_monochrome_assets)
    add(&options, b"restrict_themes", UINT8, 1, &settings.restrict_themes)
    add(&options, b"use_generated_assets", UINT8, 1, &settings.use_generated_assets)
    add(&options, b"paint_vel_info", UINT8, 1, &settings.paint_vel_info)
    add(&options, b"use_easy_jump", UINT8, 1, &settings.use_easy_jump)
    add(&options, b"render_human", UINT8, 1, &settings.renders)
    return LIBRARY.make(num, options)
