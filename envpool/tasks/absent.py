"""Tasks that EnvPool 1.2.5 has and this package does not have: the form of their ids, for the text of an error."""

from __future__ import annotations

import re

#: Patterns of the ids by EnvPool's family. Each matches the whole id.
PATTERNS = {
    "highway": (
        r"(highway|exit|intersection|lane-keeping|merge|parking|racetrack|roundabout|two-way|u-turn|highway-fast"
        r"|intersection-multi-agent|parking-ActionRepeat|parking-parked|racetrack-(large|oval)"
        r"|(Highway|HighwayFast|Exit|Intersection|IntersectionMultiAgent|LaneKeeping|Merge|Parking|ParkingActionRepeat"
        r"|ParkingParked|Racetrack|RacetrackLarge|RacetrackOval|Roundabout|TwoWay|UTurn))-v\d+"
    ),
    "jumanji": (
        r"Jumanji/.*|((BinPack|Connector)-v2|(CVRP|Game2048|GraphColoring|Knapsack|PacMan|Snake|TSP)-v1|(Cleaner|FlatPack"
        r"|JobShop|LevelBasedForaging|MMST|Maze|Minesweeper|MultiCVRP|RobotWarehouse|RubiksCube(-partly-scrambled)?"
        r"|SearchAndRescue|SlidingTilePuzzle|Sokoban|Sudoku(-very-easy)?|Tetris)-v0)"
    ),
    "minigrid": (r"MiniGrid-WFC-(MazeSimple|DungeonMazeScaled|RoomsFabric|Obstacles(Blackdots|Angular|Hogs3))-v0"),
    "mujoco.metaworld": r"MetaWorld/.*",
    "mujoco.myosuite": (
        r"MyoSuite/.*|(MyoHand[A-Z]\w+|motorFinger(Pose|Reach)\w+"
        r"|myo(Fati|Reaf|Sarc)?(Arm|Challenge|Elbow|Finger|Hand|Leg|Torso)\w+)-v[01]"
    ),
    "mujoco.playground": (
        r"MuJoCoPlayground/.*|(Aloha(HandOver|SinglePegInsertion)|ApolloJoystickFlatTerrain|BarkourJoystick"
        r"|(BerkeleyHumanoid|G1|Go1|T1)Joystick(Flat|Rough)Terrain|Go1(Getup|Handstand|Footstand)"
        r"|H1(Inplace|Joystick)GaitTracking|LeapCube(Reorient|RotateZAxis)|Op3Joystick"
        r"|Panda(PickCube(Cartesian|Orientation)?|OpenCabinet|RobotiqPushCube)|AeroCubeRotateZAxis"
        r"|Spot(FlatTerrainJoystick|Getup|JoystickGaitTracking))-v1"
    ),
    "pgx": (
        r"((Chinese)?Go(9x9|13x13|19x19)|TicTacToe|ConnectFour|Hex|Othello|KuhnPoker|LeducHoldem|Play2048|AnimalShogi"
        r"|Backgammon|Chess|GardnerChess|Shogi|SparrowMahjong)-v1"
    ),
}


def absent_family(task_id: str) -> str | None:
    """Return the family of an id in the form of a task that only EnvPool has, None for any other id."""
    return next((family for family, pattern in PATTERNS.items() if re.fullmatch(pattern, task_id)), None)
