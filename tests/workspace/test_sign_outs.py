"""The end of a sign-in is remembered for as long as its cookie could be believed, by every process, and no longer."""

from core.workspace import sign_outs
from core.workspace.sign_outs import LONGEST_SIGN_IN
from core.workspace.workspace import Workspace


def test_an_end_is_for_good_and_for_every_process(tmp_path):
    here, elsewhere = Workspace(tmp_path), Workspace(tmp_path)
    here.sign_out("oidc:a", "one")
    here.sign_out("oidc:a", "one")  # the same again, as two tabs may
    assert elsewhere.is_signed_out("oidc:a", "one")
    assert not elsewhere.is_signed_out("oidc:a", "two")
    assert not elsewhere.is_signed_out("oidc:b", "one")
    for workspace in (here, elsewhere):
        workspace.close()


def test_what_no_cookie_can_be_of_any_more_is_forgotten(tmp_path, monkeypatch):
    workspace, begun = Workspace(tmp_path), sign_outs.now()
    workspace.sign_out("oidc:a", "old")
    for seconds, still in ((LONGEST_SIGN_IN - 60, True), (LONGEST_SIGN_IN + 60, False)):
        monkeypatch.setattr(sign_outs, "now", lambda seconds=seconds: begun + seconds)
        workspace.sign_out("oidc:a", f"after {seconds}")
        assert workspace.is_signed_out("oidc:a", "old") is still
    workspace.close()
