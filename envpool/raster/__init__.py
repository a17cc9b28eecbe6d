"""Figures and images drawn pixel by pixel as pygame draws them, for families whose upstream uses it."""
