"""PyTorch on the device beside NumPy's products in one process: its context, streams, caching allocator and graphs are its
own, and so are TileBLAS's. A layer is trained on the device in one thread, eagerly and as a CUDA graph, while NumPy
multiplies in another; then on the host, with whatever BLAS PyTorch has there.
"""

import sys
import threading

try:
    import torch
except ImportError:
    print("skipped: this Python has no PyTorch")
    sys.exit(77)

from checks import SKIPPED, check, np

ROUNDS = 20


def _operands(seed):
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape, dtype=np.float32) for shape in ((300, 500), (500, 400))]


def _multiply(device):
    for seed in range(ROUNDS):
        a, b = _operands(seed)
        product = torch.from_numpy(a).to(device) @ torch.from_numpy(b).to(device)
        check(f"PyTorch product {seed} on {device}", product.cpu().numpy(), a, b)


def _train(device):
    """Fits a known linear map: the loss falls to nothing only if forward and backward products are right."""
    torch.manual_seed(1)
    x = torch.randn(2048, 64, device=device)
    wanted = x @ torch.randn(64, 32, device=device)
    layer = torch.nn.Linear(64, 32, bias=False).to(device)
    optimizer = torch.optim.SGD(layer.parameters(), lr=8.0)
    for _ in range(200):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(layer(x), wanted)
        loss.backward()
        optimizer.step()
    if not float(loss) < 1e-6:
        raise RuntimeError(f"training on {device} ended with a loss of {float(loss)}")


def _replay():
    """A CUDA graph: products that were recorded once and run again on other numbers."""
    a, b = (torch.from_numpy(matrix).cuda() for matrix in _operands(0))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        a @ b  # cuBLAS takes its workspace before it is recorded
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        product = a @ b
    for seed in range(1, ROUNDS):
        operands = _operands(seed)
        for target, matrix in zip((a, b), operands):
            target.copy_(torch.from_numpy(matrix))
        graph.replay()
        check(f"replayed product {seed}", product.cpu().numpy(), *operands)


def _use_device(failures):
    try:
        _multiply("cuda")
        _train("cuda")
        _replay()
    except (Exception, SystemExit) as failure:  # whatever it is, the test must not pass
        failures.append(f"{type(failure).__name__}: {failure}")


def main():
    if not torch.cuda.is_available():
        print("skipped: PyTorch finds no GPU")
        sys.exit(SKIPPED)
    torch.backends.cuda.matmul.allow_tf32 = False
    failures = []
    other = threading.Thread(target=_use_device, args=(failures,))
    other.start()
    for seed in range(100, 100 + 3 * ROUNDS):
        a, b = _operands(seed)
        check(f"NumPy product {seed}", a @ b, a, b)
    other.join()
    if failures:
        sys.exit(failures[0])
    _multiply("cpu")
    _train("cpu")
    torch.cuda.empty_cache()
    a, b = _operands(200)
    check("NumPy product after all that", a @ b, a, b)
    print("PyTorch's and NumPy's products are right beside each other")


if __name__ == "__main__":
    main()
