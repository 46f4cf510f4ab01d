"""`tileblas explain` tells what the library would decide."""

import json
import re
from pathlib import Path

from tool import PATHS, call, contains, equal, main


def _explain(*arguments, **settings):
    done = call("TOOL", "explain", *arguments, "--json", **settings)
    equal(done.returncode, 0, done.stderr)
    answer = json.loads(done.stdout)
    answer["route"] = {row["route"]: row for row in answer["routes"]}
    return answer


def a_large_product_goes_to_a_gpu():
    answer = _explain("4000", "4000", "4000", "--assume", "h200", "--cores", "16")
    equal((answer["choice"]["route"], answer["choice"]["reason"]), ("streamed", "faster on the device"))
    assert answer["choice"]["kernel"].startswith("sgemm_")
    assert answer["route"]["streamed"]["seconds"] < answer["route"]["host"]["seconds"]
    equal(answer["route"]["resident"]["possible"], False)
    free = [kernel for kernel in answer["kernels"] if kernel["serves"] and "objection" not in kernel]
    equal(answer["choice"]["kernel"], min(free, key=lambda kernel: kernel["seconds"])["name"])
    seconds = [kernel["seconds"] for kernel in answer["kernels"] if kernel["serves"]]
    equal(seconds, sorted(seconds))
    words = call("TOOL", "explain", "4000", "4000", "4000", "--assume", "h200", "--cores", "16").stdout
    contains(words, "streamed", "<- chosen", "choice       streamed with " + answer["choice"]["kernel"],
             "faster on the device")


def what_is_chosen_only_when_forced_is_shown_on_request():
    question = ("explain", "4000", "4000", "4000", "--assume", "h200")
    plain, whole = call("TOOL", *question).stdout, call("TOOL", *question, "--all").stdout
    forced = [kernel["name"] for kernel in _explain(*question[1:])["kernels"]
              if kernel.get("objection") == "only when forced"]
    assert forced
    for name in forced:
        contains(whole, f"  {name} ")
        assert f"  {name} " not in plain, plain
    contains(plain, "  sgemm_simt_128x128 ", f"and {len(forced)} more, chosen only when forced: --all shows them")
    assert "--all" not in whole
    by_force = call("TOOL", *question, environment={"TILEBLAS_KERNEL": forced[0]}).stdout
    contains(by_force, f"  {forced[0]} ")
    assert not any(f"  {name} " in by_force for name in forced[1:])


def what_depends_on_magnitudes_is_said():
    question = ("--routine", "dgemm", "8192", "8192", "8192", "--cores", "16", "--assume")
    answer = _explain(*question, "rtx4090")
    equal(answer["choice"]["route"], "host")
    contains(answer["choice"]["reason"], "unless magnitudes are alike")
    contains(answer["choice"]["if_alike"], "streamed with dgemm_crt_sm80", "faster on the device")
    at_risk = {kernel["name"]: kernel["seconds_at_risk"] for kernel in answer["kernels"] if kernel["serves"]}
    assert at_risk["dgemm_crt_sm80"] > 0, at_risk
    equal([name for name in at_risk if at_risk[name] > 0], ["dgemm_crt_sm80", "dgemm_crt_sm75"])
    words = call("TOOL", "explain", *question, "rtx4090").stdout
    contains(words, " ms more unless magnitudes are alike", "\nif alike     streamed with dgemm_crt_sm80")
    assert "alike" not in call("TOOL", "explain", *question, "h200").stdout


def a_small_one_stays():
    answer = _explain("100", "100", "100", "--assume", "h200")
    equal((answer["choice"]["route"], answer["choice"]["reason"]), ("host", "too small to gain"))


def so_does_every_one_without_a_gpu():
    answer = _explain("4000", "4000", "4000", "--assume", "none")
    equal((answer["choice"]["route"], answer["choice"]["reason"]), ("host", "no usable device"))
    equal((answer["kernels"], answer["machine"]["device"]), ([], False))


def where_the_matrices_lie_decides():
    device = _explain("100", "100", "100", "--pointers", "device", "--assume", "h200")
    equal((device["choice"]["route"], device["choice"]["reason"]), ("resident", "operands are on the device"))
    equal(device["route"]["host"]["possible"], False)
    equal(device["route"]["streamed"]["possible"], False)
    equal(_explain("4000", "4000", "4000", "--pointers", "pinned", "--assume", "h200")["choice"]["route"], "streamed")


def a_routine_has_kernels_of_its_own():
    question = ("4000", "4000", "4000", "--pointers", "device", "--assume", "h200")
    single, double = _explain(*question), _explain(*question, "--routine", "dgemm")
    equal((single["problem"]["routine"], double["problem"]["routine"]), ("sgemm", "dgemm"))
    assert double["choice"]["kernel"].startswith("dgemm_"), double["choice"]
    equal({kernel["name"][:5] for kernel in double["kernels"]}, {"dgemm"})
    assert not any(kernel["name"].startswith("dgemm") for kernel in single["kernels"])
    contains(call("TOOL", "explain", *question, "--routine", "DGEMM").stdout, "product      dgemm NN m=4000")
    equal(call("TOOL", "explain", *question, "--routine", "gemm").returncode, 2)


def complex_numbers_may_be_read_where_they_lie():
    chosen = set()
    for routine, *sizes in (("zgemm", "300", "300", "300"), ("zgemm", "4000", "4000", "4000"), ("zherk", "1000", "1000"),
                            ("zher2k", "1000", "1000"), ("zgemm_batch", "64", "64", "64")):
        answer = _explain("--routine", routine, *sizes, "--pointers", "device", "--assume", "h200")
        free = [kernel for kernel in answer["kernels"] if kernel["serves"] and "objection" not in kernel]
        cheapest = min(free, key=lambda kernel: kernel["seconds"])
        equal((answer["choice"]["kernel"], answer["route"]["resident"]["seconds"]), (cheapest["name"], cheapest["seconds"]))
        equal(", folded on device 0" in answer["choice"]["text"], routine == "zher2k")
        equal({kernel["name"].split("_")[0] for kernel in answer["kernels"]}, {"dgemm", "zgemm"})
        chosen.add(answer["choice"]["kernel"].split("_")[0])
    equal(chosen, {"dgemm", "zgemm"})
    in_host = _explain("--routine", "zgemm", "1000", "1000", "1000", "--assume", "h200")
    equal({kernel["name"].split("_")[0] for kernel in in_host["kernels"]}, {"dgemm"})


def triangles_are_asked_for_with_two_sizes():
    at = ("--pointers", "device", "--assume", "h200", "--cores", "16")
    whole = _explain("4000", "4000", "4000", *at)
    for routine, transb in (("ssyrk", "T"), ("sgemmt", "N"), ("sgemmtr", "N")):
        half = _explain("--routine", routine, "4000", "4000", *at)
        equal({key: half["problem"][key] for key in ("routine", "uplo", "transa", "transb", "m", "n", "k", "lda", "ldb")},
              {"routine": routine, "uplo": "L", "transa": "N", "transb": transb, "m": 4000, "n": 4000, "k": 4000,
               "lda": 4000, "ldb": 4000})
        host = [answer["route"]["streamed"]["possible"] for answer in (half, whole)]
        equal(host, [False, False])
        assert half["route"]["resident"]["seconds"] < whole["route"]["resident"]["seconds"], routine
    upper = ("explain", "--routine", "DSYRK", "40", "30", "--uplo", "u", "--transa", "t", "--assume", "h200")
    contains(call("TOOL", *upper).stdout, "product      dsyrk UTN m=40 n=40 k=30 lda=30 ldb=30 ldc=40")


def an_update_reads_one_operand():
    update = _explain("--routine", "dsyrk", "9000", "9000", "--assume", "h200")
    product = _explain("--routine", "dgemmt", "9000", "9000", "--transb", "T", "--assume", "h200")
    assert update["route"]["streamed"]["seconds"] < product["route"]["streamed"]["seconds"]


def a_symmetric_operand_is_asked_for_with_two_sizes():
    problem = _explain("--routine", "zhemm", "40", "30", "--side", "r", "--uplo", "U", "--assume", "h200")["problem"]
    equal({key: problem[key] for key in ("routine", "side", "uplo", "m", "n", "k", "lda", "ldb", "ldc")},
          {"routine": "zhemm", "side": "R", "uplo": "U", "m": 40, "n": 30, "k": 30, "lda": 40, "ldb": 30, "ldc": 40})
    left = ("explain", "--routine", "SSYMM", "40", "30", "--alpha", "2", "--assume", "h200")
    contains(call("TOOL", *left).stdout, "product      ssymm LL m=40 n=30 k=40 lda=40 ldb=40 ldc=40 alpha=2 beta=0")
    conjugated = ("explain", "--routine", "cgemm", "40", "30", "20", "--transa", "c", "--transb", "t", "--assume", "h200")
    contains(call("TOOL", *conjugated).stdout, "product      cgemm CT m=40 n=30 k=20", "alpha=(1,0) beta=(0,0)")


def a_triangular_operand_is_asked_for_with_two_sizes():
    problem = _explain("--routine", "ztrsm", "40", "30", "--side", "r", "--uplo", "U", "--transa", "c", "--diag", "u",
                       "--ldb", "50", "--assume", "h200")["problem"]
    equal({key: problem[key] for key in ("routine", "side", "uplo", "diag", "transa", "transb", "m", "n", "k", "lda", "ldb",
                                         "ldc")},
          {"routine": "ztrsm", "side": "R", "uplo": "U", "diag": "U", "transa": "N", "transb": "C", "m": 40, "n": 30,
           "k": 30, "lda": 50, "ldb": 30, "ldc": 50})
    left = ("explain", "--routine", "DTRMM", "40", "30", "--transa", "T", "--alpha", "2", "--assume", "h200")
    contains(call("TOOL", *left).stdout, "product      dtrmm LLTN m=40 n=30 k=40 lda=40 ldb=40 ldc=40 alpha=2 beta=1")
    nothing = ("explain", "--routine", "DTRMM", "40", "30", "--alpha", "0", "--assume", "none")
    contains(call("TOOL", *nothing).stdout, "m=40 n=30 k=0", "alpha=0 beta=0")
    for wrong in (("--diag", "X"), ("--beta", "2"), ("--transb", "T"), ("--ldb", "39")):
        equal(call("TOOL", *left, *wrong).returncode, 2, wrong)
    equal(call("TOOL", "explain", "40", "30", "20", "--diag", "U").returncode, 2)


def every_routine_is_known():
    routines = re.findall(r"^TB_ROUTINE\(\w+, (\w+), (\w+),", (Path(__file__).parents[2] / "words" / "routines.def").read_text(), re.M)
    pages = [(Path(PATHS["PAGES"]) / page).read_text().lower() for page in ("tileblas.1", "tileblas.bash", "_tileblas")]
    for routine, of_class in routines:
        sizes = ("60", "50", "40") if of_class.startswith("GEMM") else ("60", "50")
        equal(_explain("--routine", routine, *sizes, "--assume", "h200")["problem"]["routine"], routine)
        for page in pages:
            contains(page, routine)


def a_batch_is_one_launch_or_as_many_calls():
    def choice(*arguments):
        return _explain("--routine", "sgemm_batch", *arguments, "--assume", "h200")

    small = choice("64", "64", "64", "--pointers", "device")
    equal((small["problem"]["products"], small["choice"]["route"], small["choice"]["separately"]), (1000, "resident", False))
    large = choice("4096", "4096", "4096", "--products", "8", "--pointers", "device")
    equal((large["problem"]["products"], large["choice"]["kernel"][:11], large["choice"]["separately"]),
          (8, "sgemm_split", True))
    at_home = choice("64", "64", "64")
    equal((at_home["choice"]["route"], at_home["choice"]["separately"]), ("host", False))
    abroad = choice("4096", "4096", "4096", "--products", "8")
    equal((abroad["choice"]["route"], abroad["choice"]["separately"]), ("streamed", True))
    contains(call("TOOL", "explain", "--routine", "DGEMM_BATCH_STRIDED", "30", "20", "10", "--products", "7", "--assume",
                  "h200").stdout, "product      dgemm_batch_strided NN products=7 m=30 n=20 k=10")
    equal(call("TOOL", "explain", "30", "20", "10", "--products", "7").returncode, 2)


def shapes_and_options_reach_the_decision():
    problem = _explain("30", "40", "50", "--transa", "T", "--transb", "c", "--lda", "64", "--alpha", "-2", "--beta",
                       "0.5", "--assume", "h200")["problem"]
    equal(problem, {"routine": "sgemm", "transa": "T", "transb": "T", "m": 30, "n": 40, "k": 50, "lda": 64, "ldb": 40, "ldc": 30,
                    "alpha": -2, "beta": 0.5, "pointers": "host"})
    forced = _explain("100", "100", "100", "--assume", "h200",
                      environment={"TILEBLAS_ROUTE": "streamed", "TILEBLAS_KERNEL": "tiled"})
    equal((forced["choice"]["route"], forced["choice"]["kernel"], forced["choice"]["reason"]),
          ("streamed", "tiled", "forced"))


def this_machines_gpu_is_taken():
    done = call("TOOL_SIM", "explain", "3000", "3000", "3000", "--json",
                environment={"TILEBLAS_START": "background"})
    answer = json.loads(done.stdout)
    equal((answer["machine"]["device"], answer["machine"]["supposed"]), (True, None))
    assert answer["kernels"]


def wrong_questions_are_2():
    for arguments in (("10", "10"), ("10", "10", "x"), ("10", "10", "-1"), ("10", "10", "10", "--transa", "X"),
                      ("10", "10", "10", "--lda", "9"), ("10", "10", "10", "--pointers", "moon"),
                      ("10", "10", "10", "--uplo", "L"), ("--routine", "ssyrk", "10", "10", "10"),
                      ("--routine", "ssyrk", "10", "10", "--transb", "N"),
                      ("--routine", "ssyrk", "10", "10", "--uplo", "X"),
                      ("0", "10", "10"), ("10", "0", "10"), ("--routine", "dsyrk", "0", "10"),
                      ("10", "10", "10", "--assume", "abacus"), ("10", "10", "10", "--cores", "0")):
        done = call("TOOL", "explain", *arguments)
        equal((done.returncode, done.stdout), (2, ""), str(arguments))
    # Sizes of any magnitude are thinkable.
    equal(_explain("1000000", "1000000", "1000000", "--assume", "h200")["choice"]["route"], "streamed")
    equal(_explain("10", "10", "0", "--assume", "h200")["choice"]["route"], "host")


if __name__ == "__main__":
    main(globals())
