//! The screen: its rectangles, its pixels and what was drawn of them, and the frame that callers may see.

pub(crate) mod brush;
mod coverage;
pub(crate) mod framebuffer;
pub(crate) mod geometry;
pub(crate) mod shown;
