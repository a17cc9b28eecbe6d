"""A software rasteriser that draws the same pixels as pygame-ce, for families whose upstream environments use it.

resize.h resizes observations as OpenCV does.
"""
