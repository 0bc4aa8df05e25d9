"""A provider of OpenID Connect that asks for no password, and how a program signs in by it; used by tests."""

import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path

from tests.browser.server import SECONDS_TO_STOP, free_port, wait_for

COOKIE_SECRET = "for-tests-alone-and-long-enough-for-it"


@contextmanager
def provide(folder: Path, *names: str) -> Iterator[str]:
    """The address of a provider that knows these people, for as long as it is needed."""
    command = shutil.which("oidc-provider-mock", path=str(Path(sys.executable).parent))
    assert command, "oidc-provider-mock is not installed: make setup"
    port, file = free_port(), folder / "provider.log"
    users = [word for name in names for word in ("--user", name)]
    with open(file, "w") as log:
        process = subprocess.Popen([command, "--port", str(port), *users], stdout=log, stderr=subprocess.STDOUT)
        address = f"http://127.0.0.1:{port}"
        try:
            wait_for(f"{address}/.well-known/openid-configuration", process, file)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=SECONDS_TO_STOP)


def secrets_for(provider: str) -> Callable[[str], str]:
    """The secrets.toml of a server at an address, at which people sign in by this provider."""
    return lambda url: (
        f"""
        [auth]
        redirect_uri = "{url}/oauth2callback"
        cookie_secret = "{COOKIE_SECRET}"
        client_id = "touchstone"
        client_secret = "none"
        server_metadata_url = "{provider}/.well-known/openid-configuration"
    """
    )


class Client:
    """A program with cookies, which answers with status and text whatever comes."""

    def __init__(self, url: str) -> None:
        self.url, self.jar = url, CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def ask(self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> tuple[int, str]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        url = path if "://" in path else f"{self.url}{path}"
        request = urllib.request.Request(url, data=body, headers=named, method=method)
        try:
            with self._opener.open(request, timeout=60) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode(errors="replace")

    def sign_in(self, who: str) -> None:
        """Follow the way of a browser: to the provider, its form, and back with a cookie."""
        with self._opener.open(f"{self.url}/sign_in", timeout=60) as form:
            where, page = form.url, form.read().decode()
        fields = dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', page)) | {"sub": who}
        with self._opener.open(where, urllib.parse.urlencode(fields).encode(), timeout=60) as back:
            assert back.url.startswith(self.url), back.url

    def cookies(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.jar)

    def cookie(self, name: str) -> str:
        return next(cookie.value or "" for cookie in self.jar if cookie.name == name)
