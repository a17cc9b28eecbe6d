"""Task table of dm_control's suite; ids are EnvPool's."""

from envpool.registration import register

#: Module of a domain, kind of env in it, domain as ids spell it, its tasks.
DOMAINS = [
    ("acrobot", "DmcAcrobot", "Acrobot", "swingup swingup_sparse"),
    ("ball_in_cup", "DmcBallInCup", "BallInCup", "catch"),
    ("cartpole", "DmcCartpole", "Cartpole", "balance balance_sparse swingup swingup_sparse three_poles two_poles"),
    ("cheetah", "DmcCheetah", "Cheetah", "run"),
    ("dog", "DmcDog", "Dog", "fetch run stand trot walk"),
    ("finger", "DmcFinger", "Finger", "spin turn_easy turn_hard"),
    ("fish", "DmcFish", "Fish", "swim upright"),
    ("hopper", "DmcHopper", "Hopper", "hop stand"),
    ("humanoid", "DmcHumanoid", "Humanoid", "run run_pure_state stand walk"),
    ("humanoid", "DmcHumanoidCMU", "HumanoidCMU", "run stand walk"),
    ("lqr", "DmcLqr", "Lqr", "lqr_2_1 lqr_6_2"),
    ("manipulator", "DmcManipulator", "Manipulator", "bring_ball bring_peg insert_ball insert_peg"),
    ("pendulum", "DmcPendulum", "Pendulum", "swingup"),
    ("point_mass", "DmcPointMass", "PointMass", "easy hard"),
    ("quadruped", "DmcQuadruped", "Quadruped", "escape fetch run walk"),
    ("reacher", "DmcReacher", "Reacher", "easy hard"),
    ("stacker", "DmcStacker", "Stacker", "stack_2 stack_4"),
    ("swimmer", "DmcSwimmer", "Swimmer", "swimmer6 swimmer15"),
    ("walker", "DmcWalker", "Walker", "run stand walk"),
]

for module, env, domain, tasks in DOMAINS:
    for task in tasks.split():
        register(
            f"{domain}{''.join(word[:1].upper() + word[1:] for word in task.split('_'))}-v1",
            f"envpool.mujoco.dmc.{module}",
            env=env,
            task_name=task,
            max_episode_steps=1000,
        )
