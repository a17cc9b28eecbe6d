"""Names of buttons, game variables, formats and modes in the order of their numbers in the vizdoom package."""

from __future__ import annotations

#: Names of buttons; those from LOOK_UP_DOWN_DELTA on take a number, the others are pressed or not.
BUTTONS = (
    *("ATTACK", "USE", "JUMP", "CROUCH", "TURN180", "ALTATTACK", "RELOAD", "ZOOM", "SPEED", "STRAFE"),
    *("MOVE_RIGHT", "MOVE_LEFT", "MOVE_BACKWARD", "MOVE_FORWARD", "TURN_RIGHT", "TURN_LEFT", "LOOK_UP", "LOOK_DOWN"),
    *("MOVE_UP", "MOVE_DOWN", "LAND"),
    *(f"SELECT_WEAPON{i}" for i in (1, 2, 3, 4, 5, 6, 7, 8, 9, 0)),
    *("SELECT_NEXT_WEAPON", "SELECT_PREV_WEAPON", "DROP_SELECTED_WEAPON", "ACTIVATE_SELECTED_ITEM"),
    *("SELECT_NEXT_ITEM", "SELECT_PREV_ITEM", "DROP_SELECTED_ITEM"),
    *("LOOK_UP_DOWN_DELTA", "TURN_LEFT_RIGHT_DELTA", "MOVE_FORWARD_BACKWARD_DELTA", "MOVE_LEFT_RIGHT_DELTA"),
    "MOVE_UP_DOWN_DELTA",
)
FIRST_DELTA_BUTTON = 38

#: Names of game variables.
VARIABLES = (
    *("KILLCOUNT", "ITEMCOUNT", "SECRETCOUNT", "FRAGCOUNT", "DEATHCOUNT", "HITCOUNT", "HITS_TAKEN", "DAMAGECOUNT"),
    *("DAMAGE_TAKEN", "HEALTH", "ARMOR", "DEAD", "ON_GROUND", "ATTACK_READY", "ALTATTACK_READY", "SELECTED_WEAPON"),
    "SELECTED_WEAPON_AMMO",
    *(f"AMMO{i}" for i in range(10)),
    *(f"WEAPON{i}" for i in range(10)),
    *("POSITION_X", "POSITION_Y", "POSITION_Z", "ANGLE", "PITCH", "ROLL", "VIEW_HEIGHT"),
    *("VELOCITY_X", "VELOCITY_Y", "VELOCITY_Z"),
    *("CAMERA_POSITION_X", "CAMERA_POSITION_Y", "CAMERA_POSITION_Z", "CAMERA_ANGLE", "CAMERA_PITCH", "CAMERA_ROLL"),
    *("CAMERA_FOV", "PLAYER_NUMBER", "PLAYER_COUNT"),
    *(f"PLAYER{i}_FRAGCOUNT" for i in range(1, 17)),
    *(f"USER{i}" for i in range(1, 61)),
)

#: Screen formats of a configuration file, and the planar format that stands for each of them here. Frames of
#: DOOM_256_COLORS8 are numbers of colours, whose palette the engine does not tell.
SCREEN_FORMATS = {
    **dict.fromkeys(("CRCGCB", "RGB24", "RGBA32", "ARGB32"), "CRCGCB"),
    **dict.fromkeys(("CBCGCR", "BGR24", "BGRA32", "ABGR32"), "CBCGCR"),
    "GRAY8": "GRAY8",
}
FORMAT_NUMBERS = {"CRCGCB": 0, "CBCGCR": 4, "GRAY8": 8}

AUTOMAP_MODES = ("NORMAL", "WHOLE", "OBJECTS", "OBJECTS_WITH_SIZE")

#: Screen resolutions, as "WIDTHXHEIGHT".
RESOLUTIONS = (
    *("160X120", "200X125", "200X150", "256X144", "256X160", "256X192", "320X180", "320X200", "320X240"),
    *("320X256", "400X225", "400X250", "400X300", "512X288", "512X320", "512X384", "640X360", "640X400"),
    *("640X480", "800X450", "800X500", "800X600", "1024X576", "1024X640", "1024X768", "1280X720", "1280X800"),
    *("1280X960", "1280X1024", "1400X787", "1400X875", "1400X1050", "1600X900", "1600X1000", "1600X1200", "1920X1080"),
)
