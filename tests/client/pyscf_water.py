"""Energies of a water molecule by PySCF: Hartree-Fock with all integrals and with fitted ones, and
second-order perturbation. Its products go to DGEMM by two names, NumPy's and that of the OpenBLAS that it
brings itself. Held against sums over the integrals that use no BLAS, against what another program finds, and
against the run without the library.

usage: pyscf_water.py [--save FILE | --near FILE]
"""

import sys

from checks import SKIPPED, np, product_without_blas, summation_error

try:
    from pyscf import gto, lib, mp, scf
except ImportError:
    print("skipped: this Python has no PySCF")
    sys.exit(SKIPPED)

# The energies are those of Psi4's first example, tu1-h2o-energy, whose manual promises six digits of the fitted energy.
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

    # The sums have n^2 terms of n^2 terms, of densities of n; these and those of the program are both
    # rounded.
    n = molecule.nao
    size = total(abs(density), abs(core), abs(integrals), 1)
    note(name, energy, total(density, core, integrals, -1), 2 * summation_error(2 * n * n + n, np.float64) * size)
    return method


def pairs_of_orbitals(integrals, coefficients, occupied):
    """(ia|jb) of occupied orbitals i, j and others a, b."""
    for orbitals in (occupied, ~occupied, occupied, ~occupied):  # each for the first index, which goes to the end
        integrals = np.einsum("pqrs,pi->qrsi", integrals, coefficients[:, orbitals])
    return integrals


def perturbation(method, integrals):
    """The energy of pairs of electrons that leave the orbitals i and j for a and b."""
    coefficients, occupied = method.mo_coeff, method.mo_occ > 0
    below, above = method.mo_energy[occupied], method.mo_energy[~occupied]
    levels = below[:, None, None, None] - above[:, None, None] + below[:, None] - above
    pairs = pairs_of_orbitals(integrals, coefficients, occupied)
    terms = pairs * (2 * pairs - pairs.swapaxes(1, 3)) / levels

    # A pair goes through four sums of n terms, and comes twice in a term.
    sizes = pairs_of_orbitals(abs(integrals), abs(coefficients), occupied)
    size = np.sum(sizes * (2 * abs(pairs) + abs(pairs.swapaxes(1, 3))) / abs(levels))
    bound = 4 * summation_error(4 * molecule.nao + terms.size, np.float64) * size
    energy = mp.MP2(method).kernel()[0]
    note("MP2", method.e_tot + energy, method.e_tot + np.sum(terms), bound)


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
        # That of the perturbation is no minimum, and differs by more: as the orbitals do that an iteration
        # ends with.
        for name in ("RHF", "fitted RHF"):
            energy = np.load(sys.argv[2])[name]
            if not abs(energies[name] - energy) <= 2 * bounds[name] + CONVERGED:
                sys.exit(f"{name}: {energies[name]}, and {energy} without the library")
    print("energies are right")


if __name__ == "__main__":
    main()
