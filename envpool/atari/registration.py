"""The task table of the Atari family."""

from envpool.tasks.entries import table

register = table(__name__)

_NAMES = """
    adventure air_raid alien amidar assault asterix asteroids atlantis atlantis2 backgammon bank_heist basic_math
    battle_zone beam_rider berzerk blackjack bowling boxing breakout carnival casino centipede chopper_command
    crazy_climber crossbow darkchambers defender demon_attack donkey_kong double_dunk earthworld elevator_action
    enduro entombed et fishing_derby flag_capture freeway frogger frostbite galaxian gopher gravitar hangman
    haunted_house hero human_cannonball ice_hockey jamesbond journey_escape kaboom kangaroo keystone_kapers
    king_kong klax koolaid krull kung_fu_master laser_gates lost_luggage mario_bros miniature_golf montezuma_revenge
    mr_do ms_pacman name_this_game othello pacman phoenix pitfall pitfall2 pong pooyan private_eye qbert riverraid
    road_runner robotank seaquest sir_lancelot skiing solaris space_invaders space_war star_gunner superman surround
    tennis tetris tic_tac_toe_3d time_pilot trondead turmoil tutankham up_n_down venture video_checkers video_chess
    video_cube video_pinball wizard_of_wor word_zapper yars_revenge zaxxon
"""

#: Names of the games, which are the names of their ROMs. The task id of ms_pacman is MsPacman-v5.
GAMES = tuple(_NAMES.split())
#: The same names, as EnvPool's module has them.
atari_game_list = list(GAMES)

for game in GAMES:
    register(
        "".join(part.capitalize() for part in game.split("_")) + "-v5",
        "envpool.atari.game",
        env="Atari",
        task=game,
        max_episode_steps=27000,
    )
