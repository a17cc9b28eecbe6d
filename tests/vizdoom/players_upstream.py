"""Games of several players by the library of the vizdoom package, a process for each player, recorded as digests.

    python -m tests.vizdoom.players_upstream

writes players.json. The library cannot say when an engine has sent the buttons of a tic to the others, and in other
orders the guests' tics come early or late by chance. Therefore it is recorded with a pause after each request, once,
rather than played beside the tests. Particles are not drawn: smoke drifts otherwise than in a pool.
"""

import hashlib
import json
import multiprocessing
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from envpool.vizdoom.upstream import planar
from envpool.vizdoom.wheel import package_folder

RECORDS = Path(__file__).parent / "players.json"
SEED, STEPS, FRAME_SKIP = 11, 60, 4
#: Task, its scenario, and the number of players.
GAMES = [("Cig-v1", "cig", 2), ("Cig-v1", "cig", 4), ("MultiDuel-v1", "multi_duel", 2)]
VARIABLES = ("HEALTH", "ARMOR", "AMMO2", "FRAGCOUNT", "POSITION_X", "POSITION_Y", "ANGLE", "PLAYER_NUMBER")
PAUSE = 0.02


def actions_of(players, buttons):
    """Return random actions, (STEPS, players, buttons)."""
    return np.random.default_rng(0).integers(0, 2, (STEPS, players, buttons)).astype(np.float64)


def digest(screen, reward, values):
    """Return the record of a player in a step: a digest of the planes of its screen, the reward, and variables."""
    text = hashlib.blake2b(np.ascontiguousarray(screen).tobytes(), digest_size=6).hexdigest()
    return [text, float(np.float32(reward)), *map(float, values)]


def play_one(connection, scenario, arguments):
    """Play one of the games in a process of its own: each message is an action, whether to update, or None."""
    import vizdoom

    os.chdir(tempfile.mkdtemp())
    game = vizdoom.DoomGame()
    game.load_config(str(package_folder() / "scenarios" / f"{scenario}.cfg"))
    game.set_render_particles(False)
    game.set_window_visible(False)
    game.set_audio_buffer_enabled(False)
    game.set_mode(vizdoom.Mode.PLAYER)
    game.set_doom_map("map01")
    game.set_episode_timeout(0)
    game.add_game_args(arguments)
    game.set_seed(SEED)
    game.init()
    reward = 0.0

    def record():
        values = [game.get_game_variable(getattr(vizdoom.GameVariable, name)) for name in VARIABLES]
        return digest(planar(game.get_state().screen_buffer), reward, values)

    connection.send((game.get_available_buttons_size(), record()))
    while (message := connection.recv()) is not None:
        action, is_first, is_last = message
        if is_first:
            reward = 0.0
            game.set_action(action)
        game.advance_action(1, is_last)
        reward += game.get_last_reward()
        connection.send(record() if is_last else None)
    game.close()


def play(scenario, players):
    """Return the records of a game: for each step, the first of which is the reset, one for each player."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        found.bind(("", 0))
        port = found.getsockname()[1]
    context = multiprocessing.get_context("spawn")
    connections, processes = [], []
    for p in range(players):
        where = f"-join 127.0.0.1:{port}" if p else f"-host {players} -port {port}"
        ours, theirs = context.Pipe()
        arguments = f"{where} -deathmatch"
        processes.append(context.Process(target=play_one, args=(theirs, scenario, arguments)))
        processes[-1].start()
        connections.append(ours)
        time.sleep(2)  # players are numbered in the order in which they join
    first = [connection.recv() for connection in connections]
    records = [[record for _, record in first]]
    for actions in actions_of(players, first[0][0]):
        for tic in range(FRAME_SKIP):
            for connection, action in zip(connections, actions, strict=True):
                connection.send((action.tolist(), tic == 0, tic == FRAME_SKIP - 1))
                time.sleep(PAUSE)
            row = [connection.recv() for connection in connections]
        records.append(row)
    for connection in connections:
        connection.send(None)
    for process in processes:
        process.join(10)
        process.kill()
    return records


if __name__ == "__main__":
    for task, scenario, players in GAMES:
        records = play(scenario, players)
        print(task, players, "the same twice:", records == play(scenario, players), file=sys.stderr)
        found = json.loads(RECORDS.read_text()) if RECORDS.exists() else {}
        RECORDS.write_text(json.dumps(found | {f"{task} {players}": records}) + "\n")
