"""Tasks that EnvPool 1.2.5 has and this package does not have, for the text of an error."""

from __future__ import annotations

from envpool._support.text import stem

#: Of each of EnvPool's families, the namespaces and the names of its tasks: a task has the id "name", or
#: "namespace/name", or both.
FAMILIES = {
    "highway": (
        ("",),
        """
        Exit-v0 Highway-v0 HighwayFast-v0 Intersection-v0 Intersection-v1 IntersectionMultiAgent-v0
        IntersectionMultiAgent-v1 LaneKeeping-v0 Merge-v0 Parking-v0 ParkingActionRepeat-v0 ParkingParked-v0
        Racetrack-v0 RacetrackLarge-v0 RacetrackOval-v0 Roundabout-v0 TwoWay-v0 UTurn-v0 exit-v0 highway-fast-v0
        highway-v0 intersection-multi-agent-v0 intersection-multi-agent-v1 intersection-v0 intersection-v1
        lane-keeping-v0 merge-v0 parking-ActionRepeat-v0 parking-parked-v0 parking-v0 racetrack-large-v0
        racetrack-oval-v0 racetrack-v0 roundabout-v0 two-way-v0 u-turn-v0
        """,
    ),
    "jumanji": (
        ("", "Jumanji/"),
        """
        BinPack-v2 CVRP-v1 Cleaner-v0 Connector-v2 FlatPack-v0 Game2048-v1 GraphColoring-v1 JobShop-v0 Knapsack-v1
        LevelBasedForaging-v0 MMST-v0 Maze-v0 Minesweeper-v0 MultiCVRP-v0 PacMan-v1 RobotWarehouse-v0
        RubiksCube-partly-scrambled-v0 RubiksCube-v0 SearchAndRescue-v0 SlidingTilePuzzle-v0 Snake-v1 Sokoban-v0
        Sudoku-v0 Sudoku-very-easy-v0 TSP-v1 Tetris-v0
        """,
    ),
    "minigrid": (
        ("",),
        """
        MiniGrid-WFC-DungeonMazeScaled-v0 MiniGrid-WFC-MazeSimple-v0 MiniGrid-WFC-ObstaclesAngular-v0
        MiniGrid-WFC-ObstaclesBlackdots-v0 MiniGrid-WFC-ObstaclesHogs3-v0 MiniGrid-WFC-RoomsFabric-v0
        """,
    ),
    "mujoco.metaworld": (
        ("MetaWorld/",),
        """
        Assembly-v3 Basketball-v3 BinPicking-v3 BoxClose-v3 ButtonPress-v3 ButtonPressTopdown-v3
        ButtonPressTopdownWall-v3 ButtonPressWall-v3 CoffeeButton-v3 CoffeePull-v3 CoffeePush-v3 DialTurn-v3
        Disassemble-v3 DoorClose-v3 DoorLock-v3 DoorOpen-v3 DoorUnlock-v3 DrawerClose-v3 DrawerOpen-v3 FaucetClose-v3
        FaucetOpen-v3 Hammer-v3 HandInsert-v3 HandlePress-v3 HandlePressSide-v3 HandlePull-v3 HandlePullSide-v3
        LeverPull-v3 PegInsertSide-v3 PegUnplugSide-v3 PickOutOfHole-v3 PickPlace-v3 PickPlaceWall-v3 PlateSlide-v3
        PlateSlideBack-v3 PlateSlideBackSide-v3 PlateSlideSide-v3 Push-v3 PushBack-v3 PushWall-v3 Reach-v3 ReachWall-v3
        ShelfPlace-v3 Soccer-v3 StickPull-v3 StickPush-v3 Sweep-v3 SweepInto-v3 WindowClose-v3 WindowOpen-v3
        """,
    ),
    "mujoco.myosuite": (
        ("", "MyoSuite/"),
        """
        MyoHandAirplaneFixed-v0 MyoHandAirplaneFly-v0 MyoHandAirplaneLift-v0 MyoHandAirplanePass-v0
        MyoHandAirplaneRandom-v0 MyoHandAlarmclockFixed-v0 MyoHandAlarmclockLift-v0 MyoHandAlarmclockPass-v0
        MyoHandAlarmclockRandom-v0 MyoHandAlarmclockSee-v0 MyoHandAppleFixed-v0 MyoHandAppleLift-v0 MyoHandApplePass-v0
        MyoHandAppleRandom-v0 MyoHandBananaFixed-v0 MyoHandBananaPass-v0 MyoHandBananaRandom-v0
        MyoHandBinocularsFixed-v0 MyoHandBinocularsPass-v0 MyoHandBinocularsRandom-v0 MyoHandBowlDrink2-v0
        MyoHandBowlFixed-v0 MyoHandBowlPass-v0 MyoHandBowlRandom-v0 MyoHandCameraFixed-v0 MyoHandCameraPass-v0
        MyoHandCameraRandom-v0 MyoHandCoffeemugFixed-v0 MyoHandCoffeemugRandom-v0 MyoHandCubelargeFixed-v0
        MyoHandCubelargePass-v0 MyoHandCubelargeRandom-v0 MyoHandCubemediumFixed-v0 MyoHandCubemediumLInspect-v0
        MyoHandCubemediumRandom-v0 MyoHandCubesmallFixed-v0 MyoHandCubesmallLift-v0 MyoHandCubesmallPass-v0
        MyoHandCubesmallRandom-v0 MyoHandCupDrink-v0 MyoHandCupFixed-v0 MyoHandCupPass-v0 MyoHandCupPour-v0
        MyoHandCupRandom-v0 MyoHandCylinderlargeFixed-v0 MyoHandCylinderlargeInspect-v0 MyoHandCylinderlargeRandom-v0
        MyoHandCylindermediumFixed-v0 MyoHandCylindermediumLift-v0 MyoHandCylindermediumPass-v0
        MyoHandCylindermediumRandom-v0 MyoHandCylindersmallFixed-v0 MyoHandCylindersmallInspect-v0
        MyoHandCylindersmallPass-v0 MyoHandCylindersmallRandom-v0 MyoHandDuckFixed-v0 MyoHandDuckInspect-v0
        MyoHandDuckLift-v0 MyoHandDuckPass-v0 MyoHandDuckRandom-v0 MyoHandElephantFixed-v0 MyoHandElephantLift-v0
        MyoHandElephantPass-v0 MyoHandElephantRandom-v0 MyoHandEyeglassesFixed-v0 MyoHandEyeglassesPass-v0
        MyoHandEyeglassesRandom-v0 MyoHandFlashlight1On-v0 MyoHandFlashlight2On-v0 MyoHandFlashlightFixed-v0
        MyoHandFlashlightLift-v0 MyoHandFlashlightPass-v0 MyoHandFlashlightRandom-v0 MyoHandFluteFixed-v0
        MyoHandFlutePass-v0 MyoHandFluteRandom-v0 MyoHandGamecontrollerFixed-v0 MyoHandGamecontrollerPass-v0
        MyoHandGamecontrollerRandom-v0 MyoHandHammerFixed-v0 MyoHandHammerPass-v0 MyoHandHammerRandom-v0
        MyoHandHammerUse-v0 MyoHandHandFixed-v0 MyoHandHandInspect-v0 MyoHandHandRandom-v0 MyoHandHeadphonesFixed-v0
        MyoHandHeadphonesPass-v0 MyoHandHeadphonesRandom-v0 MyoHandKnifeChop-v0 MyoHandKnifeFixed-v0
        MyoHandKnifeRandom-v0 MyoHandLightbulbFixed-v0 MyoHandLightbulbPass-v0 MyoHandLightbulbRandom-v0
        MyoHandMouseFixed-v0 MyoHandMouseLift-v0 MyoHandMousePass-v0 MyoHandMouseRandom-v0 MyoHandMouseUse-v0
        MyoHandMugDrink3-v0 MyoHandMugFixed-v0 MyoHandMugLift-v0 MyoHandMugPass-v0 MyoHandMugRandom-v0
        MyoHandPhoneFixed-v0 MyoHandPhoneLift-v0 MyoHandPhoneRandom-v0 MyoHandPiggybankFixed-v0 MyoHandPiggybankPass-v0
        MyoHandPiggybankRandom-v0 MyoHandPiggybankUse-v0 MyoHandPyramidlargeFixed-v0 MyoHandPyramidlargePass-v0
        MyoHandPyramidlargeRandom-v0 MyoHandPyramidmediumFixed-v0 MyoHandPyramidmediumPass-v0
        MyoHandPyramidmediumRandom-v0 MyoHandPyramidsmallFixed-v0 MyoHandPyramidsmallInspect-v0
        MyoHandPyramidsmallRandom-v0 MyoHandScissorsFixed-v0 MyoHandScissorsRandom-v0 MyoHandScissorsUse-v0
        MyoHandSpherelargeFixed-v0 MyoHandSpherelargePass-v0 MyoHandSpherelargeRandom-v0 MyoHandSpheremediumFixed-v0
        MyoHandSpheremediumInspect-v0 MyoHandSpheremediumLift-v0 MyoHandSpheremediumRandom-v0 MyoHandSpheresmallFixed-v0
        MyoHandSpheresmallInspect-v0 MyoHandSpheresmallLift-v0 MyoHandSpheresmallPass-v0 MyoHandSpheresmallRandom-v0
        MyoHandStampFixed-v0 MyoHandStampLift-v0 MyoHandStampRandom-v0 MyoHandStampStamp-v0 MyoHandStanfordbunnyFixed-v0
        MyoHandStanfordbunnyInspect-v0 MyoHandStanfordbunnyPass-v0 MyoHandStanfordbunnyRandom-v0 MyoHandStaplerFixed-v0
        MyoHandStaplerLift-v0 MyoHandStaplerRandom-v0 MyoHandStaplerStaple1-v0 MyoHandStaplerStaple2-v0
        MyoHandTeapotFixed-v0 MyoHandTeapotPour2-v0 MyoHandTeapotRandom-v0 MyoHandToothbrushBrush1-v0
        MyoHandToothbrushFixed-v0 MyoHandToothbrushLift-v0 MyoHandToothbrushRandom-v0 MyoHandToothpasteFixed-v0
        MyoHandToothpasteLift-v0 MyoHandToothpasteRandom-v0 MyoHandToothpasteSqueeze1-v0 MyoHandToruslargeFixed-v0
        MyoHandToruslargeInspect-v0 MyoHandToruslargeLift-v0 MyoHandToruslargeRandom-v0 MyoHandTorusmediumFixed-v0
        MyoHandTorusmediumLift-v0 MyoHandTorusmediumPass-v0 MyoHandTorusmediumRandom-v0 MyoHandTorussmallFixed-v0
        MyoHandTorussmallLift-v0 MyoHandTorussmallPass-v0 MyoHandTorussmallRandom-v0 MyoHandTrainFixed-v0
        MyoHandTrainPlay-v0 MyoHandTrainRandom-v0 MyoHandWatchFixed-v0 MyoHandWatchLift-v0 MyoHandWatchPass-v0
        MyoHandWatchRandom-v0 MyoHandWaterbottleFixed-v0 MyoHandWaterbottleLift-v0 MyoHandWaterbottlePass-v0
        MyoHandWaterbottleRandom-v0 MyoHandWaterbottleShake-v0 MyoHandWineglassDrink2-v0 MyoHandWineglassFixed-v0
        MyoHandWineglassLift-v0 MyoHandWineglassPass-v0 MyoHandWineglassRandom-v0 MyoHandWineglassToast1-v0
        motorFingerPoseFixed-v0 motorFingerPoseRandom-v0 motorFingerReachFixed-v0 motorFingerReachRandom-v0
        myoArmReachFixed-v0 myoArmReachRandom-v0 myoChallengeBaodingP1-v1 myoChallengeBaodingP2-v1
        myoChallengeBimanual-v0 myoChallengeChaseTagP1-v0 myoChallengeChaseTagP2-v0 myoChallengeChaseTagP2eval-v0
        myoChallengeDieReorientDemo-v0 myoChallengeDieReorientP1-v0 myoChallengeDieReorientP2-v0
        myoChallengeOslRunFixed-v0 myoChallengeOslRunRandom-v0 myoChallengeRelocateP1-v0 myoChallengeRelocateP2-v0
        myoChallengeRelocateP2eval-v0 myoChallengeSoccerP1-v0 myoChallengeSoccerP2-v0 myoChallengeTableTennisP0-v0
        myoChallengeTableTennisP1-v0 myoChallengeTableTennisP2-v0 myoElbowPose1D6MExoFixed-v0
        myoElbowPose1D6MExoRandom-v0 myoElbowPose1D6MFixed-v0 myoElbowPose1D6MRandom-v0 myoFatiArmReachFixed-v0
        myoFatiArmReachRandom-v0 myoFatiChallengeBaodingP1-v1 myoFatiChallengeBaodingP2-v1 myoFatiChallengeBimanual-v0
        myoFatiChallengeChaseTagP1-v0 myoFatiChallengeChaseTagP2-v0 myoFatiChallengeChaseTagP2eval-v0
        myoFatiChallengeDieReorientDemo-v0 myoFatiChallengeDieReorientP1-v0 myoFatiChallengeDieReorientP2-v0
        myoFatiChallengeOslRunFixed-v0 myoFatiChallengeOslRunRandom-v0 myoFatiChallengeRelocateP1-v0
        myoFatiChallengeRelocateP2-v0 myoFatiChallengeRelocateP2eval-v0 myoFatiChallengeSoccerP1-v0
        myoFatiChallengeSoccerP2-v0 myoFatiChallengeTableTennisP0-v0 myoFatiChallengeTableTennisP1-v0
        myoFatiChallengeTableTennisP2-v0 myoFatiElbowPose1D6MExoFixed-v0 myoFatiElbowPose1D6MExoRandom-v0
        myoFatiElbowPose1D6MFixed-v0 myoFatiElbowPose1D6MRandom-v0 myoFatiFingerPoseFixed-v0 myoFatiFingerPoseRandom-v0
        myoFatiFingerReachFixed-v0 myoFatiFingerReachRandom-v0 myoFatiHandKeyTurnFixed-v0 myoFatiHandKeyTurnRandom-v0
        myoFatiHandObjHoldFixed-v0 myoFatiHandObjHoldRandom-v0 myoFatiHandPenTwirlFixed-v0 myoFatiHandPenTwirlRandom-v0
        myoFatiHandPose0Fixed-v0 myoFatiHandPose1Fixed-v0 myoFatiHandPose2Fixed-v0 myoFatiHandPose3Fixed-v0
        myoFatiHandPose4Fixed-v0 myoFatiHandPose5Fixed-v0 myoFatiHandPose6Fixed-v0 myoFatiHandPose7Fixed-v0
        myoFatiHandPose8Fixed-v0 myoFatiHandPose9Fixed-v0 myoFatiHandPoseFixed-v0 myoFatiHandPoseRandom-v0
        myoFatiHandReachFixed-v0 myoFatiHandReachRandom-v0 myoFatiHandReorient100-v0 myoFatiHandReorient8-v0
        myoFatiHandReorientID-v0 myoFatiHandReorientOOD-v0 myoFatiLegHillyTerrainWalk-v0 myoFatiLegRoughTerrainWalk-v0
        myoFatiLegStairTerrainWalk-v0 myoFatiLegStandRandom-v0 myoFatiLegWalk-v0 myoFatiTorsoExoPoseFixed-v0
        myoFatiTorsoPoseFixed-v0 myoFingerPoseFixed-v0 myoFingerPoseRandom-v0 myoFingerReachFixed-v0
        myoFingerReachRandom-v0 myoHandKeyTurnFixed-v0 myoHandKeyTurnRandom-v0 myoHandObjHoldFixed-v0
        myoHandObjHoldRandom-v0 myoHandPenTwirlFixed-v0 myoHandPenTwirlRandom-v0 myoHandPose0Fixed-v0
        myoHandPose1Fixed-v0 myoHandPose2Fixed-v0 myoHandPose3Fixed-v0 myoHandPose4Fixed-v0 myoHandPose5Fixed-v0
        myoHandPose6Fixed-v0 myoHandPose7Fixed-v0 myoHandPose8Fixed-v0 myoHandPose9Fixed-v0 myoHandPoseFixed-v0
        myoHandPoseRandom-v0 myoHandReachFixed-v0 myoHandReachRandom-v0 myoHandReorient100-v0 myoHandReorient8-v0
        myoHandReorientID-v0 myoHandReorientOOD-v0 myoLegHillyTerrainWalk-v0 myoLegRoughTerrainWalk-v0
        myoLegStairTerrainWalk-v0 myoLegStandRandom-v0 myoLegWalk-v0 myoReafHandKeyTurnFixed-v0
        myoReafHandKeyTurnRandom-v0 myoReafHandObjHoldFixed-v0 myoReafHandObjHoldRandom-v0 myoReafHandPenTwirlFixed-v0
        myoReafHandPenTwirlRandom-v0 myoReafHandPose0Fixed-v0 myoReafHandPose1Fixed-v0 myoReafHandPose2Fixed-v0
        myoReafHandPose3Fixed-v0 myoReafHandPose4Fixed-v0 myoReafHandPose5Fixed-v0 myoReafHandPose6Fixed-v0
        myoReafHandPose7Fixed-v0 myoReafHandPose8Fixed-v0 myoReafHandPose9Fixed-v0 myoReafHandPoseFixed-v0
        myoReafHandPoseRandom-v0 myoReafHandReachFixed-v0 myoReafHandReachRandom-v0 myoReafHandReorient100-v0
        myoReafHandReorient8-v0 myoReafHandReorientID-v0 myoReafHandReorientOOD-v0 myoSarcArmReachFixed-v0
        myoSarcArmReachRandom-v0 myoSarcChallengeBaodingP1-v1 myoSarcChallengeBaodingP2-v1 myoSarcChallengeBimanual-v0
        myoSarcChallengeChaseTagP1-v0 myoSarcChallengeChaseTagP2-v0 myoSarcChallengeChaseTagP2eval-v0
        myoSarcChallengeDieReorientDemo-v0 myoSarcChallengeDieReorientP1-v0 myoSarcChallengeDieReorientP2-v0
        myoSarcChallengeOslRunFixed-v0 myoSarcChallengeOslRunRandom-v0 myoSarcChallengeRelocateP1-v0
        myoSarcChallengeRelocateP2-v0 myoSarcChallengeRelocateP2eval-v0 myoSarcChallengeSoccerP1-v0
        myoSarcChallengeSoccerP2-v0 myoSarcChallengeTableTennisP0-v0 myoSarcChallengeTableTennisP1-v0
        myoSarcChallengeTableTennisP2-v0 myoSarcElbowPose1D6MExoFixed-v0 myoSarcElbowPose1D6MExoRandom-v0
        myoSarcElbowPose1D6MFixed-v0 myoSarcElbowPose1D6MRandom-v0 myoSarcFingerPoseFixed-v0 myoSarcFingerPoseRandom-v0
        myoSarcFingerReachFixed-v0 myoSarcFingerReachRandom-v0 myoSarcHandKeyTurnFixed-v0 myoSarcHandKeyTurnRandom-v0
        myoSarcHandObjHoldFixed-v0 myoSarcHandObjHoldRandom-v0 myoSarcHandPenTwirlFixed-v0 myoSarcHandPenTwirlRandom-v0
        myoSarcHandPose0Fixed-v0 myoSarcHandPose1Fixed-v0 myoSarcHandPose2Fixed-v0 myoSarcHandPose3Fixed-v0
        myoSarcHandPose4Fixed-v0 myoSarcHandPose5Fixed-v0 myoSarcHandPose6Fixed-v0 myoSarcHandPose7Fixed-v0
        myoSarcHandPose8Fixed-v0 myoSarcHandPose9Fixed-v0 myoSarcHandPoseFixed-v0 myoSarcHandPoseRandom-v0
        myoSarcHandReachFixed-v0 myoSarcHandReachRandom-v0 myoSarcHandReorient100-v0 myoSarcHandReorient8-v0
        myoSarcHandReorientID-v0 myoSarcHandReorientOOD-v0 myoSarcLegHillyTerrainWalk-v0 myoSarcLegRoughTerrainWalk-v0
        myoSarcLegStairTerrainWalk-v0 myoSarcLegStandRandom-v0 myoSarcLegWalk-v0 myoSarcTorsoExoPoseFixed-v0
        myoSarcTorsoPoseFixed-v0 myoTorsoExoPoseFixed-v0 myoTorsoPoseFixed-v0
        """,
    ),
    "mujoco.playground": (
        ("", "MuJoCoPlayground/"),
        """
        AeroCubeRotateZAxis-v1 AlohaHandOver-v1 AlohaSinglePegInsertion-v1 ApolloJoystickFlatTerrain-v1
        BarkourJoystick-v1 BerkeleyHumanoidJoystickFlatTerrain-v1 BerkeleyHumanoidJoystickRoughTerrain-v1
        G1JoystickFlatTerrain-v1 G1JoystickRoughTerrain-v1 Go1Footstand-v1 Go1Getup-v1 Go1Handstand-v1
        Go1JoystickFlatTerrain-v1 Go1JoystickRoughTerrain-v1 H1InplaceGaitTracking-v1 H1JoystickGaitTracking-v1
        LeapCubeReorient-v1 LeapCubeRotateZAxis-v1 Op3Joystick-v1 PandaOpenCabinet-v1 PandaPickCube-v1
        PandaPickCubeCartesian-v1 PandaPickCubeOrientation-v1 PandaRobotiqPushCube-v1 SpotFlatTerrainJoystick-v1
        SpotGetup-v1 SpotJoystickGaitTracking-v1 T1JoystickFlatTerrain-v1 T1JoystickRoughTerrain-v1
        """,
    ),
    "pgx": (
        ("",),
        """
        AnimalShogi-v1 Backgammon-v1 Chess-v1 ChineseGo13x13-v1 ChineseGo19x19-v1 ChineseGo9x9-v1 ConnectFour-v1
        GardnerChess-v1 Go13x13-v1 Go19x19-v1 Go9x9-v1 Hex-v1 KuhnPoker-v1 LeducHoldem-v1 Othello-v1 Play2048-v1
        Shogi-v1 SparrowMahjong-v1 TicTacToe-v1
        """,
    ),
}


def absent_tasks() -> dict[str, str]:
    """Return the families of the tasks that only EnvPool has, by id."""
    return {
        namespace + name: family
        for family, (namespaces, names) in FAMILIES.items()
        for namespace in namespaces
        for name in names.split()
    }


def similar_family(task_id: str) -> str | None:
    """Return the family of a task that only EnvPool has and that an id may mean, None if there is none.

    Such an id names another version of the task, or is in a namespace of the family, in letters of any case.
    """
    for family, (namespaces, names) in FAMILIES.items():
        if any(task_id.lower().startswith(namespace.lower()) for namespace in namespaces if namespace):
            return family
        if "" in namespaces and "/" not in task_id and stem(task_id) in map(stem, names.split()):
            return family
    return None
