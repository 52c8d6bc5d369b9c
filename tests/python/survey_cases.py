"""The cases of survey.py: {name: function that makes (module, example, options of ostraka.export)}."""
import functools
import math

import torch
from torch import nn
from torch.nn import functional as F

import modules

KINDS, POSITIONS, BATCH = 64, 16, 2


def tokens(kinds=KINDS, positions=POSITIONS):
    return tuple(torch.randint(0, kinds, (BATCH, positions)) for _ in range(2))


def image(side=32, channels=3, classes=10):
    return torch.randn(BATCH, channels, side, side), torch.randint(0, classes, (BATCH,))


LOGITS = {"loss": "cross_entropy"}


# transformers

def language_model(kind, auto="AutoModelForCausalLM", train=False, **options):
    import transformers
    sizes = {"vocab_size": KINDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": 48, "max_position_embeddings": 32}
    sizes |= options
    known = transformers.AutoConfig.for_model(kind)
    names = set(known.to_dict()) | set(known.attribute_map)
    config = transformers.AutoConfig.for_model(kind, **{k: v for k, v in sizes.items() if k in names or k in options})
    return getattr(transformers, auto).from_config(config).train(train), tokens(), LOGITS


CAUSAL = {
    "GPT-2": ("gpt2", {}), "GPT-NeoX": ("gpt_neox", {}),
    "GPT-Neo": ("gpt_neo", {"attention_types": [[["global", "local"], 1]], "window_size": 4}),
    "GPT-J": ("gptj", {"rotary_dim": 4}), "Llama": ("llama", {}), "Mistral": ("mistral", {"sliding_window": 8, "num_key_value_heads": 2}),
    "Qwen2": ("qwen2", {"num_key_value_heads": 2}), "Qwen3": ("qwen3", {"num_key_value_heads": 2, "head_dim": 8}),
    "Phi": ("phi", {}), "StableLM": ("stablelm", {"num_key_value_heads": 4}), "OLMo2": ("olmo2", {
        "pad_token_id": None, "eos_token_id": 1}),
    "OPT": ("opt", {"ffn_dim": 48, "word_embed_proj_dim": 32}), "Gemma": ("gemma", {"head_dim": 8, "num_key_value_heads": 2}),
    "Gemma2": ("gemma2", {"head_dim": 8, "num_key_value_heads": 2, "query_pre_attn_scalar": 8}),
    "Gemma3": ("gemma3_text", {"head_dim": 8, "num_key_value_heads": 2, "query_pre_attn_scalar": 8}),
    "SmolLM3": ("smollm3", {"num_key_value_heads": 2, "pad_token_id": 3, "bos_token_id": 1, "eos_token_id": 2}),
    "Cohere": ("cohere", {"num_key_value_heads": 4}), "Phi3": ("phi3", {"pad_token_id": 0, "num_key_value_heads": 4}),
    "Bart, causal": ("bart", {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "decoder_attention_heads": 2,
                              "encoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}),
    "Falcon": ("falcon", {"new_decoder_architecture": False}), "Falcon, ALiBi": ("falcon", {"alibi": True}),
    "BLOOM": ("bloom", {"n_head": 4, "n_layer": 2}), "Mixtral": ("mixtral", {"num_local_experts": 4, "num_key_value_heads": 2}),
    "GPT-OSS": ("gpt_oss", {"num_local_experts": 4, "num_key_value_heads": 2, "head_dim": 8}),
    "Mamba": ("mamba", {}), "Mamba 2": ("mamba2", {"num_heads": 8, "head_dim": 8, "n_groups": 1, "state_size": 8}),
    "RWKV": ("rwkv", {"attention_hidden_size": 32}), "Qwen2-MoE": ("qwen2_moe", {"num_experts": 4, "num_key_value_heads": 4,
                                                                                  "moe_intermediate_size": 16,
                                                                                  "shared_expert_intermediate_size": 16}),
}
MASKED = {
    "BERT": ("bert", {}), "BERT without padding": ("bert", {"pad_token_id": None}), "ALBERT": ("albert", {
        "embedding_size": 16}), "DistilBERT": ("distilbert", {}), "ELECTRA": ("electra", {"embedding_size": 16}),
    "ModernBERT": ("modernbert", {"pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2, "bos_token_id": 1,
                                  "eos_token_id": 2}),
    "RoBERTa": ("roberta", {"max_position_embeddings": 40}), "DeBERTa": ("deberta", {}),
    "DeBERTa v2": ("deberta-v2", {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
}


def sequence_classification(kind):
    module, (given, _), options = language_model(kind, "AutoModelForSequenceClassification", num_labels=3)
    return module, (given, torch.randint(0, 3, (BATCH,))), options


class Pair(nn.Module):
    """An encoder and a decoder, of one text."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, source, target, targets):
        logits = self.model(input_ids=source, decoder_input_ids=target).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def pair(kind, labels=False):
    import transformers
    sizes = {"t5": dict(d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, dropout_rate=0.0,
                        decoder_start_token_id=0),
             "bart": dict(d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                          decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=32)}
    config = transformers.AutoConfig.for_model(kind, vocab_size=KINDS, **sizes[kind])
    model = transformers.AutoModelForSeq2SeqLM.from_config(config).eval()
    if labels:
        first, last = tokens()
        return model, {"input_ids": first, "labels": last}, {}
    return Pair(model), (tokens()[0], *tokens()), {}


PADDED = ("bert", "roberta", "distilbert", "electra", "gpt2", "llama")


def padded(kind):
    """Sentences of different lengths, their mask and a class of each, as people train them: with dropout."""
    import transformers
    sizes = {"gpt2": dict(n_embd=32, n_layer=1, n_head=2, n_positions=32, pad_token_id=0),
             "distilbert": dict(dim=32, n_layers=1, n_heads=2, hidden_dim=48, max_position_embeddings=32),
             "llama": dict(hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2,
                           num_key_value_heads=2, pad_token_id=0)}
    usual = dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=48,
                 max_position_embeddings=32)
    config = transformers.AutoConfig.for_model(kind, vocab_size=KINDS, num_labels=3, **sizes.get(kind, usual))
    model = transformers.AutoModelForSequenceClassification.from_config(config).train()
    words = torch.randint(2, KINDS, (4, 12))
    seen = torch.arange(12) < torch.tensor([12, 5, 1, 9])[:, None]
    return model, {"input_ids": words * seen, "attention_mask": seen.long(), "targets": torch.randint(0, 3, (4,))}, LOGITS


def vision(kind, **more):
    import transformers
    sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32,
                 patch_size=8, num_labels=10) | more
    config = transformers.AutoConfig.for_model(kind, **{name: x for name, x in sizes.items() if x is not None})
    named = {"vit": "ViT", "deit": "DeiT", "beit": "Beit", "dinov2": "Dinov2", "swin": "Swin", "resnet": "ResNet"}[kind]
    return getattr(transformers, f"{named}ForImageClassification")(config).eval(), image(), LOGITS


def swin():
    return vision("swin", num_attention_heads=None, num_hidden_layers=None, hidden_size=None, embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4, patch_size=2)


def resnet_of_transformers():
    return vision("resnet", embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")


class MeanOf(nn.Module):
    """Of what an encoder returns, to classes."""

    def __init__(self, encoder, width, classes=10):
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(width, classes)

    def forward(self, x, targets):
        return F.cross_entropy(self.head(self.encoder(x).last_hidden_state.mean(1)), targets)


def whisper():
    import transformers
    config = transformers.WhisperConfig(d_model=32, encoder_layers=1, encoder_attention_heads=4, encoder_ffn_dim=48,
                                        decoder_attention_heads=4, num_mel_bins=8, max_source_positions=10, vocab_size=KINDS, decoder_layers=1,
                                        pad_token_id=0)
    encoder = transformers.WhisperModel(config).encoder.eval()
    return MeanOf(encoder, 32), (torch.randn(BATCH, 8, 20), torch.randint(0, 10, (BATCH,))), {}


def wav2vec2():
    import transformers
    config = transformers.Wav2Vec2Config(hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48,
                                         conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3), vocab_size=KINDS,
                                         num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4)
    return (MeanOf(transformers.Wav2Vec2Model(config).eval(), 32),
            (torch.randn(BATCH, 200), torch.randint(0, 10, (BATCH,))), {})


def clip_text():
    import transformers
    config = transformers.CLIPTextConfig(vocab_size=KINDS, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                         num_attention_heads=4, max_position_embeddings=POSITIONS, eos_token_id=2)
    return (MeanOf(transformers.CLIPTextModel(config).eval(), 32), (tokens()[0], torch.randint(0, 10, (BATCH,))), {})


# timm

def timm_model(name, train=False, side=32, **more):
    import timm
    module = timm.create_model(name, num_classes=10, **more)
    return module.train(train), image(side), LOGITS


SMALL_VIT = {"img_size": 32, "patch_size": 8, "embed_dim": 32, "depth": 2, "num_heads": 4}
TIMM = {
    "vit": ("vit_tiny_patch16_224", SMALL_VIT), "deit": ("deit_tiny_patch16_224", SMALL_VIT),
    "cait": ("cait_xxs24_224", SMALL_VIT), "eva02": ("eva02_tiny_patch14_224", SMALL_VIT),
    "Mixer": ("mixer_s32_224", {"img_size": 64, "side": 64}),
    "ResNet-18, eval": ("resnet18", {}), "ResNet-18, train": ("resnet18", {"train": True}),
    "ResNet-18, GroupNorm": ("resnet18", {"norm_layer": "groupnorm"}), "ResNet-18, CIFAR stem": ("resnet18", {
        "train": True, "stem": "cifar"}),
    "EfficientNet-b0": ("efficientnet_b0", {"drop_path_rate": 0.0}),
    "ConvNeXt-atto": ("convnext_atto", {}), "MobileNetV3": ("mobilenetv3_small_050", {}),
    "MobileNetV3, train": ("mobilenetv3_small_050", {"train": True, "drop_rate": 0.0}),
    "Swin": ("swin_tiny_patch4_window7_224", {"img_size": 32, "window_size": 4, "embed_dim": 16, "depths": (1, 1),
                                              "num_heads": (2, 2)}),
    "DenseNet": ("densenet121", {"growth_rate": 4, "block_config": (2, 2)}), "RegNet": ("regnetx_002", {}),
    "Inception v4": ("inception_v4", {"side": 96}), "SqueezeNet-like": ("ghostnet_050", {}),
    "ResNeXt": ("resnext50_32x4d", {"layers": (1, 1, 1, 1)}), "PoolFormer": ("poolformer_s12", {"side": 64}),
}


def of_timm(name, options):
    options = dict(options)
    cifar = options.pop("stem", None)
    module, example, more = timm_model(name, **options)
    if cifar:
        module.conv1, module.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
    return module, example, more


# peft

def adapted(kind, **options):
    import peft
    module, example, more = language_model(kind, train=bool(options.get("lora_dropout")))
    targets = {"llama": ["q_proj", "v_proj"], "gpt2": ["c_attn"]}[kind]
    config = peft.LoraConfig(r=2, target_modules=targets, task_type="CAUSAL_LM", fan_in_fan_out=kind == "gpt2", **options)
    return peft.get_peft_model(module, config), example, more


def prompt_tuned():
    import peft
    module, example, more = language_model("llama")
    config = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=4)
    return peft.get_peft_model(module, config), example, more


# As tutorials write them

class NanoGpt(modules.Gpt):
    """Returns (logits, loss), as nanoGPT."""

    def __init__(self, result, **options):
        super().__init__(**options)
        self.result = result

    def forward(self, tokens, targets=None):
        x = self.drop(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1])))
        for i, (attention, mlp) in enumerate(zip(self.attention, self.mlp)):
            x = x + attention(self.norms[2 * i](x))
            x = x + mlp(self.norms[2 * i + 1](x))
        logits = self.head(x)
        return self.result(logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1))


def nano(result, train=False, **options):
    return NanoGpt(result, **options).train(train), tokens(modules.VOCABULARY, modules.CONTEXT), {}


class Classified(nn.Module):
    """A network of logits, with its loss."""

    def __init__(self, *parts):
        super().__init__()
        self.parts = nn.Sequential(*parts)

    def forward(self, x, targets):
        return F.cross_entropy(self.parts(x), targets)


def tutorial_cnn():
    return Classified(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
                      nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                      nn.Linear(84, 10)), image(), {}


def unet():
    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.GroupNorm(2, 8), nn.SiLU())
            self.up = nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(8, 3, 3, padding=1))
            self.last = nn.Conv2d(6, 3, 1)

        def forward(self, x, y):
            return F.mse_loss(self.last(torch.cat([x, self.up(self.down(x))], 1)), y)
    return UNet(), (torch.randn(BATCH, 3, 16, 16), torch.randn(BATCH, 3, 16, 16)), {}


class TextCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(KINDS, 16)
        self.convs = nn.ModuleList(nn.Conv1d(16, 8, k) for k in (3, 4, 5))
        self.head = nn.Linear(24, 3)

    def forward(self, tokens, targets):
        x = self.table(tokens).transpose(1, 2)
        return F.cross_entropy(self.head(torch.cat([F.relu(conv(x)).max(2).values for conv in self.convs], 1)), targets)


def recurrent(kind):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer, self.head = nn.Embedding(KINDS, 16), kind(16, 24, 2, batch_first=True), nn.Linear(24, KINDS)

        def forward(self, tokens):
            return self.head(self.layer(self.table(tokens))[0])
    return Model(), tokens(), LOGITS


def alibi():
    class Alibi(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.qkv, self.head = nn.Embedding(KINDS, 32), nn.Linear(32, 96), nn.Linear(32, KINDS)

        def forward(self, tokens):
            q, k, v = self.qkv(self.table(tokens)).unflatten(-1, (3, 4, 8)).permute(2, 0, 3, 1, 4)
            place = torch.arange(tokens.shape[1])
            bias = (place[None] - place[:, None]) * 2.0 ** -torch.arange(1, 5).reshape(4, 1, 1)
            mask = bias.masked_fill(place[None] > place[:, None], -math.inf)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return self.head(y.transpose(1, 2).flatten(2))
    return Alibi(), tokens(), LOGITS


class Mixture(nn.Module):
    def __init__(self, soft):
        super().__init__()
        self.table, self.gate, self.head = nn.Embedding(KINDS, 16), nn.Linear(16, 4), nn.Linear(16, KINDS)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(4))
        self.soft = soft

    def forward(self, tokens):
        x = self.table(tokens)
        weights = self.gate(x).softmax(-1)
        if not self.soft:
            best, places = weights.topk(2)
            weights = torch.zeros_like(weights).scatter(-1, places, best)
        outs = torch.stack([expert(x) for expert in self.experts], -1)
        return self.head((outs * weights.unsqueeze(-2)).sum(-1))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.head = nn.Embedding(KINDS, 32), nn.Linear(32, KINDS)
        layer = nn.TransformerEncoderLayer(32, 4, 48, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.encoder(self.table(tokens), mask=mask, is_causal=True))


class Reversible(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.table, self.head = nn.Embedding(KINDS, 16), nn.Linear(16, KINDS)
        self.f, self.g, self.hidden = nn.Linear(8, 8), nn.Linear(8, 8), hidden

    def pair(self, x):
        a, b = x.chunk(2, -1)
        a = a + torch.tanh(self.f(b))
        return torch.cat([a, b + torch.tanh(self.g(a))], -1)

    def forward(self, tokens):
        return self.head((HiddenLayer.apply(self.table(tokens), self) if self.hidden else self.pair(self.table(tokens))))


class HiddenLayer(torch.autograd.Function):
    @staticmethod
    def forward(context, x, layer):
        with torch.no_grad():
            return layer.pair(x)

    @staticmethod
    def backward(context, gradient):
        return gradient, None


class Siren(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 16), nn.Linear(16, 1)

    def forward(self, x, y):
        return F.mse_loss(self.b(torch.sin(30 * self.a(x))), y)


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(12, 8), nn.Linear(4, 12)

    def forward(self, x, noise):
        mean, log_variance = self.encode(x).chunk(2, -1)
        y = self.decode(mean + noise * torch.exp(0.5 * log_variance))
        return F.mse_loss(y, x) - 0.5 * (1 + log_variance - mean.square() - log_variance.exp()).mean()


class Contrastive(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.scale = nn.Linear(6, 8), nn.Linear(5, 8), nn.Parameter(torch.tensor(2.66))

    def forward(self, x, y):
        a, b = F.normalize(self.a(x), dim=-1), F.normalize(self.b(y), dim=-1)
        return F.cross_entropy(self.scale.exp() * a @ b.T, torch.arange(len(x)))


class Recommender(nn.Module):
    def __init__(self, loss):
        super().__init__()
        self.users, self.items, self.loss = nn.Embedding(20, 8), nn.Embedding(30, 8), loss

    def forward(self, users, items, ratings):
        return self.loss((self.users(users) * self.items(items)).sum(-1), ratings)


def recommender(loss):
    return Recommender(loss), (torch.randint(0, 20, (8,)), torch.randint(0, 30, (8,)), torch.rand(8)), {}


class Smoothed(Encoder):
    def forward(self, tokens, targets):
        return F.cross_entropy(super().forward(tokens).flatten(0, 1), targets.flatten(), label_smoothing=0.1)


class Graph(nn.Module):
    """A graph convolution over fixed edges."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 8), nn.Linear(8, 4)
        edges = (torch.rand(10, 10) < 0.3).float() + torch.eye(10)
        self.register_buffer("edges", edges / edges.sum(1, keepdim=True))

    def forward(self, x, targets):
        return F.cross_entropy(self.edges @ self.b(F.relu(self.edges @ self.a(x))), targets)


class Dalle(modules.Gpt):
    """A loss of text and of images, of two parts of the targets."""

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        logits = self.head(self.attention[0](x))
        parts = [F.cross_entropy(logits[:, a:b].flatten(0, 1), targets[:, a:b].flatten()) for a, b in ((0, 4), (4, 12))]
        return (parts[0] + 7 * parts[1]) / 8


def by_hand():
    own = tokens(modules.VOCABULARY, modules.CONTEXT)
    return {
        "nanoGPT, loss": lambda: nano(lambda logits, loss: loss), "nanoGPT, (logits, loss)": lambda: nano(
            lambda logits, loss: (logits, loss)),
        "nanoGPT, dropout": lambda: nano(lambda logits, loss: loss, True, dropout=0.1),
        "Llama by hand": lambda: (modules.Llama(), own, {}), "BERT by hand": lambda: (modules.Bert(), own, {}),
        "ALBERT by hand": lambda: (modules.Albert(), own, {}), "DALL-E's loss": lambda: (Dalle(layers=1), own, {}),
        "tutorial CNN": tutorial_cnn, "U-Net": unet, "VGG": lambda: (Classified(
            nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True), nn.AdaptiveAvgPool2d(7), nn.Flatten(), nn.Linear(392, 10)),
            image(30), {}),
        "TextCNN": lambda: (TextCnn(), (tokens()[0], torch.randint(0, 3, (BATCH,))), {}),
        "LSTM": lambda: recurrent(nn.LSTM), "GRU": lambda: recurrent(nn.GRU), "ALiBi by hand": alibi,
        "MoE, soft": lambda: (Mixture(True), tokens(), LOGITS), "MoE, top 2": lambda: (Mixture(False), tokens(), LOGITS),
        "TransformerEncoder, train": lambda: (Encoder(), tokens(), LOGITS),
        "TransformerEncoder, eval": lambda: (Encoder().eval(), tokens(), LOGITS),
        "reversible": lambda: (Reversible(False), tokens(), LOGITS),
        "reversible Function": lambda: (Reversible(True), tokens(), LOGITS),
        "SIREN": lambda: (Siren(), (torch.rand(8, 2), torch.rand(8, 1)), {}),
        "VAE": lambda: (Vae(), (torch.randn(6, 12), torch.randn(6, 4)), {}),
        "contrastive": lambda: (Contrastive(), (torch.randn(4, 6), torch.randn(4, 5)), {}),
        "recommender, MSE": lambda: recommender(F.mse_loss), "recommender, Huber": lambda: recommender(F.huber_loss),
        "recommender, BCE": lambda: recommender(F.binary_cross_entropy_with_logits),
        "label smoothing": lambda: (Smoothed(), tokens(), {}),
        "graph convolution": lambda: (Graph(), (torch.randn(10, 6), torch.randint(0, 4, (10,))), {}),
        "ELU, BatchNorm1d": lambda: (Classified(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ELU(), nn.Linear(16, 3)), (
            torch.randn(12, 6), torch.randint(0, 3, (12,))), {}),
    }


def cases():
    result = {name: functools.partial(language_model, kind, **options) for name, (kind, options) in CAUSAL.items()}
    result |= {name: functools.partial(language_model, kind, "AutoModelForMaskedLM", **options)
               for name, (kind, options) in MASKED.items()}
    result |= {
        "BERT, classification": lambda: sequence_classification("bert"), "T5": lambda: pair("t5"),
        "Bart": lambda: pair("bart"), "T5, labels": lambda: pair("t5", labels=True),
        "Llama, labels": lambda: (language_model("llama")[0], dict(zip(("input_ids", "labels"), tokens())), {}),
        "ViT": lambda: vision("vit"), "DeiT": lambda: vision("deit"), "BEiT": lambda: vision("beit"),
        "DINOv2": lambda: vision("dinov2"), "Swin of transformers": swin, "ResNet of transformers": resnet_of_transformers,
        "Whisper's encoder": whisper, "Wav2Vec2": wav2vec2, "CLIP's text": clip_text,
        "LoRA, Llama": lambda: adapted("llama"), "LoRA, GPT-2": lambda: adapted("gpt2"),
        **{f"{kind}, padded": lambda kind=kind: padded(kind) for kind in PADDED},
        "LoRA, dropout": lambda: adapted("llama", lora_dropout=0.1), "DoRA": lambda: adapted("llama", use_dora=True),
        "prompt tuning": prompt_tuned}
    result |= {f"timm {name}": functools.partial(of_timm, kind, options) for name, (kind, options) in TIMM.items()}
    return result | by_hand()
