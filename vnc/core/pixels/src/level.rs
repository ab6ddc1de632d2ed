//! The instruction sets that kernels exist for, and which of them this processor has.

/// An instruction set that this processor has.
///
/// INVARIANT: only `best` constructs a level above plain, after detection, so the kernels of every `Level` can run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Level(Set);

/// The instruction sets that this build has kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// What the compiler's target guarantees.
    Plain,
    /// x86-64 with AVX2: Intel since 2013, AMD since 2015.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 64-bit ARM with NEON: practically all.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Level {
    /// The level of every processor.
    pub const PLAIN: Self = Self(Set::Plain);

    /// Return the fastest level of this processor.
    #[inline]
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            return Self(Set::Avx2);
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            return Self(Set::Neon);
        }
        Self::PLAIN
    }

    /// The instruction set of this level.
    pub const fn set(self) -> Set {
        self.0
    }
}
