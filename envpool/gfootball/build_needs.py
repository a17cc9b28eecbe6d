"""The sources of the football extension: the engine of gfootball, from the pinned sdist.

Upstream's engine draws with OpenGL and SDL, and needs the libraries of Boost. Here it is compiled without its drawing
code; `engine/stubs` has the few names that remain, and the parts of Boost that the game uses.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

from native_build import Build, fetch_sdist, lock_for, merged, static_library
from setuptools import Extension

VERSION = "2.10.2"
SHA256 = "1b0fdcfa78b7fadc3730585ee7f0f412ba825c27e422b2b85ea0cf7ba57800b6"
HERE = Path("envpool/gfootball")  # setup.py runs in the root of the tree

#: Flags of the engine in the release profile. Upstream's are -O3 without others that change results. Its integers
#: overflow: 1800 times the step of the second half, for example.
FLAGS = ["-std=c++17", "-g0", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-w"]

#: Folders and files of upstream that are left out: drawing, the menu, and what engine/ replaces.
LEFT_OUT = (
    "systems/graphics",
    "menu",
    "utils/gui2",
    "cmake",
    "base/log.cpp",
    "base/sdl_surface.cpp",
    "blunted.cpp",
    "loaders/imageloader.cpp",
    "main.cpp",
    "misc/empty.cpp",
    "misc/perlin.cpp",
    "onthepitch/proceduralpitch.cpp",
    "scene/objects/image2d.cpp",
    "scene/resources/surface.cpp",
    "utils/orbitcamera.cpp",
    "utils/splitgeometry.cpp",
)

#: Headers of upstream and of libraries that only include another one, mostly one of ours.
REPLACED = {
    "std.h": [
        "boost/algorithm/string.hpp",
        "boost/bind.hpp",
        "boost/circular_buffer.hpp",
        "boost/detail/atomic_count.hpp",
        "boost/filesystem.hpp",
        "boost/intrusive_ptr.hpp",
        "boost/random.hpp",
        "boost/shared_ptr.hpp",
        "boost/signals2.hpp",
        "boost/signals2/slot.hpp",
        "boost/thread/condition.hpp",
        "boost/weak_ptr.hpp",
        "assert.h",
        "cassert",
    ],
    "sdl.h": ["wrap_SDL.h", "wrap_SDL_ttf.h", "base/sdl_surface.hpp"],
    "files.h": ["file.h", "backtrace.h"],
    "image.h": ["loaders/imageloader.hpp", "scene/objects/image2d.hpp"],
    "surface.h": ["scene/resources/surface.hpp"],
    "gui.h": [
        "menu/menutask.hpp",
        "menu/pagefactory.hpp",
        "menu/ingame/radar.hpp",
        "menu/ingame/scoreboard.hpp",
        "menu/startmatch/loadingmatch.hpp",
        "utils/gui2/widgets/caption.hpp",
    ],
    "graphics.h": [
        "systems/graphics/graphics_scene.hpp",
        "systems/graphics/graphics_system.hpp",
        "systems/graphics/objects/graphics_geometry.hpp",
        "systems/graphics/resources/texture.hpp",
    ],
    "base/geometry/trianglemeshutils.hpp": ["onthepitch/proceduralpitch.hpp", "utils/splitgeometry.hpp"],
}

#: Constants that two files define differently.
CONSTANTS = "bodyRotationSmoothingFactor|bodyRotationSmoothingMaxAngle|initialReQueueDelayFrames"

HUMANOID = "onthepitch/player/humanoid/humanoidbase.cpp"
CHEATS = "onthepitch/player/humanoid/humanoid.cpp"
EXTENSION = "AnimationExtension* Extension() { return extensions.begin()->second.get(); }\n"
IMAGES = r"""\g<0>
  if (state->Load()) for (auto& image : mentalImages) image.ballPredictions_mirrored = ball_mirror;"""
#: References in a saved state that are never null: file, member.
REFERENCES = (
    ("gamedefines.hpp", "player"),
    ("onthepitch/humangamer.cpp", "hid"),
    ("onthepitch/humangamer.cpp", "team"),
    ("onthepitch/match.cpp", "designatedPossessionPlayer"),
    ("onthepitch/player/controller/playercontroller.cpp", "oppTeam"),
    ("onthepitch/player/controller/playercontroller.cpp", "team"),
    ("onthepitch/player/humanoid/humanoidbase.hpp", "anim"),
    ("onthepitch/team.cpp", "designatedTeamPossessionPlayer"),
    ("onthepitch/teamAIcontroller.hpp", "player"),
    ("onthepitch/referee.cpp", "setpiece_team"),
    ("onthepitch/referee.cpp", "i"),
)

#: Enumerations of a saved state, by file.
ENUMERATIONS = {
    "ai/ai_keyboard.hpp": ["e_ButtonFunction"],
    "defines.hpp": ["e_GameMode", "e_PlayerColor", "e_PlayerRole"],
    "gamedefines.hpp": ["e_FunctionType", "e_MatchPhase", "e_StrictMovement", "e_TouchType", "e_Velocity"],
    "main.hpp": ["GameState"],
    "onthepitch/player/humanoid/humanoidbase.hpp": ["e_InterruptAnim"],
    "types/spatial.hpp": ["e_LocalMode"],
    "utils/animation.hpp": ["BodyPart", "e_DefString", "e_Foot"],
}

FRAME = r"\g<0> football::check_frame(\1);"
CHECK = r"\g<0>  if (state->Load()) football::check_match(*this);\n"
PREDICTIONS = r"\g<0> assert(size == int(ballPredictionSize_ms / 10));"
PLAYERS = r"""  for (size_t i = player_count; i < playerData.size(); i++) delete playerData[i];
\g<0>"""
ROLES = "onthepitch/teamAIcontroller.cpp"
MESHES = "  boost::intrusive_ptr < Resource<GeometryData> > fullbodyGeometryData ="

COUNT = """
  void check(int size) { if (load) football::check_count(size, state.size() - pos); }
  void count(int& size) { process(size); check(size); }
"""
FOUL = "assert(foulType == 0 || (foulPlayer && foulVictim)); assert(!advantage || foulVictim);"
SWITCH = """
  assert(switchPriority.size() == humanGamers.size());
  for (int gamer : switchPriority) assert(gamer >= 0 && gamer < int(humanGamers.size()));"""
LAST = "assert(lastTouchTeamID >= -1 && lastTouchTeamID <= 1);"
TEAMS = """
  if (first_team < 0 || first_team > 1 || second_team != 1 - first_team) {
    first_team = 0;
    second_team = 1;
    football::fail("the teams of the saved state are damaged");
  }
  if (state->Load()) mentalImages.clear();  // after a damaged state, some lack their players"""

#: Changes of upstream's text: file, pattern, replacement.
CHANGES = (
    # All files are compiled as one.
    (HUMANOID, rf"\b({CONSTANTS})\b", r"base_\1"),
    ("base/properties.cpp", r"using namespace std;", "using std::string;"),
    # This file includes neither math.h nor stdlib.h, as those that call functions of single precision do.
    ("base/math/quaternion.cpp", r"\babs\(1\.0 - qmagsq\)", "abs(int(1.0 - qmagsq))"),
    # The output, the signal handlers and the environment variables of the process belong to its user.
    ("game_env.cpp", r"  install_stacktrace\(\);\n  std::cout.precision\(17\);\n", ""),
    ("game_env.cpp", r"  std::cout << std::unitbuf;\n", ""),
    ("game_env.cpp", r'getenv\("GFOOTBALL_DATA_DIR"\)', "nullptr"),
    ("game_env.cpp", r'getenv\("GFOOTBALL_FONT"\)', "nullptr"),
    # A saved state may be forged: what it has is checked before it is used as a length or as an index.
    ("defines.hpp", r" +memcpy\(&obj, &state\[pos\], sizeof\(T\)\);", r"football::check_loaded<T>(&state[pos]);\g<0>"),
    ("defines.hpp", r" +collection\.resize\(size\);", r"check(size);\g<0>"),
    ("defines.hpp", r" +bool Load\(\)", COUNT + r"\g<0>"),
    ("defines.cpp", r" +value\.resize\(s\);", r"check(s);\g<0>"),
    ("defines.cpp", r"if \(index >= size\)", "if (index < -1 || index >= size)"),
    ("onthepitch/match.cpp", r" +state->process\(second_team\);", rf"\g<0>{TEAMS}"),
    ("onthepitch/match.cpp", r" +state->process\(lastTouchTeamID\);", rf"\g<0> {LAST}"),
    ("onthepitch/referee.cpp", r" +state->process\(advantage\);", rf"\g<0> {FOUL}"),
    ("onthepitch/team.cpp", r" +humanGamers\.resize\(size\);", r"  assert(size == int(humanGamers.size()));"),
    (
        "onthepitch/match.cpp",
        r"    state->process\(v\);\n(?=  \}\n  if \(first_team)",
        r"\g<0>    assert(v >= -1 && v <= 1);\n",
    ),
    ("onthepitch/match.cpp", r"  resetNetting = true;\n  nettingHasChanged = true;\n(?=  Mirror)", CHECK),
    (
        "onthepitch/match.cpp",
        r"if \(index < 0\) index = 0;",
        "if (index < 0) { assert(!mentalImages.empty()); index = 0; }",
    ),
    ("onthepitch/AIsupport/mentalimage.cpp", r" +ballPredictions\.resize\(size\);", PREDICTIONS),
    ("onthepitch/referee.cpp", r" +state->process\(teamID\);", r"\g<0> assert(teamID == 0 || teamID == 1);"),
    ("onthepitch/referee.cpp", r"buffer\.taker->TouchAnim", "football::there(buffer.taker)->TouchAnim"),
    ("onthepitch/referee.cpp", r"match->GetLastGoalTeam\(\)->", "football::there(match->GetLastGoalTeam())->"),
    ("onthepitch/match.cpp", r"\bGetLastGoalTeam\(\)->", "football::there(GetLastGoalTeam())->"),
    ("onthepitch/team.cpp", r"!selectedPlayer->Has", "!football::there(selectedPlayer)->Has"),
    ("onthepitch/team.cpp", r" +state->process\(switchPriority\);", rf"\g<0>{SWITCH}"),
    ("onthepitch/teamAIcontroller.cpp", r"(?= +int intCost = )", "assert(cost < 1e6f);\n"),
    ("onthepitch/player/humanoid/humanoidbase.hpp", r" +state->process\((frameNum|touchFrame)\);", FRAME),
    (HUMANOID, r" +state->process\((previousAnim_frameNum)\);", FRAME),
    ("base/math/bluntmath.cpp", r"while \(newValue [<>] (?:min|max)\) ", r"\g<0>football::check_angle(newValue), "),
    *((file, rf" +state->process\({name}\);", rf"\g<0> assert({name});") for file, name in REFERENCES),
    # Mental images that a state adds are those of a game at rest; upstream mirrors them wrongly if teams are reversed.
    ("onthepitch/match.cpp", r" +mentalImages\.resize\(size\);", IMAGES),
    ("utils/animation.hpp", r" +state->process\(nodeName\);", r"\g<0> assert(nodeName < body_part_max);"),
    # Without its goalkeeper in the first place, a team would be searched forever.
    (ROLES, r"(players\.erase\(iter\);\n      break;\n    \})(\n  \}\n\n  unsigned)", r"\1 ++iter;\2"),
    # Small teams would lose memory in each episode.
    ("data/teamdata.cpp", r"  playerData\.resize\(player_count\);", PLAYERS),
    # All games share the animations, which do not change after they have been loaded.
    (
        "main.hpp",
        r"  long tracker_pos = 0;",
        r"\g<0>\n  std::vector<float> order;  // what order_float of an animation was",
    ),
    (HUMANOID, r"anims->GetAnim\((\w+)\)->order_float", r"GetContext().order[\1]"),
    (
        "onthepitch/match.cpp",
        r"  if \(!anims\) \{\n(?s:.*?)(?=  // full body model)",
        "  football::load_animations();\n",
    ),
    ("onthepitch/match.cpp", r"GetContext\(\)\.animPositionCache.*second", "football::positions_of(anim)"),
    ("utils/animation.hpp", r" +void AddExtension\(", EXTENSION + r"\g<0>"),
    (CHEATS, r"boost::shared_ptr<FootballAnimationExtension> footballExtension", "auto* footballExtension"),
    (
        CHEATS,
        r"boost::static_pointer_cast<(Foot\w+)>\((\S+)->GetExtension\(\S+\)\)",
        r"static_cast<\1*>(\2->Extension())",
    ),
    # The bodies of players, the netting of the goals, the stadium and the grass are only drawn.
    (HUMANOID, r"  boost::intrusive_ptr < Resource<Surface> > skin;(?s:.*?)  SetKit\(kit\);\n", ""),
    (HUMANOID, r"  // hairstyle\n(?s:.*?)  hairStyle->OnUpdateGeometryData\(\);\n", ""),
    (HUMANOID, r"  fullbodyTargetNode->DeleteNode\(fullbodyNode\);\n.*\n", ""),
    (HUMANOID, rf"{MESHES}(?s:.*?)  // subgeom\n.*\n.*\n", ""),
    (HUMANOID, r"  UpdateFullbodyModel\(true\);\n.*\n", ""),
    (HUMANOID, r"(?m)^(void HumanoidBase::UpdateFullbody(?:Nodes|Model)\(.*) \{(?s:.*?)^}\n", r"\1 {}\n"),
    (HUMANOID, r"(?m)^void HumanoidBase::SetKit(?s:.*?)^}\n", ""),
    (HUMANOID.replace(".cpp", ".hpp"), r"void Hide\(\) \{.*\}", "void Hide() {}"),
    ("onthepitch/match.cpp", r"  if \(!GetContext\(\)\.fullbodyNode\) \{\n.*\n  \}\n", ""),
    ("onthepitch/match.cpp", r"  if \(!GetContext\(\)\.goalsNode\) \{\n(?s:.*?)  PrepareGoalNetting\(\);\n", ""),
    ("onthepitch/match.cpp", r"  // stadium\n  Node\* tmpStadiumNode;(?s:.*?)\n  // goal netting\n", ""),
    ("onthepitch/match.cpp", r"  if \(GetGameConfig\(\)\.render\) \{\n    GeneratePitch\(.*\);\n  \}\n", ""),
)

#: Files of upstream's data folder that games open when nothing is drawn, as globs.
DATA = (
    "media/animations/**/*.anim",
    "media/animations/base.anim.util",
    "media/animations/straight.anim.util",
    "media/objects/balls/generic.*",
    "media/objects/lighting/generic.object",
    "media/objects/officials/*card.ase",
    "media/objects/players/models/[!f]*.ase",
    "media/objects/players/models/foot.ase",
    "media/objects/players/player.object",
)

#: The data in the library, as bytes between two symbols.
DATA_SOURCE = """\
asm(R"(
.section .rodata
.global football_files, football_files_end
.hidden football_files, football_files_end
football_files:
.incbin "{path}"
football_files_end:
.byte 0
.previous
)");
"""


def configure(extension: Extension, build: Build) -> None:
    """Add the engine to the extension that calls it."""
    if extension.name.endswith(".library"):
        extension.extra_objects.append(str(engine_library(build)))
        extension.language = "c++"  # the language of the linker


def engine_library(build: Build) -> Path:
    """Return the static library of the engine with its data."""
    upstream = fetch_sdist(f"gfootball=={VERSION}", SHA256, "--no-build-isolation") / "third_party/gfootball_engine"
    folder = (build.folder / "gfootball_source").absolute()
    with lock_for(str(folder)):
        sources = copy_source(upstream / "src", folder)
        write(folder / "data.bin", packed(upstream / "data"))
        write(folder / "data.cpp", DATA_SOURCE.format(path=folder / "data.bin").encode())
    stubs = HERE / "engine/stubs"
    sources += [folder / "data.cpp", HERE / "engine/football.cpp"]
    if build.profile == "release":
        # One unit, in which functions of other files are inlined. With sanitizers, it would take gigabytes.
        sources = [merged(build.folder / "gfootball/engine.cpp", sources)]
    checked = [flag for flag in build.flags if flag.startswith(("-O", "-g", "-fsanitize"))]
    flags = [*FLAGS, *(["-O3", "-fwhole-program"] if build.profile == "release" else checked), "-include", "std.h"]
    headers = [*(HERE / "engine").rglob("*.h"), folder / "data.bin"]
    return static_library(build, "gfootball", sources, [stubs, folder / "replaced", folder], flags, headers)


def copy_source(upstream: Path, target: Path) -> list[Path]:
    """Copy upstream's sources without what is left out, with our changes and headers; return the C++ files."""
    sources = []
    for path in sorted(upstream.rglob("*.[ch]*")):
        name = str(path.relative_to(upstream))
        if not name.startswith(LEFT_OUT):
            write(target / name, changed(name, path.read_text()).encode())
            sources += [target / name] if path.suffix == ".cpp" else []
    for ours, names in REPLACED.items():
        for name in names:
            inside = "/" in name and not name.startswith("boost/")
            write((target if inside else target / "replaced") / name, f'#include "{ours}"\n'.encode())
    return sources


def changed(name: str, text: str) -> str:
    """Return the text of a file of upstream after our changes."""
    for enumeration in ENUMERATIONS.get(name, ()):
        text, count = re.subn(rf"\benum {enumeration} \{{([^}}]*)\}};", with_number, text)
        assert count == 1, enumeration
    text = re.sub(r"state->process\((size|s)\);", r"state->count(\1);", text)
    for file, pattern, replacement in CHANGES:
        if file == name:
            text, count = re.subn(pattern, replacement, text)
            assert count, (file, pattern)
    return text


def with_number(enumeration: re.Match[str]) -> str:
    """Return an enumeration and a function that returns how many values it has."""
    name = enumeration[0].split()[1]
    values = re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", enumeration[1]), re.MULTILINE)
    count = values[-1] + ("" if re.search("_(size|max)$", values[-1], re.IGNORECASE) else " + 1")
    return f"{enumeration[0]}\nconstexpr int enumerators({name}) {{ return {count}; }}"


def packed(folder: Path) -> bytes:
    """Return the files of the data folder one after the other, in the form that engine/football.cpp reads."""
    parts = []
    for path in sorted(path for glob in DATA for path in folder.glob(glob)):
        name, contents = str(path.relative_to(folder)), path.read_bytes()
        if "luxury" not in name:  # the engine ignores these animations
            parts.append(struct.pack("=II", len(name), len(contents)) + name.encode() + contents)
    return b"".join(parts)


def write(path: Path, contents: bytes) -> None:
    """Write a file unless it has these contents, and make its folder."""
    if not path.exists() or path.read_bytes() != contents:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)
