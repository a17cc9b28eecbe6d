"""CarRacing: a car, seen from above, that has to drive around a random track.

The files, in the order in which a newcomer should read them:

- ``env.pyx``: the environment: reset, actions, rewards, observations and options
- ``track.h``: random tracks
- ``car.h``: the car's dynamics, and the marks that sliding wheels leave
- ``lap.h``: which tiles the wheels touch and have visited
- ``shapes.h``: sizes and outlines that physics and frames share
- ``frame.h``: observations (96 x 96) and frames (1000 x 800): what is drawn, and in which order
- ``font.py``: the digits of the displayed reward

``frame.h`` draws with a rasteriser of its own, which avoids most of the work for pixels that only end up in an
observation: ``cells.h`` (a row of cells, one per pixel of the observation), ``band.h`` (a band of such rows),
``gfx_quad.h`` (quadrilaterals in a band) and ``shrink.h`` (from rows to the observation). Every .pxd file declares the
header of the same name.
"""
