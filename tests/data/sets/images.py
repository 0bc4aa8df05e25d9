"""Images with labels: folders, tables beside them, and tables that hold them."""

import io
import json

import numpy as np
import pandas as pd

from tests.data.sets.made import (
    CODES,
    FILES,
    IDS,
    NAMES,
    PARTS,
    SITES,
    TRUE_NAMES,
    Data,
    N,
    Proposed,
    Refused,
    csv,
    jsonl,
    layout,
    packed,
    picture,
    pictures,
)
from tests.data.sets.tables import parquet

FOLDERS = Data("image", width=3, in_order=False)
IN_PARTS = Data("image", width=3, in_order=False, parts=tuple(PARTS))
BESIDE = {f"{name}.jpg": picture(row) for row, name in enumerate(IDS)}
PATHS = [f"{name}.jpg" for name in IDS]
ONE_HOT = {name: [int(name == label) for label in TRUE_NAMES] for name in NAMES}


def beside(table: str, content: str | bytes, folder: str = "") -> bytes:
    """Images in one folder, and a table."""
    return packed({**{folder + path: content for path, content in BESIDE.items()}, table: content})


def named(label: str = "label", file: str = "file_name", files=PATHS, labels=TRUE_NAMES, **more) -> pd.DataFrame:
    return pd.DataFrame({file: files, label: labels, **more})


def structs(label=CODES) -> pd.DataFrame:
    return pd.DataFrame(
        {"image": [{"bytes": picture(row), "path": path} for row, path in enumerate(PATHS)], "label": label}
    )


def with_names(frame: pd.DataFrame) -> bytes:
    """A Parquet file with the names of classes, as Hugging Face's libraries write them."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(frame)
    told = {"info": {"features": {"label": {"names": NAMES, "_type": "ClassLabel"}}}}
    table = table.replace_schema_metadata({"huggingface": json.dumps(told)})
    stream = io.BytesIO()
    pyarrow.parquet.write_table(table, stream)
    return stream.getvalue()


LAYOUTS = [
    layout("torchvision 0.19", "ImageFolder", "pets.zip", packed(pictures("{label}/{id}.jpg")), FOLDERS),
    layout(
        "torchvision 0.19",
        "ImageFolder, in train and val",
        "pets.zip",
        packed(
            {
                f"{'val' if row % 3 == 0 else 'train'}/{name}/{row}.jpg": picture(row)
                for row, name in enumerate(TRUE_NAMES)
            }
        ),
        Data(
            "image", width=3, in_order=False, parts=tuple("validation" if row % 3 == 0 else "train" for row in range(N))
        ),
    ),
    layout(
        "Keras 3",
        "image_dataset_from_directory",
        "main.zip",
        packed(pictures("main_directory/class_{label}/{id}.png", "PNG")),
        Data("image", [f"class_{name}" for name in TRUE_NAMES], 3, in_order=False),
    ),
    layout(
        "fastai 2.7",
        "imagenette: train and val, and a table of noise",
        "imagenette2.zip",
        packed(
            {
                **pictures("imagenette2/{part}/{label}/{id}.JPEG"),
                "imagenette2/noisy_imagenette.csv": csv(
                    pd.DataFrame(
                        {
                            "path": [
                                f"{part}/{name}/{i}.JPEG" for part, name, i in zip(PARTS, TRUE_NAMES, IDS, strict=True)
                            ],
                            "noisy_labels_0": TRUE_NAMES,
                        }
                    )
                ),
            }
        ),
        IN_PARTS,
    ),
    layout(
        "Kaggle",
        "MNIST as PNG",
        "mnist_png.zip",
        packed(pictures("mnist_png/{part}/{code}/{row}.png", "PNG")),
        Data("image", [str(code) for code in CODES], 3, in_order=False, parts=tuple(PARTS)),
    ),
    layout(
        "Kaggle",
        "cats and dogs: the class in the file's name",
        "train.zip",
        packed(pictures("train/{label}.{row}.jpg")),
        Refused("folder"),
    ),
    layout(
        "Kaggle",
        "CIFAR-10: train/1.png and trainLabels.csv",
        "cifar.zip",
        packed(
            {
                **{f"train/{row + 1}.png": picture(row, "PNG") for row in range(N)},
                "trainLabels.csv": csv(named(file="id", files=range(1, N + 1))),
            }
        ),
        Data("image", width=3),
    ),
    layout(
        "Kaggle",
        "dog breeds: ids without ending, the label called breed",
        "dogs.zip",
        beside("labels.csv", csv(named("breed", "id", IDS)), "train/"),
        Proposed("breed"),
    ),
    layout(
        "Kaggle",
        "a label among other columns",
        "leaves.zip",
        beside(
            "train.csv",
            csv(named("species", "image", PATHS, height=range(N), note=["a leaf that was found today"] * N)),
            "images/",
        ),
        Proposed("species"),
    ),
    layout(
        "Roboflow",
        "folders of train, valid and test with a README",
        "pets.zip",
        packed(
            {
                **{
                    path.replace("validation/", "valid/"): content
                    for path, content in pictures("{part}/{label}/{id}_jpg.rf.0a1b.jpg").items()
                },
                "README.roboflow.txt": "pets",
            }
        ),
        IN_PARTS,
    ),
    layout(
        "Roboflow",
        "a column of 0 and 1 per class",
        "pets.zip",
        packed(
            {
                **{f"train/{path}": content for path, content in BESIDE.items()},
                "train/_classes.csv": csv(pd.DataFrame({"filename": PATHS, **ONE_HOT})),
            }
        ),
        Data("image", width=3),
    ),
    layout(
        "ISIC challenge",
        "GroundTruth.csv, a column of 1.0 and 0.0 per class",
        "isic.zip",
        beside(
            "ISIC_GroundTruth.csv",
            csv(pd.DataFrame({"image": IDS, **{name: map(float, values) for name, values in ONE_HOT.items()}})),
            "ISIC_Input/",
        ),
        Data("image", width=3),
    ),
    layout(
        "HAM10000",
        "metadata with lesion_id and dx",
        "ham.zip",
        beside(
            "HAM10000_metadata.csv",
            csv(named("dx", "image_id", IDS, lesion_id=[f"HAM_{row // 2}" for row in range(N)], age=[40.0] * N)),
            "images/",
        ),
        Proposed("dx"),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "imagefolder with metadata.csv",
        "pets.zip",
        beside("metadata.csv", csv(named())),
        Data("image", width=3),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "imagefolder with metadata.jsonl",
        "pets.zip",
        beside("train/metadata.jsonl", jsonl(named()), "train/"),
        Data("image", width=3),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "to_parquet of images and class names",
        "train.parquet",
        with_names(structs()),
        Data("image", width=3),
    ),
    layout(
        "Hugging Face datasets 3.0",
        "to_parquet of images called img, fine_label and coarse_label",
        "train.parquet",
        parquet(structs().rename(columns={"image": "img", "label": "fine_label"}).assign(coarse_label=CODES % 2)),
        Proposed("fine_label"),
    ),
    layout(
        "Teachable Machine",
        "samples of classes",
        "samples.zip",
        packed(pictures("{label}-samples/{row}.jpg")),
        Data("image", [f"{name}-samples" for name in TRUE_NAMES], 3, in_order=False),
    ),
    layout("Lobe", "a folder per label", "lobe.zip", packed(pictures("{label}/{id}.jpeg")), FOLDERS),
    layout(
        "Edge Impulse",
        "training and testing, labels in info.labels",
        "export.zip",
        packed(
            {
                **{
                    f"{'testing' if row % 4 == 0 else 'training'}/{name}.{row}.jpg": picture(row)
                    for row, name in enumerate(TRUE_NAMES)
                },
                "info.labels": "{}",
            }
        ),
        Refused("folders of classes"),
    ),
    layout(
        "CVAT 2",
        "ImageNet 1.0 with synsets.txt",
        "cvat.zip",
        packed({**pictures("{label}/{id}.jpg"), "synsets.txt": "\n".join(NAMES)}),
        FOLDERS,
    ),
    layout(
        "FiftyOne 1.0",
        "ImageClassificationDirectoryTree",
        "tree.zip",
        packed(pictures("tree/{label}/{id}.jpg")),
        FOLDERS,
    ),
    layout(
        "FiftyOne 1.0",
        "FiftyOneImageClassificationDataset: data and labels.json",
        "set.zip",
        packed(
            {
                **{f"data/{path}": content for path, content in BESIDE.items()},
                "labels.json": json.dumps({"classes": NAMES, "labels": dict(zip(IDS, CODES.tolist(), strict=True))}),
            }
        ),
        Refused("folder|class"),
    ),
    layout(
        "Label Studio 1.13",
        "CSV of images and a choice",
        "ls.zip",
        beside(
            "project.csv",
            csv(named("choice", "image", [f"/data/upload/1/{path}" for path in PATHS], id=range(N))),
            "images/",
        ),
        Proposed("choice"),
    ),
    layout(
        "Google Vertex AI",
        "import.csv of gs:// addresses",
        "vertex.zip",
        beside("import.csv", csv(named(file="path", files=[f"gs://bucket/{path}" for path in PATHS]))),
        Data("image", width=3),
    ),
    layout(
        "CUB-200",
        "numbered folders",
        "cub.zip",
        packed(pictures("images/{code:03}.{label}/{label}_{row:04}.jpg")),
        Data("image", [f"{code:03}.{name}" for code, name in zip(CODES, TRUE_NAMES, strict=True)], 3, in_order=False),
    ),
    layout(
        "WILDS 2.0",
        "metadata.csv with label, site and split",
        "wilds.zip",
        beside(
            "metadata.csv",
            csv(named(file="filename", site=SITES, split=["val" if part == "validation" else part for part in PARTS])),
            "images/",
        ),
        Data("image", width=3, n_sources=6, parts=tuple(PARTS)),
    ),
    layout(
        "PlantVillage",
        "folders of folders of classes",
        "plants.zip",
        packed({**pictures("raw/color/{label}/{id}.jpg"), **pictures("raw/grayscale/{label}/{id}.jpg")}),
        Refused("is .* the class"),
    ),
    layout(
        "ImageNet",
        "val, all in one folder",
        "val.zip",
        packed(pictures("val/ILSVRC2012_val_{row:08}.jpg")),
        Refused("folder"),
    ),
    layout(
        "macOS",
        "a folder of folders, packed by Finder",
        "pets.zip",
        packed({**pictures("pets/{label}/{id}.jpg"), "__MACOSX/pets/._a": b"\0", "pets/.DS_Store": b"\0"}),
        FOLDERS,
    ),
    layout(
        "Kaggle",
        "digit recognizer: a column per pixel",
        "train.csv",
        csv(pd.DataFrame({"label": CODES, **{f"pixel{at}": np.arange(N) * (at + 1) % 256 for at in range(36)}})),
        Data(labels=[str(code) for code in CODES], width=36),
    ),
]
del FILES
