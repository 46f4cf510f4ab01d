"""A job of scikit-image: no linear algebra."""

import numpy
from checks import require
from skimage import filters, restoration, transform


def pictures(size):
    side = size(1200)
    y, x = numpy.mgrid[0:side, 0:side] / side
    clean = (numpy.hypot(x - 0.5, y - 0.5) < 0.3).astype(float)
    noisy = clean + 0.2 * numpy.random.default_rng(52).standard_normal(clean.shape)
    smooth = restoration.denoise_tv_chambolle(noisy, weight=0.2, max_num_iter=60, eps=0)
    turned = transform.rotate(smooth, 30)
    edges = filters.sobel(filters.gaussian(turned, 3))
    require(numpy.abs(smooth - clean).mean() < numpy.abs(noisy - clean).mean() / 2, "what was smoothed")
    require(edges.max() > 0, "edges")
