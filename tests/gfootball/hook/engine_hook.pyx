"""Games of the football engine, without environments around them. Their methods run without the GIL."""

from libc.stddef cimport size_t
from libc.stdint cimport uint8_t
from libc.string cimport memset

from envpool.gfootball cimport library as engine


cdef engine.football_data* DATA = engine.open_data()


class EngineError(Exception):
    """An error of the engine: its code and its text."""


def checked(int code):
    """Raise EngineError for the code of an error."""
    if code != engine.FOOTBALL_OK:
        raise EngineError(code, engine.last_error().decode())


cdef class Game:
    """A game of one controlled player on the left.

    Parameters
    ----------
    left, right : list of tuple
        Position and role of each player.
    ball : float
        Position of the ball on the axis of the field.
    """

    cdef engine.football_game* game
    cdef engine.football_scenario scenario

    def __cinit__(self, left, right, ball=0.0):
        self.game = engine.new_game(DATA)
        engine.default_scenario(&self.scenario)
        self.scenario.ball_x = ball
        for team, players in enumerate((left, right)):
            self.scenario.sizes[team] = len(players)
            for i, (x, y, role) in enumerate(players[:11]):
                self.scenario.teams[team][i] = engine.football_entry(x, y, role, False, True)

    def __dealloc__(self):
        engine.free_game(self.game)

    def change(self, **members):
        """Set members of the scenario."""
        for name, value in members.items():
            if name == "agents":
                self.scenario.agents[0] = value
            elif name == "difficulty":
                self.scenario.difficulty[1] = value
            elif name == "ball_x":
                self.scenario.ball_x = value
            elif name == "offsides":
                self.scenario.offsides = value
            elif name == "physics_steps_per_frame":
                self.scenario.physics_steps_per_frame = value

    def reset(self, seed):
        """Start an episode, as upstream's environment does, and return the bytes of what is known of it."""
        self.scenario.seed = seed
        self.scenario.reverse_team_processing = seed % 2
        cdef int code
        with nogil:
            code = engine.reset_game(self.game, &self.scenario)
        checked(code)
        return self.read()

    def read(self):
        """Return the bytes of what is known of the game; step it until it is in play."""
        cdef engine.football_info info
        memset(&info, 0, sizeof(info))
        checked(engine.read_info(self.game, &info))
        cdef int code
        while not info.is_in_play:
            with nogil:
                code = engine.advance(self.game)
            checked(code)
            checked(engine.read_info(self.game, &info))
        return (<uint8_t*>&info)[: sizeof(info)]

    def step(self, int action):
        """Play a step with an action of the engine, and return as `read`."""
        checked(engine.act(self.game, 0, 0, action))
        cdef int code
        with nogil:
            code = engine.advance(self.game)
        checked(code)
        return self.read()

    def save(self, bytes extra=b""):
        """Return the state of the game."""
        cdef size_t size = 0
        engine.save_game(self.game, <const char*>extra, len(extra), NULL, &size)
        state = bytearray(size)
        checked(engine.save_game(self.game, <const char*>extra, len(extra), <char*>state, &size))
        return bytes(state)

    def load(self, bytes state, int extra_size=0):
        """Restore a state, and return its extra bytes."""
        extra = bytearray(extra_size)
        checked(engine.load_game(self.game, <const char*>state, len(state), <char*>extra, extra_size))
        return bytes(extra)
