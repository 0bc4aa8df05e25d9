"""What pyproject.toml cannot say: a wheel has the app's look and its guards, .streamlit/config.toml, beside app.py."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithSettings(build_py):
    """Copies the settings of Streamlit, which reads them from the folder of the script that it runs."""

    settings = Path(".streamlit", "config.toml")

    def run(self) -> None:
        """Build, and copy them."""
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib, self.settings.parent)
            folder.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(self.settings), str(folder))

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """All files that are built."""
        return [*super().get_outputs(include_bytecode), str(Path(self.build_lib, self.settings))]


setup(cmdclass={"build_py": WithSettings})
