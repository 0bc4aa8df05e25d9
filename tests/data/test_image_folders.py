"""A zip with a folder of images per class becomes the data set that was meant, or a sentence that says why not."""

import zipfile

import numpy as np
import pytest

from core.data import DataError, read_dataset
from core.data.limits import Limits
from tests.data.uploads import noise, picture, zipped
from tests.data.uploads import upload as named

NOISE = noise()


def test_image_folders():
    files = {f"set/{label}/{n}.png": picture(10 * n) for label in ("10", "9") for n in range(3)}
    clutter = {"__MACOSX/set/9/._0.png": b"", "set/.DS_Store": b"", "set/9/Thumbs.db": b"", "set/read me.txt": b"hi"}
    dataset = read_dataset(zipped({**files, **clutter}))
    assert (dataset.kind, dataset.x.shape, dataset.scale) == ("image", (6, 3, 4, 1), 255.0)
    assert dataset.class_names == ("9", "10")
    assert dataset.ids.tolist() == [f"{label}/{n}.png" for label in ("10", "9") for n in range(3)]
    assert np.array_equal(dataset.x[2], np.full((3, 4, 1), np.float32(20) / np.float32(255)))


def test_folders_without_a_folder_around_them_and_one_class_alone():
    assert read_dataset(zipped({"cat/1.jpg": picture(form="JPEG"), "dog/1.PNG": picture()})).class_names == (
        "cat",
        "dog",
    )
    with pytest.raises(DataError, match=r"pets\.zip: the folders: 'cat' is the only class"):
        read_dataset(zipped({"set/cat/1.png": picture(), "set/cat/2.png": picture()}))


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [("RGB", (255, 0, 51), [1, 0, 0.2]), ("RGBA", (255, 0, 51, 255), [1, 0, 0.2]), ("P", 0, [0, 0, 0])],
)
def test_colour_images_have_three_channels_and_grey_ones_join_them(mode, colour, expected):
    dataset = read_dataset(
        zipped({"a/1.png": picture(colour, mode), "b/1.png": picture(51), "b/2.png": picture(1, "1")})
    )
    assert dataset.x.shape == (3, 3, 4, 3)
    assert np.array_equal(dataset.x[:, 0, 0], np.array([expected, [0.2] * 3, [1] * 3], dtype=np.float32))


ZIPS = {
    "no image": ({"a/x.txt": b""}, "there is no PNG or JPEG image in it"),
    "nothing": ({}, "there is no PNG or JPEG image in it"),
    "no folder": (
        {"1.png": picture(), "a/1.png": picture()},
        "1.png does not lie in a folder of its class, as CLASS/1.png",
    ),
    "too deep": ({"a/x/1.png": picture(), "b/1.png": picture()}, "a/x/1.png does not lie in a folder of its class"),
    "other format": ({"a/1.png": picture(), "b/1.gif": b"GIF"}, "b/1.gif is no PNG or JPEG image. Convert it"),
    "unreadable": ({"a/1.png": picture(), "b/1.png": b"\x89PNG"}, "b/1.png cannot be read as an image"),
    "cut": ({"a/1.png": NOISE, "b/1.png": NOISE[:-50]}, "b/1.png cannot be read as an image"),
    "gif in disguise": ({"a/1.png": picture(form="GIF"), "b/1.png": picture()}, "a/1.png cannot be read as an image"),
    "other size": (
        {"a/1.png": picture(), "a/2.png": picture(size=(5, 3)), "b/1.png": picture()},
        "a/2.png has 5 × 3 pixels, but a/1.png has 4 × 3. All images must have one size",
    ),
    "transparent": (
        {"a/1.png": picture((1, 2, 3, 4), "RGBA"), "b/1.png": picture()},
        "a/1.png is transparent in places",
    ),
    "16 bits": ({"a/1.png": picture(1, "I;16"), "b/1.png": picture()}, "a/1.png has more than 8 bits per pixel"),
    "climbs": ({"../a/1.png": picture()}, "entry '../a/1.png' leads out of the archive's folder"),
    "climbs inside": ({"a/../../1.png": picture()}, "leads out of the archive's folder"),
    "absolute": ({"/etc/1.png": picture()}, "entry '/etc/1.png' leads out"),
    "backslashes": ({"a\\..\\..\\1.png": picture()}, "leads out"),
    "drive": ({"C:/a/1.png": picture()}, "leads out"),
}


@pytest.mark.parametrize(("files", "message"), ZIPS.values(), ids=ZIPS)
def test_zips_that_cannot_be_used(files, message):
    with pytest.raises(DataError, match=f"pets.zip: .*{message}"):
        read_dataset(zipped(files))


def test_the_same_entry_twice_is_refused():
    file = zipped({"a/1.png": picture(), "b/1.png": picture()})
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("a/1.png", picture())
    with pytest.raises(DataError, match=r"a/1\.png is in the archive twice"):
        read_dataset(file)


def test_a_zip_that_unpacks_beyond_the_limit_is_stopped():
    padded = picture() + b"\0" * 3_000_000  # decoders pass over what follows the image
    with pytest.raises(DataError, match=r"b/1\.png unpacks beyond the limit of 4 MiB in all"):
        read_dataset(zipped({"a/1.png": padded, "b/1.png": padded}), limits=Limits(unpacked_bytes=2**22))
    big = picture(size=(2000, 2000))
    assert len(big) < 50_000
    with pytest.raises(DataError, match=r"a/1\.png: 2 images of 2000 × 2000 pixels unpack beyond the limit of 16 MiB"):
        read_dataset(zipped({"a/1.png": big, "b/1.png": big}), limits=Limits(unpacked_bytes=2**24))


def test_a_size_that_an_entry_claims_is_not_believed():
    file = zipped({"a/1.png": picture() + b"\0" * 3_000_000, "b/1.png": picture()})
    content = file.getvalue().replace((len(picture()) + 3_000_000).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    with pytest.raises(DataError, match=r"a/1\.png (cannot be unpacked|unpacks beyond)"):
        read_dataset(named(content, "pets.zip"), limits=Limits(unpacked_bytes=2**20))


def test_too_many_images_are_refused():
    with pytest.raises(DataError, match="more than 1 images"):
        read_dataset(zipped({"a/1.png": picture(), "b/1.png": picture()}), limits=Limits(samples=1))
