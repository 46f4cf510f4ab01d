#!/usr/bin/env bash
# Other people's suites as a whole, on every route: Netlib's, ScaLAPACK's, Octave's, NumPy's and SciPy's (tests/suite). Of these
# scripts/test.sh, and so CI, runs a part: on the simulated device, all of it but what the rows name as too much; handed to the
# host, the testers of BLAS. Builds the release preset.
#
#   scripts/suites.sh [ctest arguments, for instance -R scipy]
source "$(dirname "$0")/setup.sh"

want_suites
build release
await_suites
SUITE_WHOLE=1 ctest --preset release --parallel "$(nproc)" --label-regex '^suite$' --no-tests=error "$@"
