"""The Rust extension; all else is in pyproject.toml.

Without cargo, or without the crates, the package installs all the same and the portable driver decodes the pixels.
UNIVERSE_CLIENT_NATIVE=required makes that an error: for releases, and wherever the extension is to be tested.
"""

import os

from setuptools import setup
from setuptools_rust import Binding, RustExtension

setup(
    rust_extensions=[
        RustExtension(
            "vnc._core",
            path="vnc/core/pymodule/Cargo.toml",
            args=["--locked"],
            binding=Binding.PyO3,
            py_limited_api=True,
            debug=False,
            optional=os.environ.get("UNIVERSE_CLIENT_NATIVE") != "required",
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
