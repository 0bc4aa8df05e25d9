"""What is stored comes back as it was, bit by bit."""

import base64
import io
import json
import zipfile
import zlib

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.data.store import from_bytes, to_bytes

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
names = words.filter(bool)


@st.composite
def vectors(draw, n):
    if draw(st.booleans()):
        return {}
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)
    shape = (n, draw(st.integers(1, 4)))
    return {"vectors": draw(npst.arrays(dtype, shape, elements=numbers)), "vectors_name": draw(names)}


@st.composite
def numbers(draw, n):
    numbers = draw(st.lists(names, max_size=3, unique=True))
    elements = st.floats(allow_nan=False, allow_infinity=False)
    values = draw(npst.arrays(np.float64, (n, len(numbers)), elements=elements))
    return {"numbers": values, "number_names": numbers} if numbers else {}


@st.composite
def arguments(draw):
    n = draw(st.integers(2, 5))
    kind = draw(st.sampled_from(["image", "text", "tabular"]))
    if kind == "image":
        shape = (n, *draw(st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 3]))))
        x = draw(npst.arrays(np.float32, shape, elements=st.floats(0, 1, width=32)))
    elif kind == "text":
        x = draw(st.lists(words, min_size=n, max_size=n))
    else:
        x = draw(npst.arrays(np.float64, (n, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
    unique = st.lists(names, min_size=n, max_size=n, unique=True)
    return {
        "name": draw(names),
        "kind": kind,
        "x": x,
        "y": [0, *([1] * (n - 1))],
        "class_names": draw(st.lists(names, min_size=2, max_size=2, unique=True)),
        "ids": draw(unique),
        "part": draw(st.none() | st.lists(st.sampled_from(["train", "validation", "test"]), min_size=n, max_size=n)),
        "sources": draw(st.none() | st.lists(names, min_size=n, max_size=n)),
        "scale": draw(st.floats(0.001, 1000)),
        "feature_names": draw(st.lists(names, min_size=2, max_size=2, unique=True)) if kind == "tabular" else (),
        "notes": draw(st.lists(words, max_size=2)),
        **draw(vectors(n)),
        **draw(numbers(n)),
    }


@given(arguments())
def test_any_data_set_comes_back(arguments):
    dataset = Dataset(**arguments)
    copy = from_bytes(to_bytes(dataset))
    assert copy.fingerprint == dataset.fingerprint
    assert (copy.name, copy.notes, copy.kind) == (dataset.name, dataset.notes, dataset.kind)
    assert not copy.x.flags.writeable
    assert (copy.vectors is None) == (dataset.vectors is None)
    assert copy.vectors_name == dataset.vectors_name
    assert copy.number_names == dataset.number_names
    assert np.array_equal(copy.part, dataset.part) if dataset.part is not None else copy.part is None
    assert (copy.numbers is None) == (dataset.numbers is None)
    if dataset.numbers is not None:
        assert copy.numbers.tobytes() == dataset.numbers.tobytes()
    if dataset.vectors is not None:
        assert copy.vectors.dtype == dataset.vectors.dtype
        assert copy.vectors.tobytes() == dataset.vectors.tobytes()


@pytest.mark.parametrize("name", ["digits", "wine"])
def test_no_pickle_is_needed(name, monkeypatch):
    content = to_bytes(load_example(name))
    monkeypatch.setattr("pickle.loads", None)
    monkeypatch.setattr("pickle.load", None)
    assert from_bytes(content).n_samples in (1797, 178)


@pytest.mark.parametrize("name", ["digits", "wine"])
@pytest.mark.parametrize("length", [0, 1, 10, 0.5, -1])
def test_cut_bytes_are_refused(name, length):
    content = to_bytes(load_example(name))
    with pytest.raises(DataError, match="damaged"):
        from_bytes(content[: int(len(content) * length) if isinstance(length, float) else length])


def test_other_files_are_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", "a")
    for content in (stream.getvalue(), pd.DataFrame({"a": [1]}).to_parquet()):
        with pytest.raises(DataError, match="damaged"):
            from_bytes(content)


def test_a_text_that_looks_like_the_end_of_a_zip_file_is_a_text():
    films = Dataset("films", "text", ["PK\x05\x06" + "abcdefghijklmnopqrstuvwx", "dull"], [0, 1], "ab", "01")
    assert films.x[0].encode() in to_bytes(films)
    assert from_bytes(to_bytes(films)).fingerprint == films.fingerprint


def test_bytes_from_before_data_sets_had_vectors_are_still_read():
    fruit = from_bytes(zlib.decompress(base64.b85decode(FRUIT_BEFORE_VECTORS)))
    assert fruit.fingerprint == "05734fbd939d49a4ebc39a972a66b4ed370ca851c41b36b5f22beb72447a90b6"
    assert (fruit.vectors, fruit.vectors_name) == (None, None)


FRUIT_BEFORE_VECTORS = (
    "c-oaz%Wl(95FMw%imGh7uw_dT3YHob)JKxiBC1I3&8u-pS{l^mfhw>aCo%XDVmmJcYZiP&w|oE_R)|G+?Aajk3H<>O_u6g}L^qv8"
    "_s;8_xih2WDXOIyU>-1;b%w?Y&Cs!3Sfdn<l2%p#VD0nP?>O@bAcPH?qVOq^LneoU5g8^whjJ0(Cc;Gm1z1?S!8<3v`yJqe&kp3{"
    "O9)>6igJ`!ptM-P4+{s^+SNWO@V|GVz)ygSpup8WPV!Uk9faWE^3F#l%vW}Rqiv<98WKYT6I~5)A+5a%l^D)r!q}uHz$_E@I0-Dx"
    "$M{SFVoa1@rGY28Oq8YBHakp2G7ID5WBA#?gdl@4G@k$(^ATX!2T~Ic_l07=QHl4NTTO4yeSeX8Ie5}Ic};yuCBB9-w;J3H-0Y7f"
    "mQF<2KTE)`bIXq9Dm~k=OqH9y6->!cg}u1Y8MvAwtjC4dn%O1}N0MD#8W5MFOSb)jWZF3LT<GhrLHvfQTc&W1HCvH%LX+A|VymM{"
    "jyq5n5aX1WW?GK#IDZFR6xC|S^*w)g+(mec$PUUPgieqzPY`;DvRza}sEcx4&zH^q6CaVgFpF1C0{fc9i;LvWdN)bRi5?L-N*2)`"
    "iN;P(uAgeh8q!*3IVCktv`P+XQd)OgIdNCam6OeSIVB$!C!#j$ipG)MY#dD+X@WbOim$A0eNrCDr8CEmr*!%7u`B9H8)K)<bkS}-"
    "!#w$dTg{PpOK&!6DaAPJ$VSm=HLAFFRu;|fIKa5_c1>3%7*llG9o&o8U#T{1*N-e^yEc@KQ|zdce!O;%XHDl6GD@$-vFB7~{rcho"
    ")Vy!t`Qmvr$?Z!wU!CE5H{v~2_2%0}d2g;t@CqVD6fEJC#4&Fv*u%-3q);pb#b^6M!KzTU-|~wT=Bq{sxOiV0ym3`$L+ST7q`|-%"
    "#fR#^)+{rg-rY=YruYp0)%#zFg#n)8zsSGUKNpG"
)


def test_what_a_newer_version_wrote_beside_is_not_read_and_hurts_nothing():
    dataset = load_example("wine")
    table = pq.read_table(io.BytesIO(to_bytes(dataset)))
    [(key, header)] = table.schema.metadata.items()
    added = {key: json.dumps(json.loads(header) | {"of_tomorrow": 1})}
    stream = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(added), stream)
    assert from_bytes(stream.getvalue()).fingerprint == dataset.fingerprint
