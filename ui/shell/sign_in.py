"""Who is it? The person whom the provider in secrets.toml vouches for, named by issuer and subject.

An e-mail address can change hands, and providers do not all check theirs; issuer and subject together never change.
The launcher reads this, too: nothing of core is imported here, nor of the pages.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

LOGO = Path(__file__).with_name("logo.svg")
ABOUT = "Can this accuracy be trusted? Five published methods answer this, from the files that you have."
SENTENCE = "Sign in to see your data sets and results."
SHORTEST_SECRET = 32
UNREADABLE = "Touchstone does not start: {file} is not valid TOML, so nobody could sign in. Correct the file."
INCOMPLETE = (
    "Touchstone does not start: [auth] in secrets.toml lacks {missing}. docs/deployment.md shows all that it needs."
)
SHORT = (
    "Touchstone does not start: cookie_secret under [auth] in secrets.toml must be random, at least "
    f"{SHORTEST_SECRET} characters, without spaces. Anyone who guesses it can sign in as anybody."
)
PLAIN = (
    "Touchstone does not start: redirect_uri under [auth] in secrets.toml must begin with https://, except for this "
    "machine itself. Over http others could read along and take over accounts."
)
_BROWSERS = (("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
_SYSTEMS = (
    *(("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS X", "macOS")),
    ("Linux", "Linux"),
)
"""What stands in a browser's own word for itself, the telling part first: they name one another, too."""
_PROVIDER = ("client_id", "client_secret", "server_metadata_url")


@cache
def _section() -> Mapping[str, Any] | None:
    """The [auth] section; read once, for a server must not lose its door while it runs."""
    return st.secrets["auth"].to_dict() if st.secrets.load_if_toml_exists() and "auth" in st.secrets else None


def is_set_up() -> bool:
    """Whether people sign in here; where not, there is one local owner."""
    return _section() is not None


def problem() -> str | None:
    """What is wrong with the secrets, in a sentence for whoever starts the server; None where nothing is."""
    for file in st.get_option("secrets.files"):
        if Path(file).is_file() and not st.secrets.load_if_toml_exists():
            return UNREADABLE.format(file=file)
    section = _section()
    if section is None:
        return None
    missing = [name for name in ("redirect_uri", "cookie_secret") if not section.get(name)]
    for provider in providers():
        where = section if provider is None else section[provider]
        missing += [name if provider is None else f"{provider}.{name}" for name in _PROVIDER if not where.get(name)]
    if missing:
        return INCOMPLETE.format(missing=", ".join(missing))
    secret = str(section["cookie_secret"])
    if len(secret) < SHORTEST_SECRET or any(map(str.isspace, secret)):
        return SHORT
    there = urlsplit(str(section["redirect_uri"]))
    return None if there.scheme == "https" or there.hostname in ("localhost", "127.0.0.1", "::1") else PLAIN


def providers() -> list[str | None]:
    """The names of the providers that people may choose from; None is the one that needs no name."""
    named = [
        name for name, value in (_section() or {}).items() if isinstance(value, Mapping) and name != "client_kwargs"
    ]
    return named or [None]


def owner() -> str | None:
    """The owner that whoever is signed in is; None where nobody is.

    Issuer and subject are written down so that no two pairs look the same, and hashed, so that no name is stored.
    """
    return owner_of(dict(st.user.items()))


def owner_of(claims: Mapping[str, Any]) -> str | None:
    """The owner of whom a provider says this; None where it vouches for nobody."""
    if not (claims.get("is_logged_in") and claims.get("iss") and claims.get("sub")):
        return None
    pair = json.dumps([claims["iss"], claims["sub"]])
    return f"oidc:{hashlib.sha256(pair.encode()).hexdigest()}"


def this_one() -> str:
    """What this sign-in goes by: a hash of all that the provider said of it, of which time and nonce are no other's.

    A cookie and its copy are one sign-in, whether or not the cookie of the tokens was copied with it.
    """
    return sign_in_of(dict(st.user.items()))


def sign_in_of(claims: Mapping[str, Any]) -> str:
    """What the sign-in goes by of which a provider says this."""
    claims = {name: value for name, value in claims.items() if name != "tokens"}
    return hashlib.sha256(json.dumps(claims, sort_keys=True, default=str).encode()).hexdigest()


def claims_of(sent: Headers) -> dict[str, Any] | None:
    """What the provider said of whoever sends these headers, as `st.user` has it; None without a cookie of Streamlit's
    that was signed here, for this address.
    """
    from streamlit.auth_util import get_cookie_with_chunks
    from streamlit.web.server.server_util import AUTH_COOKIE_NAME, get_cookie_secret
    from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value

    cookies, secret = cookie_parser("; ".join(sent.getlist("cookie"))), get_cookie_secret()

    def signed(name: str) -> bytes | None:
        value = cookies.get(name)
        return None if value is None else decode_signed_value(secret, name, value.encode("latin-1", "replace"))

    if AUTH_COOKIE_NAME not in cookies:
        return None
    content = get_cookie_with_chunks(signed, AUTH_COOKIE_NAME)
    claims = json.loads(content) if content else {}
    if claims.pop("origin", "").lower() != origin():
        return None
    return {"is_logged_in": False, **claims}


def origin() -> str:
    """The address, without a path, at which people sign in, and so the only one at which they are answered."""
    there = urlsplit(str((_section() or {}).get("redirect_uri", "")))
    return f"{there.scheme}://{there.netloc}".lower()


def is_secure() -> bool:
    """Whether people reach that address over TLS."""
    return is_set_up() and origin().startswith("https://")


def browser() -> str:
    """What the browser of this session is, by its own word; "" where it says nothing that is known."""
    return browser_of(st.context.headers.get("user-agent") or "")


def browser_of(agent: str) -> str:
    """What a browser is that calls itself so.

    >>> browser_of("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    >>> browser_of("Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari/604.1")
    'Safari on iPhone'
    """
    name = next((name for part, name in _BROWSERS if part in agent), "")
    system = next((system for part, system in _SYSTEMS if part in agent), "")
    return " on ".join(filter(None, (name, system)))
