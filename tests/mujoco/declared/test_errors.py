"""Malformed declarations: each error names the term and the XML element, and lists what exists."""

import math
import pickle
import re
from dataclasses import replace

import pytest

import envpool
from envpool.errors import ConfigError
from envpool.mujoco import declared as d
from envpool.tasks.entries import TaskEntry
from envpool.tasks.resolve import resolve_entry
from tests.mujoco.declared.models import ARM

NO_MOTORS = re.sub("<actuator>.*</actuator>", "", ARM, flags=re.DOTALL)
TIP = d.SitePosition("tip")
OBS = {"observation": [d.Qpos()]}
ENTRY = TaskEntry(
    "arm", "envpool.mujoco.declared.task", "Declared", None, None, None, {"frame_skip": 1, "declaration": None}
)


def nested(depth):
    """Return an expression that contains another one, and so on."""
    expression = d.Qpos()
    for _ in range(depth - 1):
        expression = d.Abs(expression)
    return expression


def doubled(times):
    """Return an expression of few objects whose text has 2 ** times parts."""
    expression = d.Qpos()
    for _ in range(times):
        expression = expression + expression
    return expression


#: Arguments, and what the ConfigError says.
MALFORMED = {
    "joint": (
        {"observation": [d.Qpos("sholder")]},
        ["observation 'observation_0'", '<joint name="sholder">', "'shoulder', 'elbow'", "did you mean 'shoulder'?"],
    ),
    "body": (
        OBS | {"reward": [d.velocity("torso")]},
        ["reward 'forward'", '<body name="torso">', "'world', 'upper', 'lower', 'target'"],
    ),
    "site": (
        OBS | {"reward": [d.distance_cost(d.SitePosition("hand"), TIP)]},
        ["cost 'distance'", '<site name="hand">', "it has 'tip'"],
    ),
    "sensor": (
        {"observation": {"a": [d.Observe(d.Sensor("gyro"), name="spin")]}},
        ["observation 'spin'", '<sensor name="gyro">', "it has 'tip_velocity'"],
    ),
    "geom": (
        OBS | {"termination": [d.contact("flor", "lower_link")]},
        ["termination 'contact'", '<geom name="flor">', "'floor', 'upper_link'", "did you mean 'floor'?"],
    ),
    "tendon": ({"observation": [d.TendonLength("cable")]}, ['<tendon name="cable">', "it has none"]),
    "no tendons": ({"observation": [d.TendonLength()]}, ["observation 'observation_0'", "has nothing of this kind"]),
    "keyframe": (
        OBS | {"reset": [d.Keyframe("home")]},
        ["reset[0] (Keyframe)", '<key name="home">', "'bent', 'straight'"],
    ),
    "actuator": (
        OBS | {"action": d.Actuators("wrist")},
        ["action", '<actuator name="wrist">', "'shoulder_motor', 'elbow_motor'"],
    ),
    "actuator twice": (
        OBS | {"action": d.Actuators((0, 0))},
        ["action", "`of` must name an actuator only once, got (0, 0)"],
    ),
    "range of a control": (
        OBS | {"action": d.Actuators(normalized=True)},
        ['<actuator name="elbow_motor"> has no ctrlrange'],
    ),
    "joint without a range": (
        OBS | {"termination": [d.joint_range("elbow")]},
        ["termination 'joint_range'", '<joint name="elbow"> is not a slide or hinge joint with a range'],
    ),
    "body that is not a mocap body": (
        OBS | {"reset": [d.Assign(d.MocapPosition("upper"), 0.0)]},
        ["reset[0] (Assign)", '<body name="upper"> has no row in mocap_pos', 'mocap="true"'],
    ),
    "column": (
        {"observation": [d.BodyPosition("upper", "height")]},
        ["a column of xpos must be 'x', 'y', 'z' or 0 to 2, got 'height'"],
    ),
    "row": ({"observation": [d.Qpos(2)]}, ["a row of qpos must be between 0 and 1, got 2"]),
    "index": ({"observation": [d.Qvel()[5]]}, ["the index of Qvel(of=None) must be between -2 and 1, got 5"]),
    "empty slice": (
        {"observation": [d.Qvel()[2:]]},
        ["Qvel(of=None)[2:] must not be empty, but Qvel(of=None) has 2 numbers"],
    ),
    "sizes": ({"observation": [TIP - d.Qpos()]}, ["the operands of '-' must have equally many numbers, got 3 and 2"]),
    "vector reward": (
        OBS | {"reward": [d.Reward(d.Qvel(), name="speed")]},
        ["reward 'speed'", "Qvel(of=None) must be one number, got 2 numbers: use Sum"],
    ),
    "interval": (
        OBS | {"termination": [d.Terminate(d.Qpos(), 1, -1)]},
        ["'termination_0'", "low must not be greater than high, got low=1 and high=-1"],
    ),
    "nan": (OBS | {"reward": [d.control_cost(math.nan)]}, ["cost 'control'", "weight must not be NaN"]),
    "no number": (OBS | {"reward": [d.control_cost("a")]}, ["cost 'control'", "weight must be a number, got 'a'"]),
    "nan in a constant": ({"observation": [d.Constant([1, math.nan])]}, ["a constant must not contain NaN, got (1.0"]),
    "no constant": ({"observation": [d.Constant([])]}, ["a constant must have at least one number"]),
    "id": (OBS | {"action": d.Actuators(2)}, ["action: the id of actuator must be between 0 and 1, got 2"]),
    "id of none": ({"observation": [d.TendonLength(0)]}, ["a row of ten_length is 0, but the XML text", "has none"]),
    "no name": (OBS | {"action": d.Actuators(1.5)}, ["action: actuator must be a name or an id, got 1.5"]),
    "sigmoid": (
        OBS | {"reward": [d.tolerance(TIP[2], margin=1, sigmoid="cosh")]},
        ["sigmoid must be one of 'gaussian', ", "got 'cosh'"],
    ),
    "value at the margin": (
        OBS | {"reward": [d.tolerance(TIP[2], margin=1, value_at_margin=0)]},
        ["reward 'tolerance'", "value_at_margin must be more than 0 and less than 1, got 0.0"],
    ),
    "alive": (OBS | {"termination": [d.Terminate(d.Alive(), 1)]}, ["Alive() cannot be used in a termination"]),
    "goal without a reset": ({"observation": [d.Goal("place", 3)]}, ["Goal('place') is never set"]),
    "goal of two sizes": (
        OBS | {"reset": [d.Assign(d.Goal("a"), 0), d.Assign(d.Goal("a", 2), 0)]},
        ["reset[1] (Assign)", "the size of goal 'a' must be the same in all terms, got 2 and None"],
    ),
    "target of a reset": (
        OBS | {"reset": [d.UniformNoise(TIP, 0.1)]},
        ["the target must be Qpos, ", "got SitePosition"],
    ),
    "numbers of a reset": (
        OBS | {"reset": [d.Uniform(d.Qpos(), (0, 0, 0), 1)]},
        ["reset[0] (Uniform)", "low must be one number, or 2 like the target, got 3 numbers"],
    ),
    "bounds of a reset": (
        OBS | {"reset": [d.Uniform(d.Qpos(), 1, 0)]},
        ["low must not be greater than high, got low=1.0 and high=0.0"],
    ),
    "disc": (OBS | {"reset": [d.Disc(d.Qpos(0), 1)]}, ["the target of Disc must have 2 numbers, got 1"]),
    "negative noise": (
        OBS | {"reset": [d.NormalNoise(d.Qvel(), -1)]},
        ["reset[0] (NormalNoise)", "std must be between 0 and 1e100, got -1.0"],
    ),
    "steps": (
        OBS | {"reset": [d.Settle(0)]},
        ["reset[0] (Settle)", "steps must be an integer between 1 and 100000, got 0"],
    ),
    "randomizer": (OBS | {"reset": [d.RandomJoints()]}, ["reset[0] (RandomJoints)", "use JointRanges"]),
    "names": (OBS | {"reward": [d.alive(), d.alive()]}, ["the names of terms must differ, got 'alive' twice"]),
    "name": (OBS | {"reward": [d.alive(name="a b")]}, ["a name of term must be a Python identifier, got 'a b'"]),
    "no observation": ({"observation": []}, ["observation must have at least one term", "got none"]),
    "no arrays": ({"observation": {}}, ["observation must have 1 to 64 arrays, got 0"]),
    "many arrays": (
        {"observation": {f"a{k}": [d.Qpos()] for k in range(65)}},
        ["observation must have 1 to 64 arrays, got 65"],
    ),
    "many infos": (OBS | {"info": {f"a{k}": d.Time() for k in range(64)}}, ["must have at most 64 arrays, got 65"]),
    "name of an info": (
        OBS | {"info": {"env_id": d.Time()}},
        ["a name of info must not be 'env_id', which is reserved"],
    ),
    "initial state": (OBS | {"info": {"qpos0": d.Time()}}, ["a name of info must not be 'qpos0', which is reserved"]),
    "array without a name": (
        {"observation": {"": [d.Qpos()]}},
        ["a name of observation must be a Python identifier, got ''"],
    ),
    "nesting": ({"observation": [nested(201)]}, ["observation has an expression that is nested more than 200 deep"]),
    "repetition": (OBS | {"reward": [d.Sum(doubled(60))]}, ["reward has more than 20000 expressions"]),
    "size of a goal": (
        {"observation": [d.Goal("a", [1])]},
        ["the size of goal 'a' must be None or an integer of at least 1, got (1,)"],
    ),
    "joint of a joint": ({"observation": [d.Qpos((["a"],))]}, ["joint must be a name or an id, got ('a',)"]),
    "infinite value": (OBS | {"reset": [d.Assign(d.Qpos(), math.inf)]}, ["value must be between -1e100 and 1e100"]),
    "row False": ({"observation": [d.Qpos(0), d.Qpos(False)]}, ["joint must be a name or an id, got False"]),
    "skip of a name": (
        {"observation": [d.BodyPosition("upper", skip=1)]},
        ["skip must be 0 where `of` names objects, got skip=1 and of='upper'"],
    ),
    "base class": ({"observation": [d.Expression()]}, ["must be an expression of the catalogue"]),
    "base class of resets": (OBS | {"reset": [d.Reset()]}, ["must be one of the resets of the catalogue"]),
    "many terms": (
        OBS | {"reward": [d.alive(name=f"a{k}") for k in range(70)], "terms": True},
        ["observation, info and terms must have at most 64 arrays together, got 71: terms=True adds one for each"],
    ),
    "range without end": (
        OBS | {"xml": ARM.replace('"-2 4"', '"-1 inf"'), "action": d.Actuators(0, normalized=True)},
        ['the ctrlrange of <actuator name="shoulder_motor"> is -1.0 inf'],
    ),
    "range without width": (
        OBS | {"xml": ARM.replace('"-2 4"', '"-1e308 1e308"'), "action": d.Actuators(0, normalized=True)},
        ["normalized=True needs finite ranges of finite widths"],
    ),
    "nan in a range": (
        OBS | {"xml": ARM.replace('"-2 4"', '"nan 1"')},
        ['the ctrlrange of <actuator name="shoulder_motor"> must not contain NaN, got nan 1.0'],
    ),
    "no timestep": (
        OBS | {"xml": ARM.replace('timestep="0.01"', 'timestep="0"')},
        ["the timestep of the XML text", "must be finite and greater than 0, got 0.0"],
    ),
    "nan in the model": (
        OBS | {"xml": ARM.replace("<option", '<option gravity="nan 0 0"')},
        ["gravity of the XML text", "must be finite, got [nan, 0.0, 0.0]"],
    ),
    "empty xml": (OBS | {"xml": ""}, ["xml must be the path of a file, or an XML text that begins with '<', got ''"]),
    "long xml": (OBS | {"xml": "a" * 10_000}, ["xml must be the path of a file", "... (10002 characters)"]),
    "surrogate": (OBS | {"xml": "<mujoco>\udc80</mujoco>"}, ["xml must be encodable as UTF-8, got '<mujoco>"]),
    "surrogate in an asset": (
        OBS | {"assets": {"\udc80": b""}},
        ["a name of assets must be encodable as UTF-8, got '\\udc80'"],
    ),
    "no joints": ({"observation": [d.JointMargin(())]}, ["`of` must be None or name a joint, got ()"]),
    "joints to draw": (OBS | {"reset": [d.JointRanges(())]}, ["`of` must be None or name a joint, got ()"]),
    "no geoms": (
        OBS | {"termination": [d.contact(())]},
        ["`of` and `other` must be None or name a geom or a body, got ()"],
    ),
    "no objects": ({"observation": [d.Qvel(())]}, ["`of` must be None or name at least one object or row, got ()"]),
    "assets of a file": (OBS | {"xml": "arm.xml", "assets": {"a": b""}}, ["assets are only available for an XML text"]),
    "no controls": (OBS | {"action": d.Actuators(())}, ["action: `of` must be None or name an actuator, got ()"]),
    "stack": (
        {"observation": [d.Goal("a", 300_000)], "reset": [d.Assign(d.Goal("a", 300_000), 0)], "frame_stack": 10_000},
        ["got 300000 times", "frame_stack=10000", "at most 2147483647"],
    ),
    "end of a text": (OBS | {"xml": ARM + "\0"}, ["xml must not contain a NUL character"]),
    "many numbers": (OBS | {"reset": [d.Assign(d.Goal("a", 10**9), 0)]}, ["more than 1000000 numbers"]),
    "no actuators": (OBS | {"xml": NO_MOTORS}, ["has no actuators"]),
    "conventions": (OBS | {"conventions": "mujoco"}, ["conventions must be one of 'gymnasium', 'dm_control'"]),
    "model": (OBS | {"xml": "<mujoco><bod/></mujoco>"}, ["MuJoCo cannot load the XML text", "bod"]),
    "home": (
        OBS | {"xml": "~nouser/x.xml"},
        ["got '~nouser/x.xml', but ~nouser is unknown", "or ./~nouser/x.xml"],
    ),
    "file": (OBS | {"xml": "no/such.xml"}, ["MuJoCo cannot load xml 'no/such.xml'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(case):
    arguments, parts = MALFORMED[case]
    with pytest.raises(ConfigError) as caught:
        envpool.make_mujoco(**{"xml": ARM} | arguments)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"observation": "qpos"}, "observation must be a list of terms, got 'qpos'"),
        ({"observation": [1.0]}, r"observation\[0\] must be of type Observe or Expression, got 1.0"),
        (OBS | {"reward": [d.height("upper")]}, r"reward\[0\] must be of type Reward or Cost or Expression"),
        (OBS | {"termination": [d.Qpos()]}, r"termination\[0\] must be of type Terminate"),
        (OBS | {"reset": [d.Qpos()]}, r"reset\[0\] must be of type Reset"),
        (OBS | {"action": "shoulder_motor"}, "action must be Actuators"),
        (OBS | {"info": [d.Time()]}, "info must be a mapping of names to expressions, got"),
        (OBS | {"info": {"time": "t"}}, r"info\['time'\] must be an expression or numbers, got 't'"),
        (OBS | {"assets": [b""]}, r"assets must be a mapping of names to bytes, got \[b''\]"),
        (OBS | {"assets": {"a.png": 10**12}}, "assets must be a mapping of names to bytes, got 10+ for 'a.png'"),
        (OBS | {"terms": "False"}, "terms must be of type bool, got 'False'"),
        (OBS | {"num_env": 3}, "num_envs"),
        (OBS | {"declaration": 3}, "no option 'declaration'"),
    ],
)
def test_wrong_types(arguments, text):
    with pytest.raises(TypeError, match=text):
        envpool.make_mujoco(ARM, **arguments)


def test_a_sensor_without_numbers():
    """Only mocap bodies have the hint about mocap bodies."""
    with pytest.raises(ConfigError, match=r'<sensor name="u"> has no row in sensordata$'):
        envpool.make_mujoco(ARM.replace("<sensor>", '<sensor><user name="u" dim="0"/>'), [d.Sensor("u")])


@pytest.mark.parametrize("xml", [None, ARM.encode()])
def test_models_of_wrong_types(xml):
    with pytest.raises(TypeError, match="xml must be a path or an XML text, got"):
        envpool.make_mujoco(xml, [d.Qpos()])


@pytest.mark.parametrize("count", [0, 2000])
def test_replaced_arrays_of_an_observation(count):
    """More arrays than an env definition has room for are refused, also where an unpickled declaration has them."""
    arrays = tuple((f"a{k}", (d.Observe(d.Time()),)) for k in range(count))
    declaration = d.declare(ARM, [d.Qpos()])
    with pytest.raises(ConfigError, match=f"observation must have 1 to 64 arrays, got {count}"):
        replace(declaration, observation=arrays)
    if count:
        object.__setattr__(declaration, "observation", arrays)
        with pytest.raises(ConfigError, match=f"an observation must have at most 64 arrays, got {count}"):
            resolve_entry(ENTRY, "gymnasium", {"declaration": declaration})


def test_an_option_that_is_no_declaration():
    with pytest.raises(ConfigError, match=r"declaration must be the result of .*declared\.declare, got 'arm.xml'"):
        resolve_entry(ENTRY, "gymnasium", {"declaration": "arm.xml"})


def test_expressions_of_the_largest_size():
    with envpool.make_mujoco(ARM, [nested(200), doubled(12)]) as env:
        assert pickle.loads(pickle.dumps(env)).reset()[0].shape == (1, 4)


@pytest.mark.parametrize(
    "build",
    [
        lambda: d.Constant("a"),
        lambda: d.Constant([[1, 2]]),
        lambda: d.Qpos() + "a",
        lambda: d.Qpos() * 10**400,
        lambda: d.Cos(True),
        lambda: d.Qpos()["x"],
        lambda: d.Qpos()[::2],
        lambda: d.Qpos()[0.0:1],
        lambda: d.Qpos()["a":],
        lambda: d.orientation("upper", "1"),
        lambda: d.Terminate(d.Qpos(), closed="no"),
        lambda: d.Actuators(normalized="no"),
        lambda: d.BodyVelocity("upper", local="no"),
        lambda: d.BatchFunction(dict, 3),
        lambda: d.BatchFunction(dict, ["ab"]),
    ],
)
def test_expressions_of_wrong_types(build):
    with pytest.raises(TypeError, match="must be"):
        build()


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: d.orientation("upper", 45), "max_tilt must be between 0 and pi rad, got 45"),
        (lambda: d.orientation("upper", math.inf), "max_tilt must be between 0 and pi rad, got inf"),
        (lambda: d.contact_cost(1, 5), "force_range must be a pair of numbers"),
        (lambda: d.contact_cost(1, (0, 1, 2)), r"force_range must be a pair of numbers .*, got \(0, 1, 2\)"),
        (
            lambda: d.BatchFunction(dict, [("a", d.Qpos()), ("a", 1.0)]),
            "the names of inputs must differ, got 'a' twice",
        ),
    ],
)
def test_values_that_are_refused(build, text):
    with pytest.raises(ConfigError, match=text):
        build()


def test_assets_may_have_the_name_of_a_model():
    xml = '<mujoco><include file="model.xml"/></mujoco>'
    inner = ARM.replace('<mujoco model="arm">', "<mujocoinclude>").replace("</mujoco>", "</mujocoinclude>")
    with envpool.make_mujoco("\ufeff" + xml, [d.Qpos()], assets={"model.xml": inner.encode()}) as env:
        assert env.reset()[0].shape == (1, 2)


def test_an_expression_is_not_iterable():
    with pytest.raises(TypeError, match="not iterable"):
        list(d.Qpos())
