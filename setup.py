"""What pyproject.toml cannot say: all that is installed is one package, whose folders stand beside it in a checkout.

A wheel has app.py and the app's look and guards, .streamlit/config.toml, in the package, too: Streamlit reads
them from the folder of the script that it runs.
"""

from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

PACKAGE = "touchstone"
FOLDERS = ("core", "ui", "pages")
BESIDE = (Path("app.py"), Path(".streamlit", "config.toml"))


class WithApp(build_py):
    """Copies what Streamlit is started with."""

    def run(self) -> None:
        """Build, and copy it."""
        super().run()
        if not self.editable_mode:
            for file, built in self._beside().items():
                built.parent.mkdir(parents=True, exist_ok=True)
                self.copy_file(str(file), str(built))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """All files that are built."""
        return [*super().get_outputs(include_bytecode), *map(str, self._beside().values())]

    def get_source_files(self) -> list[str]:
        """All files that it is built from."""
        return [*super().get_source_files(), *map(str, BESIDE)]

    def _beside(self) -> dict[Path, Path]:
        return {file: Path(self.build_lib, PACKAGE, file) for file in BESIDE}


setup(
    cmdclass={"build_py": WithApp},
    packages=[
        PACKAGE,
        *(f"{PACKAGE}.{name}" for name in find_namespace_packages(include=[f"{folder}*" for folder in FOLDERS])),
    ],
    package_dir={f"{PACKAGE}.{folder}": folder for folder in FOLDERS},
)
