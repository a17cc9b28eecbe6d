"""The sprites used to render the toy text environments: upstream's images, assembled with pygame, once per pool.

Native code draws the sprites that move over a background that does not change. The images and numbers of a sheet are in
the order in which the drawing code uses them. Positions are those of upstream (``gymnasium.envs.toy_text``), in pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from envpool.raster.sheet import load, pack, pygame_for, rgb, rgba

FOLDER = "toy_text/img"
ART_CELL = 64  # side of the cell for which the images of FrozenLake and CliffWalking were made
NOWHERE = -(2**31)

CLIFF_ROWS, CLIFF_COLUMNS = 4, 12
TAXI_SIZE, BLACKJACK_SIZE = (456, 536), (376, 384)


def surface_of(pygame: Any, height: int, width: int) -> Any:
    """Return an opaque surface whose format does not depend on a display."""
    return pygame.Surface((width, height), 0, 32)


# ---- FrozenLake ------------------------------------------------------------------------------------------------------


#: Letter of a FrozenLake map, and number of the crack in the ice, 2 for none; in the order of frozen_lake.pyx.
TILES = (("F", 2), ("H", 2), ("G", 2), ("S", 2), ("F", 0), ("F", 1))


def lake_size(rows: Sequence[str]) -> tuple[int, int]:
    """Return the default height and width of a frame of a map."""
    return min(ART_CELL * len(rows), 512), min(ART_CELL * len(rows[0]), 512)


def lake(rows: Sequence[str], height: int, width: int) -> bytes:
    """Return the sheet of a FrozenLake map.

    The images are the map, the walker, and one tile for each kind of cell, in the order of TILES. The numbers are the
    walker's position in each cell of the map; width and height of a cell; and the walker's position in any cell.
    """
    pygame = pygame_for("FrozenLake")
    cell = width // len(rows[0]), height // len(rows)
    scale = min(cell) / ART_CELL

    def tile(name: str) -> Any:
        return pygame.transform.scale(load(pygame, FOLDER, name), cell)

    def overlay(name: str) -> Any:
        image = load(pygame, FOLDER, name)
        return pygame.transform.scale(image, [max(1, round(side * scale)) for side in image.get_size()])

    ice, hole, walker = tile("tile_ice.png"), tile("tile_hole.png"), overlay("agent.png")
    cracks = [tile("tile_ice_crack_a.png"), tile("tile_ice_crack_b.png")]
    flag, letters = overlay("goal_flag.png"), {"S": overlay("letter_s.png"), "G": overlay("letter_g.png")}
    margin, gap = round(cell[0] * 0.06), round(cell[1] * 0.12)

    def draw(ground: Any, x: int, y: int, letter: str, crack: int) -> None:
        ground.blit(hole if letter == "H" else ice, (x, y))
        if letter == "F" and crack < len(cracks):
            ground.blit(cracks[crack], (x, y))
        if letter == "G":
            ground.blit(flag, (x + (cell[0] - flag.get_width()) / 2, y + cell[1] - flag.get_height() - gap))
        if letter in letters:
            ground.blit(letters[letter], (x + margin, y + margin))
        pygame.draw.rect(ground, (180, 200, 230), (x, y, *cell), 1)

    ground = surface_of(pygame, height, width)
    places = []
    for row, line in enumerate(rows):
        for column, letter in enumerate(line):
            x, y = column * cell[0], row * cell[1]
            draw(ground, x, y, letter, (3 * column + 5 * row) % 7)
            middle = x + (cell[0] - walker.get_width()) / 2, y + (cell[1] - walker.get_height()) / 2
            places.append((NOWHERE, NOWHERE) if letter == "H" else (int(middle[0]), int(middle[1])))
    tiles = []
    for letter, crack in TILES:
        one = surface_of(pygame, max(cell[1], 1), max(cell[0], 1))
        draw(one, 0, 0, letter, crack)
        tiles.append(np.dstack([rgb(pygame, one), np.full((*one.get_size()[::-1], 1), 255, np.uint8)]))
    inside = int((cell[0] - walker.get_width()) / 2), int((cell[1] - walker.get_height()) / 2)
    return pack([rgb(pygame, ground), rgba(pygame, walker), *tiles], [*places, cell, inside])


# ---- CliffWalking ----------------------------------------------------------------------------------------------------


def cliff(height: int, width: int) -> bytes:
    """Return the sheet of CliffWalking, with square cells: the map and the walker, and its position in each cell."""
    pygame = pygame_for("CliffWalking")
    side = min(height // CLIFF_ROWS, width // CLIFF_COLUMNS)
    scale = side / ART_CELL

    def image(name: str) -> Any:
        art = load(pygame, f"{FOLDER}/cliff_walking", f"{name}.png")
        return pygame.transform.scale(art, [round(s * scale) for s in art.get_size()])

    def shifted(x: int, y: int, dx: int, dy: int) -> tuple[int, int]:
        return x + round(dx * scale), y + round(dy * scale)

    ground, walker = image("tile_ground"), image("agent")
    last = CLIFF_COLUMNS - 1
    edges = {1: "left", last - 1: "right"}
    board = surface_of(pygame, height, width)
    places = []
    for row in range(CLIFF_ROWS):
        for column in range(CLIFF_COLUMNS):
            place = column * side, row * side
            board.blit(ground, place)
            places.append(shifted(*place, 20, 20))
            if row < CLIFF_ROWS - 1:
                continue
            if 0 < column < last:
                board.blit(image("tile_cliff_" + edges.get(column, "mid_b" if column % 2 else "mid_a")), place)
            if column == 0:
                board.blit(image("letter_s"), shifted(*place, 8, 8))
            if column == last:
                board.blit(image("letter_g"), shifted(*place, 8, 8))
                board.blit(image("goal_flag"), shifted(*place, 28, 16))
    return pack([rgb(pygame, board), rgba(pygame, walker)], places)


# ---- Taxi ------------------------------------------------------------------------------------------------------------


def taxi() -> bytes:
    """Return the sheet of Taxi: the city, the destination, the passenger, and the taxi by heading, empty and full."""
    pygame = pygame_for("Taxi")

    def image(name: str) -> Any:
        return load(pygame, f"{FOLDER}/taxi", f"{name}.png")

    city = surface_of(pygame, *TAXI_SIZE)
    city.fill((250, 250, 246))
    city.blit(image("background"), (0, 80))
    city.blit(image("house"), (403, 36))
    pieces = [image("marker_destination"), image("passenger")]
    for load_name in ("", "_full"):
        vertical, horizontal = image(f"taxi_v{load_name}"), image(f"taxi_h{load_name}")
        flip = pygame.transform.flip
        pieces += [flip(vertical, False, True), vertical, horizontal, flip(horizontal, True, False)]
    return pack([rgb(pygame, city), *(rgba(pygame, piece) for piece in pieces)])


# ---- Blackjack -------------------------------------------------------------------------------------------------------


def blackjack() -> bytes:
    """Return the sheet of Blackjack: the table, a label for a usable ace, small and big digits, cards by rank and suit.

    The numbers are the positions of the label and of the number beside the dealer's label: x, y, x, y.
    """
    pygame = pygame_for("Blackjack")

    def image(name: str) -> Any:
        return load(pygame, f"{FOLDER}/blackjack", f"{name}.png")

    table = surface_of(pygame, *BLACKJACK_SIZE)
    table.fill((196, 216, 158))
    dealer, ace = image("label_dealer"), image("label_usable_ace")
    table.blit(dealer, (40, 32))
    table.blit(image("card_back"), (208, 72))
    table.blit(image("label_player"), (40, 208))
    digits = [image(f"digit_{size}_{digit}") for size in ("small", "big") for digit in range(10)]
    cards = [image(f"card_{rank}{suit}") for rank in "A23456789JQK" for suit in "CDHS"]
    places = [(BLACKJACK_SIZE[1] - ace.get_width()) // 2 // 4 * 4, 328, 40 + dealer.get_width() + 12, 32]
    return pack([rgb(pygame, table), *(rgba(pygame, piece) for piece in (ace, *digits, *cards))], np.array(places))
