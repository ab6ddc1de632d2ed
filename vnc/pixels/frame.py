"""The pixels of a screen, as sessions and servers have them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""Pixels of a screen: shape (height, width, 3), dtype uint8, channels red, green, blue."""
