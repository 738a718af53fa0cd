"""A learner with a training loop of its own, in plain PyTorch.

edgecil run quickdraw --classes 6 --tasks 3 --method examples/training_loop.py:SmallNetwork \
    --out runs/small-network
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SmallNetwork:
    """A convolutional network, fine-tuned on each task."""

    def __init__(self, epochs=10, learning_rate=1e-3, classes=100):
        self.epochs, self.learning_rate, self.seen = epochs, learning_rate, []
        self.network = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(288, classes),
        )  # fmt: skip

    def forward(self, images):
        return self.network(images.float().mean(1, keepdim=True) / 255)

    def fit_task(self, images, labels, classes):
        self.seen += list(classes)
        self.network.to(images.device)
        optimizer = torch.optim.Adam(self.network.parameters(), self.learning_rate)
        for _ in range(self.epochs):
            for batch, targets in DataLoader(TensorDataset(images, labels), 32, shuffle=True):
                loss = nn.functional.cross_entropy(self.forward(batch), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    def predict(self, images):
        logits = torch.cat([self.forward(batch) for batch in images.split(500)])
        return torch.tensor(self.seen, device=images.device)[logits[:, self.seen].argmax(1)]

    def state_dict(self):
        return {"network": self.network.state_dict(), "seen": self.seen}

    def load_state_dict(self, state):
        self.network.load_state_dict(state["network"])
        self.seen = list(state["seen"])
