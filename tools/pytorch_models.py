# SPDX-License-Identifier: MIT
"""The models of tools/compare_pytorch.py in plain PyTorch: the same layers as the built-in ones, torchvision's layout."""
import torch
from torch import nn


class Bottleneck(nn.Module):
    def __init__(self, inside, width, stride, downsample):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if downsample:
            self.downsample = nn.Sequential(nn.Conv2d(inside, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.downsample is None else self.downsample(x)
        return self.relu(y)


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inside = 64
        for i, (width, count, stride) in enumerate([(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)], 1):
            blocks = [Bottleneck(inside, width, stride, True)]
            inside = 4 * width
            blocks += [Bottleneck(inside, width, 1, False) for _ in range(count - 1)]
            setattr(self, f"layer{i}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class EncoderBlock(nn.Module):
    def __init__(self, hidden, heads, feed_forward):
        super().__init__()
        self.ln_1 = nn.LayerNorm(hidden, eps=1e-6)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.ln_2 = nn.LayerNorm(hidden, eps=1e-6)
        self.fc1 = nn.Linear(hidden, feed_forward)
        self.fc2 = nn.Linear(feed_forward, hidden)
        self.heads = heads

    def forward(self, x):
        b, s, h = x.shape
        q, k, v = self.qkv(self.ln_1(x)).view(b, s, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, s, h)
        x = x + self.out(y)
        return x + self.fc2(nn.functional.gelu(self.fc1(self.ln_2(x))))


class ViTB16(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_proj = nn.Conv2d(3, 768, 16, 16)
        self.class_token = nn.Parameter(torch.zeros(1, 1, 768))
        self.pos_embedding = nn.Parameter(torch.randn(1, 197, 768) * 0.02)
        self.layers = nn.Sequential(*[EncoderBlock(768, 12, 3072) for _ in range(12)])
        self.ln = nn.LayerNorm(768, eps=1e-6)
        self.head = nn.Linear(768, 1000)

    def forward(self, x):
        x = self.conv_proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], 1) + self.pos_embedding
        return self.head(self.ln(self.layers(x))[:, 0])


class TinyCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(32)
        self.fc = nn.Linear(32 * 8 * 8, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.bn1(self.conv1(x)).relu_(), 2)
        x = nn.functional.max_pool2d(self.bn2(self.conv2(x)).relu_(), 2)
        return self.fc(x.flatten(1))


MODELS = {"resnet50": ResNet50, "vit_b_16": ViTB16, "tiny_cnn": TinyCnn}
SIDES = {"resnet50": 224, "vit_b_16": 224, "tiny_cnn": 32}  # of a square input with three channels
