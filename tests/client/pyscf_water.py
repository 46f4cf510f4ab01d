"""Energies of a water molecule by PySCF: Hartree-Fock with all integrals and with fitted ones, and second-order perturbation.
Its products go to DGEMM by two names, NumPy's and that of the OpenBLAS that it brings itself. Held against sums over the
integrals that use no BLAS, against what another program finds, and against the run without the library.

usage: pyscf_water.py [--save FILE | --near FILE]
"""

import sys

from checks import SKIPPED, np, product_without_blas, summation_error

try:
    from pyscf import gto, lib, mp, scf
except ImportError:
    print("skipped: this Python has no PySCF")
    sys.exit(SKIPPED)

# By Psi4: its first example, tu1-h2o-energy, whose manual promises six digits of the fitted energy.
ATOMS, BASIS, FITTED_BASIS = "O; H 1 0.96; H 1 0.96 2 104.5", "cc-pvdz", "cc-pvdz-jkfit"
PUBLISHED = {"RHF": (-76.02665366, 1e-8), "fitted RHF": (-76.02663273, 1e-6), "MP2": (-76.23080846, 1e-8)}
CONVERGED = 1e-12  # the energies of the last two rounds differ by less

molecule = gto.M(atom=ATOMS, basis=BASIS, verbose=0)
energies, bounds = {}, {}


def note(name, energy, wanted, bound):
    """Ends the program unless the energy is what sums over the integrals give, and what is published."""
    energies[name], bounds[name] = energy, bound
    print(f"{name}: {energy:.12f}, {energy - wanted:.1e} from the sums, of which {bound:.1e} is explained")
    published, digits = PUBLISHED[name]
    if not abs(energy - wanted) <= bound or not abs(energy - published) <= digits:
        sys.exit(f"{name}: wrong")


def hartree_fock(name, method, integrals):
    """Converges the method, and adds up its energy from its orbitals and (pq|rs)."""
    method.conv_tol = CONVERGED
    energy = method.kernel()
    occupied = method.mo_coeff[:, method.mo_occ > 0]
    density = 2 * product_without_blas(occupied, occupied.T)
    core = molecule.intor("int1e_kin") + molecule.intor("int1e_nuc")

    def total(density, core, integrals, sign):
        coulomb = np.einsum("pqrs,rs->pq", integrals, density)
        exchange = np.einsum("prqs,rs->pq", integrals, density)
        return np.sum(density * (core + (coulomb + sign * exchange / 2) / 2)) + molecule.energy_nuc()

    # The sums have n^2 terms of n^2 terms, of densities of n; these and those of the program are both rounded.
    n = molecule.nao
    size = total(abs(density), abs(core), abs(integrals), 1)
    note(name, energy, total(density, core, integrals, -1), 2 * summation_error(2 * n * n + n, np.float64) * size)
    return method


def perturbation(method, integrals):
    """The energy of pairs of electrons that leave the orbitals i and j for a and b."""
    pairs = integrals
    for _ in range(4):  # each turns the first index into one of orbitals, and puts it last
        pairs = np.einsum("pqrs,pi->qrsi", pairs, method.mo_coeff)
    inside = method.mo_occ > 0
    pairs = pairs[inside][:, ~inside][:, :, inside][:, :, :, ~inside]
    levels = method.mo_energy
    i, j = levels[inside][:, None, None, None], levels[inside][None, None, :, None]
    a, b = levels[~inside][None, :, None, None], levels[~inside][None, None, None, :]
    terms = pairs * (2 * pairs - pairs.swapaxes(1, 3)) / (i + j - a - b)
    # Each of a pair's integrals has sums of n terms in each of the four steps, of sizes that the orbitals' are at most.
    n = molecule.nao
    sizes = abs(integrals)
    for _ in range(4):
        sizes = np.einsum("pqrs,pi->qrsi", sizes, abs(method.mo_coeff))
    sizes = sizes[inside][:, ~inside][:, :, inside][:, :, :, ~inside]
    size = np.sum(sizes * (2 * abs(pairs) + abs(pairs.swapaxes(1, 3))) / abs(i + j - a - b))
    energy = mp.MP2(method).kernel()[0]
    note("MP2", method.e_tot + energy, method.e_tot + np.sum(terms),
         4 * summation_error(4 * n + terms.size, np.float64) * size + abs(method.e_tot) * 2 * np.finfo(float).eps)


def main():
    integrals = molecule.intor("int2e")
    method = hartree_fock("RHF", scf.RHF(molecule), integrals)
    perturbation(method, integrals)

    fitted = scf.RHF(molecule).density_fit(auxbasis=FITTED_BASIS)
    fitted.with_df.build()
    factors = lib.unpack_tril(np.concatenate(list(fitted.with_df.loop())))
    hartree_fock("fitted RHF", fitted, np.einsum("kpq,krs->pqrs", factors, factors))

    if sys.argv[1:2] == ["--save"]:
        np.savez(sys.argv[2], **energies)
    if sys.argv[1:2] == ["--near"]:
        # That of the perturbation is no minimum, and differs by more: as the orbitals do that an iteration ends with.
        for name in ("RHF", "fitted RHF"):
            energy = np.load(sys.argv[2])[name]
            if not abs(energies[name] - energy) <= 2 * bounds[name] + CONVERGED:
                sys.exit(f"{name}: {energies[name]}, and {energy} without the library")
    print("energies are right")


if __name__ == "__main__":
    main()
