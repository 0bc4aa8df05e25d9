"""A sentence encoder is read from a folder: a safe one, on this machine."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from touchstone.core.data import DataError
from touchstone.core.represent.word_vectors import sentence_vectors


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """What a folder looks like from outside; the weights are none."""
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text("{}")
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    (tmp_path / "modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Pooling"}]))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("pytorch_model.bin", b"", "pickle can run code"),
        ("1_Pooling/weights.pt", b"", "pickle can run code"),
        ("modeling.py", b"print('run')", "brings code along"),
        ("modules.json", b'[{"type": "evil.Module"}]', "'evil.Module', which is no part"),
        ("modules.json", b'{"type": 1}', "no list of modules"),
        ("modules.json", b"{", "no list of modules"),
        ("1_Pooling/config.json", b'{"activation_function": "os.abort"}', "'os.abort' is named, which may be imported"),
        ("router_config.json", b'{"types": {"query": ["sentence_transformers.x", "evil.Module"]}}', "'evil.Module'"),
        ("config.json", b'{"auto_map": {"AutoModel": "modeling.Model"}}', "'modeling.Model'"),
        ("config.json", b"{", "this is no JSON"),
    ],
)
def test_a_folder_that_could_run_code_is_refused_before_anything_is_loaded(model, monkeypatch, name, content, words):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    (model / name).write_bytes(content)
    with pytest.raises(DataError, match=words):
        sentence_vectors(["a red fox"], model)


def test_names_of_the_library_s_own_parts_and_versions_are_none_of_code(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    config = {
        "_name_or_path": "somebody/all-MiniLM-L6-v2.1",
        "hidden_act": "gelu",
        "transformers_version": "4.8.1",
        "activation_function": "torch.nn.modules.activation.Tanh",
        "tokenizer_class": "sentence_transformers.models.tokenizer.WhitespaceTokenizer",
        "prompts": {"query": "Represent this. Then stop."},
    }
    (model / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match="is not installed here"):
        sentence_vectors(["a red fox"], model)


def test_a_folder_without_weights_is_refused(model):
    (model / "model.safetensors").unlink()
    with pytest.raises(DataError, match="no weights"):
        sentence_vectors(["a red fox"], model)


def test_without_the_library_the_message_says_how_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(DataError, match="Run `pip install sentence-transformers`"):
        sentence_vectors(["a red fox"], model)


def tiny_model(folder: Path) -> None:
    """A transformer with random weights and a vocabulary of a few words."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = ["[PAD]", "[UNK]", "red", "fox", "blue", "sky"]
    tokenizer = Tokenizer(models.WordLevel({word: code for code, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(BertConfig(vocab_size=len(words), **size)).save_pretrained(folder / "bert")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]").save_pretrained(
        folder / "bert"
    )
    SentenceTransformer(modules=[Transformer(str(folder / "bert")), Pooling(16)], device="cpu").save(str(folder / "st"))


def test_a_real_model_gives_one_vector_per_text_and_always_the_same(tmp_path):
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is optional: it encodes texts")
    tiny_model(tmp_path)
    texts = ["red fox", "blue sky", "red fox"]
    vectors = sentence_vectors(texts, tmp_path / "st")
    assert vectors.shape == (3, 16)
    np.testing.assert_allclose(vectors[0], vectors[2], rtol=1e-5)
    assert np.abs(vectors[0] - vectors[1]).max() > 0.01
    assert vectors.tobytes() == sentence_vectors(texts, tmp_path / "st").tobytes()
