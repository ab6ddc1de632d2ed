"""Pixels: the formats that RFB and X servers have them in, and smaller pictures of frames."""
