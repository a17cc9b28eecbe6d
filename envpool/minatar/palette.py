"""The colours of frames.

Upstream's frames have the colours of ``seaborn.color_palette("cubehelix", n)`` for n channels: n + 2 evenly spaced
colours of matplotlib's colour map ``cubehelix`` (Green, A colour scheme for the display of astronomical intensity
images, 2011) without the first and the last one. The table has these numbers times 255, rounded to the nearest
integer, for seaborn 0.13.2 and matplotlib 3.11.2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: Number of channels -> colours of the channels, uint8 (channels, 3).
PALETTES: dict[int, npt.NDArray[np.uint8]] = {
    len(colours): np.array(colours, np.uint8)
    for colours in (
        [(22, 61, 78), (84, 121, 47), (208, 126, 147), (193, 202, 243)],
        [(26, 36, 65), (27, 97, 69), (105, 123, 48), (200, 123, 124), (205, 162, 224), (198, 225, 241)],
        [(27, 30, 59), (22, 83, 76), (68, 119, 49), (161, 121, 74), (212, 132, 169), (198, 180, 238), (203, 232, 240)],
        [
            (25, 18, 43),
            (23, 52, 76),
            (24, 91, 72),
            (60, 118, 50),
            (126, 122, 54),
            (188, 121, 103),
            (212, 134, 175),
            (202, 169, 231),
            (194, 210, 243),
            (214, 240, 239),
        ],
    )
}
