"""Keys of PyCIL's and PILOT's configs, and the settings with the same meaning."""

from __future__ import annotations

BACKBONES = {
    "resnet32": "resnet32",
    "memo_resnet32": "resnet32",
    "resnet18": "resnet18",
}
# PILOT's pre-trained models; a method's name may come after (vit_base_patch16_224_ease).
PRETRAINED = {
    "vit_base_patch16_224_in21k": "vit-b16-in21k",
    "vit_base_patch16_224": "vit-b16-in1k",
    "pretrained_vit_b16_224_in21k": "vit-b16-in21k",
    "pretrained_vit_b16_224": "vit-b16-in1k",
}
# Fields of a schedule, and the keys with the same meaning in order of preference.
TRAINING = {
    "epochs": ("epochs", "tuned_epoch", "later_epochs", "boosting_epochs"),
    "learning_rate": ("lrate", "lr", "later_lr", "init_lr"),
    "schedule": ("scheduler",),
    "milestones": ("milestones",),
    "decay": ("lrate_decay",),
    "optimizer": ("optimizer",),
    "weight_decay": ("weight_decay",),
    "batch_size": ("batch_size",),
}
# Keys of the first task alone.
FIRST_TASK = {
    "epochs": ("init_epoch", "init_epochs"),
    "learning_rate": ("init_lr",),
    "milestones": ("init_milestones",),
    "decay": ("init_lr_decay",),
    "weight_decay": ("init_weight_decay",),
}
# Methods' own keys, and the settings of the method with the same meaning; `alignment.epochs` is
# nested. PyCIL has those of EWC as constants in its code; HiDe-Prompt's are its authors'.
OWN_SETTINGS = {
    "icarl": {"T": "temperature"},
    "ewc": {"lamda": "strength", "fishermax": "fisher_cap"},
    "foster": {
        "beta1": "boosting_beta",
        "beta2": "compression_beta",
        "lambda_okd": "distillation",
        "T": "temperature",
        "compression_epochs": "compression",
    },
    "memo": {"alpha_aux": "auxiliary", "train_base": "train_shared"},
    "tagfex": {
        "aux_factor": "auxiliary",
        "contrast_factor": "contrast",
        "contrast_kd_factor": "contrast_distillation",
        "infonce_temp": "contrast_temperature",
        "transfer_factor": "transfer",
        "kd_temp": "transfer_temperature",
        "attn_num_heads": "attention_heads",
        "init_interpolation_factor": "inherited",
    },
    "l2p": {
        "size": "pool",
        "length": "length",
        "top_k": "chosen",
        "pull_constraint_coeff": "pull",
        "batchwise_prompt": "batchwise",
    },
    "dualprompt": {
        "length": "length",
        "pull_constraint_coeff": "pull",
        "batchwise_prompt": "batchwise",
    },
    "slca": {
        "bcb_lrscale": "slow",
        "ca_epochs": "alignment.epochs",
        "ca_with_logit_norm": "temperature",
    },
    "hide-prompt": {
        "length": "length",
        "prompt_momentum": "ensemble",
        "reg": "contrast",
        "n_centroids": "centroids",
        "crct_epochs": "alignment.epochs",
        "ca_lr": "alignment.learning_rate",
    },
    "ease": {"ffn_num": "bottleneck", "alpha": "others"},
    "mos": {
        "ffn_num": "bottleneck",
        "adapter_momentum": "merging",
        "reg": "contrast",
        "crct_epochs": "alignment.epochs",
        "ca_lr": "alignment.learning_rate",
    },
    "ranpac": {"ffn_num": "bottleneck", "M": "projection"},
    "aper": {"ffn_num": "bottleneck"},
}
METHODS = {"replay": "er", "aper-adapter": "aper", "adam-adapter": "aper"}
# What PILOT's code does without a key.
FIXED = {"ranpac": {"cosine": True}}
# Methods that divide a residual network (PILOT's MEMO divides a ViT), and those on a frozen ViT.
RESIDUAL = ("memo", "tagfex")
FROZEN = ("simplecil",)
# PyCIL's networks that only learners need which are not here.
ELSEWHERE = ("cosine_resnet18", "cosine_resnet32", "resnet18_cbam", "resnet18_rep")
COVARIANCES = {"covariance": "full", "variance": "diagonal"}  # of MOS; multi-centroid is not here
SCHEDULES = {"steplr": "steps", "constant": "steps", "cosine": "cosine"}
# Keys whose values are checked here; the configuration checks all others.
KINDS: dict[str, type] = {
    "fixed_memory": bool,
    "convnet_type": str,
    "backbone_type": str,
    "scheduler": str,
    "milestones": list,
    "ca_storage_efficient_method": str,
}
SHARED = (
    "model_name",
    "dataset",
    "init_cls",
    "increment",
    "memory_size",
    "memory_per_class",
    "fixed_memory",
    "convnet_type",
    "backbone_type",
    "device",
)
MEANINGLESS = ("prefix", "shuffle", "seed")
