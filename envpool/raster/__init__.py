"""A software rasteriser that draws the same pixels as pygame, for families whose upstream environments use pygame."""
