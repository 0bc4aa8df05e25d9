"""One thread, whatever is loaded meanwhile; the libraries are looked for once, and again after an import."""

import importlib
import sys
from types import ModuleType

import threadpoolctl
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from touchstone.core.models import threads
from touchstone.core.models.threads import single_threaded


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info()}


def test_one_thread_within_and_as_before_afterwards():
    import sklearn.svm  # noqa: F401

    with threadpool_limits(limits=2):
        before = n_threads()
        with single_threaded(), single_threaded():
            assert n_threads() == {1}
        assert n_threads() == before == {2}


def test_what_is_loaded_within_one_is_held_to_one_thread_by_the_next(monkeypatch):
    importlib.import_module("sklearn.svm")  # which has threads of its own
    with threadpool_limits(limits=2):
        with single_threaded():
            with threadpool_limits(limits=2):  # as a library that is loaded now comes with its own number
                monkeypatch.setitem(sys.modules, "a_module_that_nobody_had", ModuleType("a_module_that_nobody_had"))
                with single_threaded():
                    assert n_threads() == {1}
            assert n_threads() == {1}
        assert n_threads() == {2}


def test_libraries_are_looked_for_again_only_after_an_import(monkeypatch):
    looks = []

    def look() -> ThreadpoolController:
        looks.append(len(sys.modules))
        return ThreadpoolController()

    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", look)
    threads._libraries.cache_clear()
    for _ in range(5):
        with single_threaded():
            pass
    assert len(looks) == 1
    monkeypatch.setitem(sys.modules, "a_module_that_nobody_had", ModuleType("a_module_that_nobody_had"))
    for _ in range(5):
        with single_threaded():
            pass
    assert len(looks) == 2
    threads._libraries.cache_clear()
