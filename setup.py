"""The Rust extension; all else is in pyproject.toml.

Without cargo, or without the crates, the package installs all the same and the portable driver decodes the pixels.
UNIVERSE_CLIENT_NATIVE=required makes that an error: for releases, and wherever the extension is to be tested.

One wheel serves all Pythons from 3.11 on. Free-threaded Pythons have no limited API: each needs a wheel of its own.
"""

import os
import sysconfig

from setuptools import setup
from setuptools_rust import Binding, RustExtension

_LIMITED_API = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    rust_extensions=[
        RustExtension(
            "vnc._core",
            path="vnc/core/pymodule/Cargo.toml",
            args=["--locked"],
            binding=Binding.PyO3,
            py_limited_api=_LIMITED_API,
            debug=False,
            optional=os.environ.get("UNIVERSE_CLIENT_NATIVE") != "required",
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if _LIMITED_API else {},
)
