"""emulator.h: one Atari 2600 with a game."""

from libc.stdint cimport uint8_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from "emulator.h" namespace "envpool::atari" nogil:
    const int RAM_SIZE "envpool::atari::kRamSize"
    const float MAX_STRENGTH "envpool::atari::kMaxStrength"

    cdef cppclass GameInfo:
        string md5
        vector[int] modes
        vector[int] difficulties
        vector[int] minimal_actions
        vector[int] legal_actions

    cpp_bool find_game(const string& name, GameInfo* out)

    cdef cppclass Rom:
        Rom(const void* data, size_t size) except +
        cpp_bool is_open()

    cdef struct Machine:
        const Rom* rom
        int mode
        int difficulty
        float repeat_action_probability

    cdef cppclass Emulator:
        Emulator(const Machine& machine) except +
        cpp_bool load(uint32_t seed)
        cpp_bool reset_game()
        int act(int action, cpp_bool draw)
        int act(int action, cpp_bool draw, float strength)
        int frames_of_reset()
        cpp_bool is_game_over()
        int lives()
        const uint8_t* screen()
        const uint8_t* ram()
        int height()
        int width()
        void palette(uint8_t* grey, uint8_t* red, uint8_t* green, uint8_t* blue)
