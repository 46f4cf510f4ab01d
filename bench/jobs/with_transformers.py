"""A job of transformers: a model of language with random weights."""

import torch
from checks import require
from transformers import BertConfig, BertModel


def bert_inference(size):
    torch.manual_seed(1)
    width = 8 * size(64)
    config = BertConfig(hidden_size=width, num_hidden_layers=6, num_attention_heads=8, intermediate_size=4 * width)
    model = BertModel(config).eval()
    tokens = torch.randint(0, config.vocab_size, (size(32), size(128)))
    with torch.no_grad():
        first = model(tokens).last_hidden_state
        for _ in range(2):
            again = model(tokens).last_hidden_state
    require(bool(torch.isfinite(first).all()), "the hidden states")
    require((first - again).abs().max().item() < 1e-2, "the same tokens once more")
