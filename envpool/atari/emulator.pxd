"""The consoles and pictures of an Atari env: emulator.h and image/, and how to make them without exceptions."""

from libc.stdint cimport uint8_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from "emulator.h" namespace "envpool::atari" nogil:
    const int RAM_SIZE "envpool::atari::kRamSize"

    cdef cppclass GameInfo:
        string md5
        vector[int] modes
        vector[int] difficulties
        vector[int] minimal_actions
        vector[int] legal_actions

    cpp_bool find_game(const string& name, GameInfo* out)

    cdef cppclass Rom:
        cpp_bool is_open()

    cdef struct Machine:
        const Rom* rom
        int mode
        int difficulty
        float repeat_action_probability

    cdef cppclass Emulator:
        cpp_bool load(uint32_t seed)
        cpp_bool reset_game()
        int act(int action, cpp_bool draw)
        cpp_bool is_game_over()
        int lives()
        const uint8_t* screen()
        const uint8_t* ram()
        int height()
        int width()
        void palette(uint8_t* grey, uint8_t* red, uint8_t* green, uint8_t* blue)

cdef extern from "image/resize.h" namespace "envpool::atari" nogil:
    cdef cppclass Resizer:
        void run(const uint8_t* source, uint8_t* to)

cdef extern from "image/screen.h" namespace "envpool::atari" nogil:
    void look_up_max(const uint8_t* a, const uint8_t* b, const uint8_t* table, size_t n, uint8_t* out)

cdef extern from *:
    """
    #include <new>

    static envpool::atari::Rom *new_rom(const void *bytes, size_t size) {
      return new (std::nothrow) envpool::atari::Rom(bytes, size);
    }

    static envpool::atari::Emulator *new_emulator(const envpool::atari::Machine &machine) {
      return new (std::nothrow) envpool::atari::Emulator(machine);
    }

    static envpool::atari::Resizer *new_resizer(int from_height, int from_width, int height, int width, bool area) {
      try {
        return new envpool::atari::Resizer(from_height, from_width, height, width, area);
      } catch (const std::bad_alloc &) {
        return nullptr;
      }
    }
    """
    Rom* new_rom(const void* data, size_t size) noexcept nogil
    Emulator* new_emulator(const Machine& machine) noexcept nogil
    Resizer* new_resizer(int from_height, int from_width, int height, int width, bint area) noexcept nogil
