#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Programs over several processes, with each MPI that is installed: the tests and examples of this folder and of
# examples/cluster, and what becomes of the others when one process is killed, stopped, late, cut off, out of memory, ends
# or throws. The second MPI's programs are clang++'s, where there is one.
"""usage: check.py [openmpi|mpich]...; ONTO_KILLS=100 kills that many processes with each MPI, 3 where it is not set"""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from compilers import INCLUDE, QUICKER, ROOT, close, indent  # noqa: E402
from examples import compare  # noqa: E402
from hosts import two_hosts  # noqa: E402

TESTS = ROOT / "tests" / "cluster"
EXAMPLES = ROOT / "examples" / "cluster"
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
SENTENCE = r"task {}: \[onto\.cluster\] /job:worker/task:1 {}"


class Mpi:
    """One MPI: its compiler, which calls `compiler` or what it was installed with, and its launcher."""

    def __init__(self, name, folder, runtime, compiler=None):
        self.name, self.folder, self.runtime = name, folder, runtime
        self.environment = {**os.environ, "OMPI_CXX": compiler, "MPICH_CXX": compiler} if compiler else None
        said = subprocess.run([f"mpicxx.{name}", "--version"], capture_output=True, text=True, check=False, env=self.environment).stdout
        self.quicker = [] if "clang" in said else QUICKER
        self.passed = self.failed = self.skipped = 0

    @staticmethod
    def is_installed(name):
        return all(shutil.which(f"{tool}.{name}") for tool in ("mpicxx", "mpirun"))

    def verdict(self, what, reason):
        self.passed += reason is None
        self.failed += reason is not None
        print(f"ok: {self.name}: {what}" if reason is None else f"FAIL {self.name}: {what}: {reason}", flush=True)

    def build(self, source, *flags):
        program = self.folder / f"{source.stem}.{self.name}"
        command = [f"mpicxx.{self.name}", "-std=c++20", "-O0", *self.quicker, "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror",
                   f"-I{INCLUDE}", "-DONTO_COMPILED", *flags, source, self.runtime, "-o", program, "-pthread"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment)
        if done.returncode == 0:
            return program
        self.verdict(source.name, f"it does not compile\n{indent(done.stdout + done.stderr)}")
        return None

    def run(self, processes, program, *arguments, limit=60, launcher=None, hosts=None, meanwhile=None):
        """(status, standard output, standard error, seconds); status None where it did not end. Calls `meanwhile`."""
        command = [f"mpirun.{launcher or self.name}", "-n", str(processes)] if processes else []
        command = hosts.launcher(self.name, processes) if hosts else command
        begin = time.monotonic()
        started = subprocess.Popen([*command, program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True, errors="replace", env=ENVIRONMENT)
        try:
            if meanwhile:
                meanwhile()
            out, err = started.communicate(timeout=limit)
            return started.returncode, out, err, time.monotonic() - begin
        except subprocess.TimeoutExpired:
            started.terminate()  # mpirun ends its processes
            try:
                out, err = started.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                started.kill()
                out, err = started.communicate()
            return None, out, err, time.monotonic() - begin

    def expect(self, what, ran, status=0, words=(), seconds=60):
        """`status` None: any but 0. `words`: regular expressions for standard error."""
        got, out, err, took = ran
        reason = None
        if got is None:
            reason = "it did not end"
        elif (got != status) if status is not None else got == 0:
            reason = f"it ended with status {got}"
        elif took > seconds:
            reason = f"it took {took:.1f} s"
        else:
            missing = [w for w in words if not re.search(w, err)]
            reason = f"nothing says {missing[0]}" if missing else None
        self.verdict(f"{what} ({took:.1f} s)", reason and f"{reason}\n{indent(out + err)}")


def check_programs(mpi, is_first):
    program = mpi.build(TESTS / "programs.cpp", *([] if is_first else ["-DONTO_FEW"]))
    if not program:
        return
    for processes in (1, 2, 3, 4, 9):
        mpi.expect(f"programs over {processes} processes", mpi.run(processes, program, str(processes)))
    mpi.expect("one process without mpirun", mpi.run(0, program, "1"))
    few = [r"the cluster has 3 tasks, and there are 2 processes; start it with mpirun -n 3"]
    mpi.expect("too few processes", mpi.run(2, program, "3"), None, few, seconds=20)
    mpi.expect("too many processes", mpi.run(3, program, "2"), None, [r"the cluster has 2 tasks, and there are 3"], seconds=20)
    other = "mpich" if mpi.name == "openmpi" else "openmpi"
    if Mpi.is_installed(other):
        mpi.expect(f"started by the mpirun of {other}", mpi.run(2, program, "2", launcher=other), None,
                   [r"was built with another MPI"], seconds=20)


def check_faults(mpi):
    program = mpi.build(TESTS / "faults.cpp")
    if not program:
        return
    mpi.expect("three processes without a fault", mpi.run(3, program))
    for how, what in (("late", "late"), ("stop", "stopped"), ("inside", "stopped while others add up")):
        mpi.expect(f"a process that is {what}", mpi.run(3, program, how), None,
                   [SENTENCE.format(rank, r"did not answer within 3 s") for rank in (0, 1)], seconds=40)
    mpi.expect("a process that ends its session early", mpi.run(3, program, "leave"), None,
               [SENTENCE.format(rank, "has ended its session") for rank in (0, 1)], seconds=40)
    mpi.expect("a process without memory for its part, and all go on", mpi.run(3, program, "memory"), 0,
               [rf"task {rank}: \[onto\.memory\] /job:worker/task:1/device:CPU:0 has no memory left for 256" for rank in range(3)], seconds=40)
    check_own_pace(mpi, program)
    # Here the launcher is faster than anybody's words.
    for how in ("throw", "exit"):
        mpi.expect(f"a process that ends by {how}", mpi.run(3, program, how), None, seconds=40)
    check_hosts(mpi, program)
    check_kills(mpi, program, int(os.environ.get("ONTO_KILLS", "3")))


def check_own_pace(mpi, program):
    """Workers that do not wait for each other: all updates count, and who is lost is named while the others go on."""
    mpi.expect("four workers at their own pace", mpi.run(5, program, "pace", "slow", "5"), 0,
               [r"the sum of 160 updates is 400", *(rf"task {rank} is done" for rank in range(5))])
    mpi.expect("two, where MPI lets in one thread at a time", mpi.run(3, program, "pace", "serialized", "3"), 0,
               [r"the sum of 80 updates is 120"])
    mpi.expect("a worker that is stopped, and two that go on", mpi.run(4, program, "pace", "stop", "4"), None,
               [r"/job:worker/task:2 is lost, and the other workers go on: \[onto\.cluster\] /job:worker/task:2 did not answer within 1.5 s",
                r"the sum of 90 updates is 150", r"task 1 is done", r"task 2 is done"])


def check_hosts(mpi, program):
    """Processes on two hosts take some steps together; then the link between the hosts goes down."""
    with two_hosts(mpi.folder) as (hosts, reason):
        if not hosts:
            print(f"skipped: {mpi.name}: two hosts as network namespaces: {reason}")
            mpi.skipped += 1
            return
        begun = mpi.folder / f"{mpi.name}.begun"
        words = pathlib.Path(f"{begun}.2")
        words.unlink(missing_ok=True)
        got, out, err, took = mpi.run(3, program, "cut", begun, hosts=hosts, meanwhile=lambda: hosts.cut(begun, 9))
        err += f"\n{words.read_text(encoding='utf-8')}\n" if words.exists() else ""
        mpi.expect("a host that is cut off", (got, out, err, took), None,
                   [SENTENCE.format(1, "did not answer within 3 s"),
                    r"task 2: \[onto\.cluster\] /job:(ps|worker)/task:0 did not answer within 3 s"], seconds=40)


def check_kills(mpi, program, count):
    """One of 7 processes is killed at a random moment: all end, the checkpoint is whole, and the next start goes on."""
    file = mpi.folder / f"{mpi.name}.safetensors"
    pids = pathlib.Path(f"{file}.pids")
    saved = 0
    for number in range(count):
        shutil.rmtree(pids, ignore_errors=True)
        # Every fourth is asked to end, as a machine that is shut down asks.
        how = signal.SIGTERM if number % 4 == 3 else signal.SIGKILL
        victim, delay = random.randrange(7), random.uniform(0, 1.5)
        ran = mpi.run(7, program, "train", file, "1000000", "7",
                      meanwhile=lambda: kill_in_time(pids / str(victim), delay, how))
        what = f"process {victim} of 7 gets {how.name} {delay:.2f} s after its start"
        told = [int(k) for k in re.findall(r"saved (\d+)", ran[1])]
        begun = re.search(r"from (\d+)", ran[1])
        reason = None
        if ran[0] == 0 or ran[0] is None:
            reason = f"it ended with status {ran[0]}"
        elif begun and int(begun[1]) < saved:
            reason = f"it went on from step {begun[1]}, and {saved} was saved"
        saved = max([saved, *told])
        if saved and not reason:
            reason = broken_checkpoint(file, saved)
        mpi.verdict(f"{what} ({ran[3]:.1f} s)", reason and f"{reason}\n{indent(ran[1] + ran[2])}")
    # What is left goes on with fewer processes, to the right end.
    mpi.expect("two processes go on from there", mpi.run(2, program, "train", file, str(saved + 25), "2"))
    mpi.expect("and one", mpi.run(0, program, "train", file, str(saved + 35), "1"))


def kill_in_time(pid, delay, how):
    """Kills the process that writes its number to the file `pid`, `delay` seconds later."""
    begin = time.monotonic()
    while not (pid.exists() and pid.read_text()) and time.monotonic() < begin + 30:
        time.sleep(0.01)
    time.sleep(delay)
    os.kill(int(pid.read_text()), how)


def broken_checkpoint(file, least):
    """What is wrong with it; the step must be `least` or a later one."""
    data = file.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    if max(t["data_offsets"][1] for t in header.values()) != len(data) - 8 - length:
        return "the checkpoint is cut off"
    values = {name: struct.unpack(f"<{(t['data_offsets'][1] - t['data_offsets'][0]) // 4}f",
                                  data[8 + length:][t["data_offsets"][0]:t["data_offsets"][1]]) for name, t in header.items()}
    step = values["v"][0]
    if step < least or set(values["v"]) != {step} or set(values["w"]) != {3 * step}:
        return f"the checkpoint is not of one moment, or older than step {least}"
    return None


def check_traces(mpi):
    """One file has what all tasks did, in one time; what is no longer given stays with whose it is."""
    program = mpi.build(TESTS / "traces.cpp")
    if not program:
        return
    file = mpi.folder / f"{mpi.name}.trace.json"
    mpi.expect("three processes with a trace", mpi.run(3, program, file))
    left = sorted(f.name for f in mpi.folder.glob(f"{file.name}.*"))
    mpi.verdict("a trace of three processes is one file", f"there are also {left}" if left else wrong_trace(file, 3))
    mpi.expect("a process with a trace that is killed", mpi.run(3, program, file, "kill"), None)
    part = mpi.folder / f"{file.name}.worker-1"
    mpi.verdict("the part of a killed process stays", wrong_trace(part, 1, runs=5) if part.exists() else "there is none")


def wrong_trace(file, tasks, runs=5):
    """What is wrong with a trace of tests/cluster/traces.cpp, or None."""
    try:
        events = json.loads(file.read_text())["traceEvents"]
    except ValueError as e:
        return f"it is no JSON: {e}"
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    labels = {e["pid"]: e["args"]["labels"] for e in events if e["name"] == "process_labels"}
    spans = [e for e in events if e["ph"] == "X"]
    if len(names) != tasks or len(labels) != tasks:
        return f"it has {len(names)} processes with {len(labels)} labels"
    if tasks > 1 and sorted(names.values()) != [f"/job:worker/task:{k}/device:CPU:0" for k in range(tasks)]:
        return f"its processes are {sorted(names.values())}"
    for pid, name in names.items():
        mine = [e for e in spans if e["pid"] == pid]
        for category in ("kernel", "message", "all-reduce"):
            if sum(e["cat"] == category for e in mine) < runs:
                return f"{name} has {sum(e['cat'] == category for e in mine)} spans of {category}"
        for thread in {e["tid"] for e in mine}:
            in_order = sorted((e["ts"], e["ts"] + e["dur"]) for e in mine if e["tid"] == thread and e["cat"] != "wait")
            if any(b[0] < a[1] - 2e-3 for a, b in zip(in_order, in_order[1:])):
                return f"two spans of thread {thread} of {name} are at one time"
    # Every message comes later than it was begun, by the one clock that all have, give or take its error.
    error = {pid: float(found[1]) + 0.2 if (found := re.search(r"within ([\d.]+) us", text)) else 0 for pid, text in labels.items()}
    ends = {}
    for e in spans:
        if e["cat"] == "message":
            way = re.sub(r"^copy from |/device:CPU:0", "", e["args"]["operation"])
            ends.setdefault((way, e["args"]["number"]), {})[e["pid"]] = e
    for (way, number), both in ends.items():
        source = next((pid for pid, name in names.items() if way.startswith(name.removesuffix("/device:CPU:0"))), None)
        if tasks == 1:
            continue
        if len(both) != 2 or source not in both:
            return f"message {number} from {way} has {len(both)} ends"
        target = next(pid for pid in both if pid != source)
        came = both[target]["ts"] + both[target]["dur"]
        if came + error[source] + error[target] < both[source]["args"]["begun"]:
            return f"message {number} from {way} came before it was sent"
    arrows = [(e["id"], e["ph"]) for e in events if e["ph"] in "sf"]
    if len(set(arrows)) != len(arrows) or (tasks > 1 and len(arrows) != 2 * len(ends)):
        return f"{len(arrows)} ends of arrows for {len(ends)} messages"
    return None


def check_examples(mpi, is_first, trainings):
    for source in sorted(EXAMPLES.glob("*.cpp")):
        if source.stem.endswith("_workers"):
            if source.stem in trainings:
                TRAININGS[source.stem](mpi, source)
            continue
        if source.stem == "asynchronous_server" and not is_first:  # faults.cpp does the same with every MPI
            continue
        program = mpi.build(source)
        if not program:
            continue
        processes = re.search(r"mpirun -n (\d+)", source.read_text())
        status, out, err = run_apart(mpi, int(processes[1]) if processes else 0, program)
        reason = None if status == 0 else f"it ended with status {status}\n{indent(out + err)}"
        mpi.verdict(f"examples/cluster/{source.name}", reason or compare(source.with_suffix(".out"), out, "standard output"))


def run_apart(mpi, processes, program):
    """(status, standard output of one process after the other, standard error): mpirun mixes what they print."""
    outs = [mpi.folder / f"{program.name}.out.{rank}" for rank in range(max(processes, 1))]
    script = f'exec "$0" > "$1.${{{"OMPI_COMM_WORLD_RANK" if mpi.name == "openmpi" else "PMI_RANK"}:-0}}"'
    status, out, err, _ = mpi.run(processes, "sh", "-c", script, program, mpi.folder / f"{program.name}.out")
    return status, out + "".join(file.read_text() for file in outs if file.exists()), err


def check_workers(mpi, source):
    """A training in one process, and the same one from checkpoint to checkpoint with other workers in other layouts."""
    program = mpi.build(source)
    if not program:
        return
    file = mpi.folder / "digits.safetensors"
    expected = mpi.run(0, program, "--workers=1", "--steps=50")[1]
    for layout in ("data --workers=4", "server --workers=2", "model --workers=2"):
        status, out, err, took = mpi.run(0, program, *f"--layout={layout} --steps=50 --simulated".split())
        same = [re.findall(r"step 50: loss (\d+\.\d+)", text) for text in (expected, out)]
        good = status == 0 and all(same) and abs(float(same[0][0]) - float(same[1][0])) < 2e-4
        mpi.verdict(f"digits_workers: {layout}, in one process ({took:.1f} s)", None if good else f"it ended with status {status}\n{indent(out + err)}")
    text = ""
    for number, (processes, layout) in enumerate([(2, "data --workers=2"), (3, "server --workers=2"), (1, "data --workers=1"),
                                                  (2, "model --workers=2"), (4, "data --workers=4")]):
        status, out, err, took = mpi.run(processes, program, *f"--layout={layout} --steps={10 * number + 10}".split(),
                                         f"--checkpoint={file}")
        reason = None if status == 0 else f"it ended with status {status}\n{indent(out + err)}"
        if number and f"goes on after step {10 * number}\n" not in out:
            reason = reason or f"it did not go on from the checkpoint\n{indent(out + err)}"
        mpi.verdict(f"digits_workers: {layout} ({took:.1f} s)", reason)
        text = out
    losses = [float(found[1]) if (found := re.search(r"step 50: loss (\d+\.\d+)", out)) else -1 for out in (expected, text)]
    good = min(losses) > 0 and abs(losses[0] - losses[1]) < 2e-4
    mpi.verdict("digits_workers: all learn the same", None if good else f"the losses are {losses}")


def loss_of(out, step):
    """What a training says of a step, or -1."""
    found = re.search(rf"step {step}: loss (\d+\.\d+)", out)
    return float(found[1]) if found else -1


def check_convolution(mpi, source):
    """One process, and from checkpoint to checkpoint two, one and two again: the same loss."""
    program = mpi.build(source)
    if not program:
        return
    file = mpi.folder / "convolution.safetensors"
    expected = loss_of(mpi.run(0, program, "--workers=1", "--steps=30")[1], 30)
    text = ""
    for number, workers in enumerate((2, 1, 2)):
        status, text, err, took = mpi.run(workers, program, f"--workers={workers}", "--threads=1", f"--steps={10 * number + 10}",
                                          f"--checkpoint={file}")
        reason = None if status == 0 else f"it ended with status {status}\n{indent(text + err)}"
        if number and f"goes on after step {10 * number}\n" not in text:
            reason = reason or f"it did not go on from the checkpoint\n{indent(text + err)}"
        mpi.verdict(f"{source.stem}: {workers} workers ({took:.1f} s)", reason)
    found = loss_of(text, 30)
    good = expected > 0 and abs(expected - found) < 2e-4
    mpi.verdict(f"{source.stem}: all learn the same", None if good else f"the losses are {expected} and {found}")
    status, _, err, _ = mpi.run(0, program, "--workers=3")
    good = status == 2 and "is not compiled for 3 workers; compile it with -DWORKERS=3" in err
    mpi.verdict(f"{source.stem}: a number that it is not compiled for", None if good else f"status {status}\n{indent(err)}")


def check_cifar10(mpi, source):
    """Two processes, on small batches, beside the same program in one process, and on from where they ended."""
    program = mpi.build(source, "-DBATCH=8", "-DWORKERS=2")
    if not program:
        return
    file = mpi.folder / "cifar10.safetensors"
    outs = [mpi.run(0, program, "--workers=2", "--threads=1", "--simulated", "--steps=4"),
            mpi.run(2, program, "--workers=2", "--threads=1", "--steps=2", f"--checkpoint={file}"),
            mpi.run(2, program, "--workers=2", "--threads=1", "--steps=4", f"--checkpoint={file}")]
    bad = [o for o in outs if o[0] != 0]
    losses = [loss_of(outs[k][1], 4) for k in (0, 2)]
    reason = f"it ended with status {bad[0][0]}\n{indent(bad[0][1] + bad[0][2])}" if bad else None
    if not reason and not (losses[0] > 0 and abs(losses[0] - losses[1]) < 2e-4):
        reason = f"the losses are {losses}"
    mpi.verdict(f"{source.stem}: two workers ({sum(o[3] for o in outs):.1f} s)", reason)


TRAININGS = {"cifar10_workers": check_cifar10, "digits_convolution_workers": check_convolution, "digits_workers": check_workers}


def check_cmake(mpi):
    """onto::cluster in a project of its own."""
    if not shutil.which("cmake"):
        return
    folder = mpi.folder / f"cmake.{mpi.name}"
    for command in (["cmake", "-S", TESTS / "consumer", "-B", folder, f"-DMPI_CXX_COMPILER=mpicxx.{mpi.name}"],
                    ["cmake", "--build", folder, "--target", "local_server"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            mpi.verdict("a project that links onto::cluster", f"it is not built\n{indent(done.stdout + done.stderr)}")
            return
    status, out, err, _ = mpi.run(0, folder / "local_server")
    reason = None if status == 0 else f"it ended with status {status}\n{indent(out + err)}"
    mpi.verdict("a project that links onto::cluster",
                reason or compare(EXAMPLES / "local_server.out", out, "standard output"))


def main():
    wanted = sys.argv[1:] or ["openmpi", "mpich"]
    found = [name for name in wanted if Mpi.is_installed(name)]
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runtime = folder / "runtime.o"
        if found:
            # It names no MPI, and a program of one compiler may have the runtime of the other: one for all.
            subprocess.run([os.environ.get("CXX") or "g++", "-std=c++20", "-O0", f"-I{INCLUDE}", "-DONTO_COMPILED", "-c",
                            ROOT / ".cmake" / "compiled.cpp", "-o", runtime], check=True)
        for number, name in enumerate(found):
            mpi = Mpi(name, folder, runtime, None if name == found[0] else shutil.which("clang++"))
            check_programs(mpi, name == found[0])
            check_faults(mpi)
            check_traces(mpi)
            check_examples(mpi, name == found[0], list(TRAININGS)[number::len(found)])  # which take turns
            if name == found[0]:
                check_cmake(mpi)
            passed, failed, skipped = passed + mpi.passed, failed + mpi.failed, skipped + mpi.skipped
    missing = [name for name in wanted if name not in found]
    for name in missing:
        print(f"skipped: {name}: mpicxx.{name} and mpirun.{name} are not installed")
    close("cluster", passed, failed, skipped + len(missing))


if __name__ == "__main__":
    main()
