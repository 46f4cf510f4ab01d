"""Recognises handwritten digits twice, in float32: by nearest neighbours, then with a neural network.

The data is scikit-learn's bundled set of 1797 scanned digits, 8 x 8 pixels. Every image is also shown shifted by
a pixel in each direction, so 1200 images to learn from become 10800. NumPy does all of the arithmetic, and nearly
all of it is matrix products: a distance matrix in the first half, the layers and their gradients in the second.
"""

import time
import zlib

import numpy as np
from sklearn.datasets import load_digits

LEARN = 1200  # images to learn from; the other 597 are recognised
SHIFTS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
NEIGHBOURS = 5
HIDDEN = 2000  # width of the network's two hidden layers
EPOCHS = 6
BATCH = 2700
RATE = np.float32(0.3)
MOMENTUM = np.float32(0.9)


def shifted(images):
    """Every image once per shift, flattened: (len(SHIFTS) * len(images), 64). Pixels from outside are blank."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    views = [padded[:, 1 + down : 9 + down, 1 + right : 9 + right] for down, right in SHIFTS]
    return np.concatenate(views).reshape(-1, 64)


def nearest_neighbours(train, labels, test):
    """Lets the neighbours of all nine views of an image vote."""
    distances = np.sum(train**2, axis=1) - 2 * (test @ train.T)  # less |test|^2, the same along a row
    nearest = np.argpartition(distances, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    votes = labels[nearest].reshape(len(SHIFTS), -1, NEIGHBOURS)
    counts = (votes[..., None] == np.arange(10)).sum(axis=(0, 2))
    return counts.argmax(axis=1)


def forward(weights, x):
    """The activations of every layer, the input first; the last layer has no ReLU."""
    layers = [x]
    for number, w in enumerate(weights, 1):
        y = layers[-1] @ w
        layers.append(y if number == len(weights) else np.maximum(y, 0, out=y))
    return layers


def trained_network(train, labels, random):
    """Softmax regression on two hidden layers, by gradient descent with momentum."""
    sizes = [train.shape[1], HIDDEN, HIDDEN, 10]
    weights = [
        random.standard_normal((rows, columns), dtype=np.float32) * np.float32(np.sqrt(2 / rows))
        for rows, columns in zip(sizes, sizes[1:])
    ]
    velocity = [np.zeros_like(w) for w in weights]
    for _ in range(EPOCHS):
        order = random.permutation(len(train))
        for batch in np.split(order, len(train) // BATCH):
            layers = forward(weights, train[batch])
            scores = np.exp(layers[-1] - layers[-1].max(axis=1, keepdims=True))
            gradient = scores / scores.sum(axis=1, keepdims=True)
            gradient[np.arange(BATCH), labels[batch]] -= 1
            gradient /= BATCH
            for level in reversed(range(len(weights))):
                change = layers[level].T @ gradient
                if level > 0:
                    gradient = gradient @ weights[level].T
                    gradient *= layers[level] > 0
                velocity[level] *= MOMENTUM
                velocity[level] += change
                weights[level] -= RATE * velocity[level]
    return weights


def report(name, predictions, truth, seconds):
    accuracy = np.mean(predictions == truth)
    checksum = zlib.crc32(predictions.astype(np.uint8).tobytes())
    print(f"{name:<19} accuracy {accuracy:7.2%}   predictions {checksum:08x}   {seconds:6.2f} s", flush=True)


def main():
    random = np.random.default_rng(20)
    digits = load_digits()
    order = random.permutation(len(digits.target))
    images = digits.images[order].astype(np.float32)
    truth = digits.target[order]
    train, labels = shifted(images[:LEARN]), np.tile(truth[:LEARN], len(SHIFTS))
    test, answers = images[LEARN:], truth[LEARN:]

    start = time.perf_counter()
    predictions = nearest_neighbours(train, labels, shifted(test))
    report("nearest neighbours", predictions, answers, time.perf_counter() - start)

    start = time.perf_counter()
    mean = train.mean(axis=0)
    train, test = (train - mean) / 16, (test.reshape(-1, 64) - mean) / 16
    weights = trained_network(train, labels, random)
    predictions = forward(weights, test)[-1].argmax(axis=1)
    report("neural network", predictions, answers, time.perf_counter() - start)

    hidden = forward(weights[:2], train[:BATCH])[1]
    single = hidden @ weights[1]
    double = hidden.astype(np.float64) @ weights[1].astype(np.float64)
    difference = np.abs(single - double).max() / np.abs(double).max()
    print(f"float32 product     differs from float64 by {difference:.1e} of its largest entry at most")


if __name__ == "__main__":
    main()
