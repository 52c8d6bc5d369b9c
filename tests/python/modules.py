"""PyTorch modules as people write them by hand, for export_test.py. Each returns its loss."""
import math

import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, CONTEXT, BATCH, WIDTH = 37, 12, 2, 16


def next_token_loss(logits, targets):
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)


class WrittenAttention(nn.Module):
    """Attention as a product, a mask and a softmax."""

    def __init__(self, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.project = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("mask", torch.tril(torch.ones(CONTEXT, CONTEXT)).view(1, 1, CONTEXT, CONTEXT))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=2))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        y = F.softmax(scores, dim=-1) @ v
        return self.project(y.transpose(1, 2).contiguous().view(batch, length, width))


class Gpt(nn.Module):
    """With its table of tokens for a head, too."""

    def __init__(self, layers=2, dropout=0.0):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, WIDTH)
        self.wpe = nn.Embedding(CONTEXT, WIDTH)
        self.drop = nn.Dropout(dropout)
        self.attention = nn.ModuleList(WrittenAttention() for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2 * layers))
        self.mlp = nn.ModuleList(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
                                 for _ in range(layers))
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens, targets):
        x = self.drop(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1])))
        for i, (attention, mlp) in enumerate(zip(self.attention, self.mlp)):
            x = x + attention(self.norms[2 * i](x))
            x = x + mlp(self.norms[2 * i + 1](x))
        return next_token_loss(self.head(x), targets)


class RmsNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Llama(nn.Module):
    """Rotary angles, groups of heads, gated perceptron."""

    def __init__(self, heads=4, groups=2):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, WIDTH // heads
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = nn.Linear(WIDTH, groups * self.size, bias=False)
        self.v = nn.Linear(WIDTH, groups * self.size, bias=False)
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate, self.up = nn.Linear(WIDTH, 24, bias=False), nn.Linear(WIDTH, 24, bias=False)
        self.down = nn.Linear(24, WIDTH, bias=False)
        self.norm1, self.norm2 = RmsNorm(), RmsNorm()
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def rotated(self, x):
        angles = torch.outer(torch.arange(x.shape[2]).float(),
                             10000.0 ** (-torch.arange(0, self.size, 2).float() / self.size))
        angles = torch.cat([angles, angles], -1)
        half = x.shape[-1] // 2
        return x * angles.cos() + torch.cat([-x[..., half:], x[..., :half]], -1) * angles.sin()

    def forward(self, tokens, targets):
        batch, length = tokens.shape
        x = self.embed(tokens)
        y = self.norm1(x)
        heads = lambda part, count: part.view(batch, length, count, self.size).transpose(1, 2)
        q, k = self.rotated(heads(self.q(y), self.heads)), self.rotated(heads(self.k(y), self.groups))
        v = heads(self.v(y), self.groups)
        k, v = (part.repeat_interleave(self.heads // self.groups, dim=1) for part in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(y.transpose(1, 2).reshape(batch, length, WIDTH))
        y = self.norm2(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return next_token_loss(self.head(x), targets)


class Bert(nn.Module):
    """PyTorch's own encoder layer, kinds of tokens, and a padding row without a gradient."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.kinds = nn.Embedding(2, WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 2, 32, dropout=0.0, activation="gelu", batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens, targets):
        kinds = torch.zeros(tokens.shape, dtype=torch.long)
        x = self.words(tokens) + self.kinds(kinds) + self.positions(torch.arange(tokens.shape[1]).unsqueeze(0))
        return next_token_loss(self.head(self.layer(self.norm(x))), targets)


class Vit(nn.Module):
    """Patches by a convolution, and a token for the class."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(1, WIDTH, kernel_size=4, stride=4)
        self.cls = nn.Parameter(torch.randn(1, 1, WIDTH) * 0.02)
        self.positions = nn.Parameter(torch.randn(1, 5, WIDTH) * 0.02)
        self.attention = nn.MultiheadAttention(WIDTH, 2, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, pixels, targets):
        x = self.patches(pixels).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        y = self.norm(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return F.cross_entropy(self.head(x[:, 0]), targets)


class Lora(nn.Module):
    """Two factors beside a frozen linear layer."""

    def __init__(self, frozen, rank=2):
        super().__init__()
        self.frozen = frozen.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, frozen.in_features) * 0.02)
        self.up = nn.Parameter(torch.randn(frozen.out_features, rank) * 0.02)

    def forward(self, x):
        return self.frozen(x) + F.linear(F.linear(x, self.down), self.up)


def lora_gpt():
    """A gpt whose weights are frozen, with factors beside its products for queries, keys and values."""
    model = Gpt()
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for attention in model.attention:
        attention.qkv = Lora(attention.qkv)
    return model


class Albert(Gpt):
    """One layer, used three times."""

    def __init__(self):
        super().__init__(layers=1)
        self.attention = nn.ModuleList([self.attention[0]] * 3)
        self.mlp = nn.ModuleList([self.mlp[0]] * 3)
        self.norms = nn.ModuleList(list(self.norms) * 3)


class Words(nn.Module):
    """A table, a layer and a head, with a function between the layer and the head."""

    def __init__(self, function, **options):
        super().__init__()
        self.table = nn.Embedding(VOCABULARY, WIDTH, **options)
        self.layer = nn.Linear(WIDTH, WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)
        self.register_buffer("scale", torch.ones(WIDTH))
        self.function = function

    def x(self, tokens):
        return self.layer(self.table(tokens))

    def forward(self, tokens, targets):
        return next_token_loss(self.head(self.function(self, tokens)), targets)


def without_gradients(m, t):
    with torch.no_grad():
        x = m.x(t)
    return x


def in_bfloat16(m, t):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = m.x(t)
    return x.float()


def with_view(change):
    def function(m, t):
        x = m.x(t)
        change(x)
        return x
    return function


def padded():
    """Words with a padding row that is not zero."""
    words = Words(lambda m, t: m.x(t), padding_idx=0)
    nn.init.normal_(words.table.weight)
    return words
