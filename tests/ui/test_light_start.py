"""What is heavy is imported when something needs it: not before, and never twice."""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "umap", "numba", "sklearn", "scipy.stats", "distributed", "dask")


def in_fresh_process(code: str) -> str:
    """What a fresh Python prints; its failure is the test's."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip().splitlines()[-1]


def test_the_first_page_is_drawn_without_anything_heavy():
    code = f"""
        import logging, sys
        logging.disable()
        from streamlit.testing.v1 import AppTest
        app = AppTest.from_file({str(ROOT / "ui" / "shell" / "router.py")!r}, default_timeout=60).run()
        assert not app.exception and app.title[0].value == "What can be trusted here?"
        print([name for name in {HEAVY} if name in sys.modules])
    """
    assert in_fresh_process(code) == "[]"


def test_the_tool_imports_nothing_of_streamlit_before_it_starts_the_app():
    code = """
        import sys
        import touchstone.ui.shell.tool
        print([name for name in sys.modules if name.split(".")[0] == "streamlit"])
    """
    assert in_fresh_process(code) == "[]", "workers of a command import its main module"


def test_the_launcher_imports_nothing_of_core_but_the_list_of_questions():
    code = """
        import logging, sys
        logging.disable()
        import app
        ours = ("touchstone", "core", "ui", "pages", "sqlalchemy")
        print(sorted(name for name in sys.modules if name.split(".")[0] in ours))
    """
    guards = [
        "access",
        "addresses",
        "health",
        "only_links",
        "serving",
        "sign_in",
        "signed_in",
        "upload_bounds",
    ]
    assert in_fresh_process(code) == str(
        [
            "touchstone",
            "touchstone.core",
            "touchstone.core.questions",
            "touchstone.ui",
            "touchstone.ui.shell",
            *(f"touchstone.ui.shell.{name}" for name in guards),
        ]
    )


def test_workers_do_not_import_streamlit_also_after_a_respawn():
    """Under Streamlit the main module is ui/shell/router.py, and worker processes import the main module."""
    code = f"""
        import sys, types

        if __name__ == "__main__":
            main = types.ModuleType("__main__")
            main.__dict__.update(__file__={str(ROOT / "ui" / "shell" / "router.py")!r}, __name__="__main__")
            sys.modules["__main__"] = main
            from touchstone.core.workspace.engine.executor import Executor

            executor = Executor(n_workers=1)
            client = executor.client()
            names = ("streamlit", "touchstone.ui", "ui", "core", "__mp_main__")
            look = f"lambda: [name for name in {{names}} if name in __import__('sys').modules]"
            before = list(client.run(eval(look)).values())
            client.restart_workers(list(client.scheduler_info()["workers"]))
            after = list(client.run(eval(look)).values())
            executor.close()
            print(before, after)
    """
    assert in_fresh_process(code) == "[['__mp_main__']] [['__mp_main__']]"


def test_what_a_page_met_that_nobody_foresaw_is_written_down(monkeypatch, tmp_path):
    monkeypatch.setenv("TOUCHSTONE_LOG", str(tmp_path / "events.log"))
    code = """
        import logging
        logging.disable()
        import app
        print(app.app._on_script_error(ValueError("of alice")))
    """
    assert in_fresh_process(code) == "None", "Streamlit shows it as ever"
    line = json.loads((tmp_path / "events.log").read_text())
    assert (line["event"], line["type"]) == ("fault", "ValueError")
