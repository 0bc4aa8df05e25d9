"""A zip with a folder of images per class becomes the data set that was meant, or a sentence that says why not."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.data.uploads import noise, picture, zipped
from tests.data.uploads import upload as named
from touchstone.core.data import DataError, RolesNeeded, read_dataset
from touchstone.core.data.errors import SizeNeeded
from touchstone.core.data.limits import Limits
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.data.tables.roles import DatasetRoles

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
    "no image": ({"a/x.md": b""}, "there is no PNG or JPEG image in it"),
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


# Layouts beyond a folder for each class


def test_folders_of_parts_are_kept_as_the_part():
    files = {
        f"pets/{part}/{label}/{n}.png": picture(n)
        for part in ("train", "valid", "Test")
        for label in "ab"
        for n in (0, 1)
    }
    dataset = read_dataset(zipped(files | {"pets/Test/9.png": picture()}))
    assert (dataset.class_names, dataset.n_samples, dataset.sources) == (("a", "b"), 12, None)
    assert set(zip(dataset.ids, dataset.part, strict=True)) >= {
        ("train/a/0.png", "train"),
        ("valid/b/1.png", "validation"),
    }
    assert "Parts that the file itself marks: 4 of train, 4 of validation, 4 of test." in dataset.notes
    assert "Images in no folder of a class were left out: 1." in dataset.notes
    with pytest.raises(DataError, match="called test and train, and no folders of classes are in them"):
        read_dataset(zipped({"train/1.png": picture(), "test/1.png": picture()}))


def test_folders_in_those_of_classes_are_sources():
    files = {f"{label}/{label}{folder}/{n}.png": picture() for label in "ab" for folder in (1, 2) for n in (0, 1)}
    dataset = read_dataset(zipped(files))
    assert dataset.class_names == ("a", "b")
    assert dict(zip(dataset.ids, dataset.sources, strict=True))["b/b2/0.png"] == "b2"
    assert "Sources are the 4 folders in the classes' folders." in dataset.notes
    one_each = read_dataset(zipped({f"{label}/images/{n}.png": picture() for label in "ab" for n in (0, 1)}))
    assert (one_each.class_names, one_each.sources) == (("a", "b"), None)


def test_folders_that_may_be_classes_or_sources_are_never_guessed():
    files = {
        f"{outer}/{inner}/{n}.png": picture()
        for outer in ("monday", "friday")
        for inner in ("cat", "dog")
        for n in (0, 1)
    }
    with pytest.raises(
        DataError, match=r"is 'friday' or 'cat' the class\? Folders such as '(cat|dog)' lie in 2 others"
    ):
        read_dataset(zipped(files))


METADATA = (
    "file_name,label,patient,split\n0.png,cat,p1,train\n1.png,dog,p1,train\n2.png,cat,p2,test\n3.png,dog,p2,test\n"
)
TABLES = {
    "beside": {"metadata.csv": METADATA},
    "above": {"metadata.csv": METADATA.replace("\n0", "\nimages/0").replace("\n1", "\nimages/1")},
    "without ending": {"labels.csv": METADATA.replace(".png", "").replace("file_name", "id")},
    "lines": {
        "set/metadata.jsonl": "".join(
            f'{{"file_name": "{n}.png", "label": "{["cat", "dog"][n % 2]}", "patient": "p{n // 2 + 1}", '
            f'"split": "{["train", "test"][n // 2]}"}}\n'
            for n in range(4)
        )
    },
}


@pytest.mark.parametrize("tables", TABLES.values(), ids=TABLES)
def test_a_table_in_the_archive_names_the_labels_sources_and_parts(tables):
    folder = "images/" if "metadata.csv" in tables and "images/" in tables["metadata.csv"] else ""
    folder = "set/" if "set/metadata.jsonl" in tables else folder
    files = {f"{folder}{n}.png": picture(51 * n) for n in range(4)}
    dataset = read_dataset(zipped(files | {name: text.encode() for name, text in tables.items()}))
    assert (dataset.kind, dataset.class_names, dataset.y.tolist()) == ("image", ("cat", "dog"), [0, 1, 0, 1])
    assert dataset.x[:, 0, 0, 0].tolist() == pytest.approx([0, 0.2, 0.4, 0.6])
    assert dataset.sources.tolist() == ["p1", "p1", "p2", "p2"]
    assert dataset.part.tolist() == ["train", "train", "test", "test"]
    assert dataset.ids.tolist() == [f"{folder}{n}.png" for n in range(4)]


def test_tables_for_each_part_are_one_and_rows_without_image_are_named():
    files = {f"{part}/{n}.png": picture() for part in ("train", "test") for n in (0, 1)}
    tables = {f"{part}/metadata.csv": b"file_name,label\n0.png,cat\n1.png,dog\n" for part in ("train", "test")}
    dataset = read_dataset(zipped(files | tables))
    assert sorted(zip(dataset.ids, dataset.part, strict=True))[0] == ("test/0.png", "test")
    assert dataset.n_per_class.tolist() == [2, 2]
    with pytest.raises(DataError, match=r"metadata\.csv, line 3: there is no image '1\.png' in the archive"):
        read_dataset(
            zipped(
                {
                    "0.png": picture(),
                    "2.png": picture(),
                    "metadata.csv": b"file_name,label\n0.png,a\n1.png,b\n2.png,a\n",
                }
            )
        )
    with pytest.raises(RolesNeeded, match=r"metadata\.csv: which column holds the label\?"):
        read_dataset(
            zipped({"0.png": picture(), "1.png": picture(), "metadata.csv": b"file_name,odd\n0.png,a\n1.png,b\n"})
        )
    files = {"0.png": picture(), "1.png": picture(), "more.png": picture()}
    left = read_dataset(zipped(files | {"metadata.csv": b"file_name,label\n0.png,a\n1.png,b\n"}))
    assert "Images that no row names were left out: 1." in left.notes
    named_roles = read_dataset(
        zipped({"0.png": picture(), "1.png": picture(), "metadata.csv": b"file_name,odd\n0.png,a\n1.png,b\n"}),
        roles=DatasetRoles(label="odd"),
    )
    assert named_roles.class_names == ("a", "b")


CLASS_FOLDERS = {f"{label}/{label}{n}.png": picture(51 * n) for label in ("cat", "dog") for n in (1, 2)}
ROWS_OF_SIZES = "file,width\n" + "".join(f"{path.split('/')[1]},{n}\n" for n, path in enumerate(CLASS_FOLDERS))


@pytest.mark.parametrize("table", ["Please read me, friend, twice\nfirst\n", ROWS_OF_SIZES, "one column\n"])
def test_a_table_that_says_no_label_leaves_folders_of_classes_alone(table):
    dataset = read_dataset(zipped(CLASS_FOLDERS | {"README.csv": table.encode()}))
    assert (dataset.class_names, dataset.n_per_class.tolist()) == (("cat", "dog"), [2, 2])
    assert any(note == "Not used, since the folders say the classes: README.csv." for note in dataset.notes)


def test_a_table_of_labels_beats_folders_and_its_faults_are_said():
    rows = "".join(f"{path.split('/')[1]},{'ab'[n % 2]}\n" for n, path in enumerate(CLASS_FOLDERS))
    by_column = read_dataset(zipped(CLASS_FOLDERS | {"list.csv": f"file,label\n{rows}".encode()}))
    assert by_column.class_names == ("a", "b")
    with pytest.raises(DataError, match=r"metadata\.csv, line 1: one column only"):
        read_dataset(zipped(CLASS_FOLDERS | {"metadata.csv": b"one column\n"}))


def labels_in_parquet(names: list[str], paths: list[str]) -> bytes:
    features = {"label": {"names": names, "_type": "ClassLabel"}}
    table = pa.table({"file_name": paths, "label": [0, 1]})
    stream = io.BytesIO()
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(table.replace_schema_metadata(metadata), stream)
    return stream.getvalue()


def test_tables_in_an_archive_keep_names_of_classes_and_parts():
    pictures = {f"images/{n}.png": picture() for n in range(4)}
    tables = {
        f"{part}.parquet": labels_in_parquet(["cat", "dog"], paths)
        for part, paths in (("train", ["0.png", "1.png"]), ("test", ["2.png", "3.png"]))
    }
    dataset = read_dataset(zipped(pictures | tables))
    assert dataset.class_names == ("cat", "dog")
    assert dict(zip(dataset.ids, dataset.part, strict=True))["images/3.png"] == "test"
    other = {"test.parquet": labels_in_parquet(["dog", "cat"], ["2.png", "3.png"])}
    with pytest.raises(DataError, match="name their classes differently"):
        read_dataset(zipped(pictures | tables | other))


def test_tables_in_an_archive_keep_what_reading_noted_and_the_limits():
    pictures = {f"{n}.png": picture() for n in range(4)}
    odd_letters = "file_name,label\n0.png,caf\xe9\n1.png,the\n2.png,caf\xe9\n3.png,the\n".encode("latin-1")
    files = pictures | {"metadata.csv": odd_letters}
    assert any("Windows-1252" in note for note in read_dataset(zipped(files)).notes)
    with pytest.raises(DataError, match=r"metadata\.csv: .*more than 3 rows"):
        read_dataset(zipped(files), limits=Limits(samples=3))


def test_mixed_sizes_are_resized_only_when_asked_and_it_is_said_how():
    files = {"a/1.png": picture(255), "a/2.png": picture(255, size=(5, 9)), "b/1.png": picture(0, "RGB", size=(7, 7))}
    with pytest.raises(SizeNeeded) as needed:
        read_dataset(zipped(files))
    assert needed.value.size == (3, 4)
    dataset = read_dataset(zipped(files), image_size=(6, 5))
    assert dataset.x.shape == (3, 6, 5, 3)
    assert dataset.x[:, 0, 0, 0].tolist() == [1, 1, 0]
    assert dataset.notes[2] == "Images of 3 sizes were resized to 5 × 6 pixels, bilinearly; proportions were not kept."
    with pytest.raises(DataError, match="unpack beyond the limit"):
        read_dataset(
            zipped({"a/1.png": picture(size=(2000, 2000)), "b/1.png": picture()}),
            image_size=(2, 2),
            limits=Limits(unpacked_bytes=2**23),
        )


def parquet(images, labels, **more) -> bytes:
    stream = io.BytesIO()
    table = pa.table({"image": images, "label": labels, **more})
    described = {"info": {"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(described)}), stream)
    return stream.getvalue()


def test_parquet_with_packed_images_is_a_data_set_of_images():
    pictures = [picture(51 * n) for n in range(4)]
    structs = [{"bytes": content, "path": f"{n}.png"} for n, content in enumerate(pictures)]
    dataset = read_dataset(named(parquet(structs, [0, 1, 1, 0], subject=["x", "x", "y", "y"]), "p.parquet"))
    assert (dataset.kind, dataset.class_names, dataset.y.tolist()) == ("image", ("cat", "dog"), [0, 1, 1, 0])
    assert (dataset.x.shape, dataset.scale) == ((4, 3, 4, 1), 255.0)
    assert dataset.ids.tolist() == [f"{n}.png" for n in range(4)]
    assert dataset.sources.tolist() == list("xxyy")
    raw = read_dataset(named(parquet(pictures, [0, 1, 1, 0]), "p.parquet"))
    assert np.array_equal(raw.x, dataset.x)
    assert raw.ids.tolist() == list("0123")
    with pytest.raises(DataError, match=r"p\.parquet: row 2 cannot be read as an image"):
        read_dataset(named(parquet([pictures[0], b"\x89PNG"], [0, 1]), "p.parquet"))
    with pytest.raises(SizeNeeded, match=r"p\.parquet: row 2 has 20 × 20 pixels, but row 1 has 4 × 3"):
        read_dataset(named(parquet([pictures[0], NOISE], [0, 1]), "p.parquet"))
    small = read_dataset(named(parquet([pictures[0], NOISE], [0, 1]), "p.parquet"), image_size=(2, 2))
    assert small.x.shape == (2, 2, 2, 1)
    assert from_bytes(to_bytes(dataset)).fingerprint == dataset.fingerprint


KERAS = {
    "x_train": np.arange(24, dtype=np.uint8).reshape(3, 2, 4) * 10,
    "y_train": [0, 1, 2],
    "x_test": np.zeros((2, 2, 4), np.uint8),
    "y_test": [2, 1],
}


def npz(**arrays) -> io.BytesIO:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return named(stream.getvalue(), "a.npz")


def test_arrays_for_each_part_are_joined_and_kept_as_the_part():
    dataset = read_dataset(npz(**KERAS, class_names=["a", "b", "c"]))
    assert (dataset.x.shape, dataset.y.tolist(), dataset.class_names) == (
        (5, 2, 4, 1),
        [0, 1, 2, 2, 1],
        ("a", "b", "c"),
    )
    assert dataset.part.tolist() == ["train"] * 3 + ["test"] * 2
    assert dataset.ids.tolist() == ["train 0", "train 1", "train 2", "test 0", "test 1"]
    assert "Parts that the file itself marks: 3 of train, 2 of test." in dataset.notes
    spelled = {
        "train_images": KERAS["x_train"],
        "train_labels": KERAS["y_train"],
        "test_images": KERAS["x_test"],
        "test_labels": KERAS["y_test"],
    }
    assert read_dataset(npz(**spelled)).fingerprint == read_dataset(npz(**KERAS)).fingerprint
    unlabelled = read_dataset(npz(**KERAS, x_val=np.zeros((2, 2, 4), np.uint8)))
    assert "Not used: x_val." in unlabelled.notes
    with pytest.raises(DataError, match=r"'x_train' and that of another part differ in shape: \(3, 2, 4\), \(2, 5\)"):
        read_dataset(npz(**KERAS | {"x_test": np.zeros((2, 5))}))
    with pytest.raises(DataError, match=r"'y_test' holds 3 values, but there are 2 samples"):
        read_dataset(npz(**KERAS | {"y_test": [1, 2, 0]}))


@pytest.mark.parametrize(
    "more",
    [{"is_train": [1, 0, 1, 0], "is_test": [0, 1, 0, 1]}, {"a": [1, 0, 1, 0], "b": [0, 1, 0, 1], "odd": list("ccdd")}],
)
def test_columns_of_0_and_1_are_no_label_where_they_may_be_anything_else(more):
    table = pd.DataFrame({"file_name": [f"{row}.png" for row in range(4)], **more}).to_csv(index=False)
    files = {f"{row}.png": picture() for row in range(4)} | {"metadata.csv": table.encode()}
    with pytest.raises(RolesNeeded, match="which column holds the label"):
        read_dataset(zipped(files))


def test_a_readme_beside_the_only_table_of_a_zip_is_passed_over():
    files = {"wine.csv": b"size,label\n1,a\n2,b\n", "README.txt": b"about,this\nwine,it\n", "LICENSE.md": b"-"}
    dataset = read_dataset(zipped(files))
    assert (dataset.name, dataset.class_names, dataset.notes[0]) == ("pets", ("a", "b"), "Label: column 'label'.")
    with pytest.raises(DataError, match=r"pets.zip: there are 2 tables in it, more.tsv, wine.csv. Give one of them"):
        read_dataset(zipped(files | {"more.tsv": b"size\tlabel\n"}))
