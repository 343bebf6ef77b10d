#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""usage: training_step.py [--mpi openmpi|mpich]: a step of training over two processes, in onto and in torch.distributed.

Builds training_step.cpp, runs it with `mpirun -n 2`, and the same perceptron in PyTorch with gloo: the gradients as one
flat tensor that is all-reduced, as Horovod does, and by DistributedDataParallel. Prints the rows of a table."""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS, INPUTS, HIDDEN, OUTPUTS = 64, 256, 512, 10


def worker(rank, way, file, out):
    """One of the two processes of PyTorch."""
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(INPUTS, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, OUTPUTS))
    x, y = torch.rand(ROWS, INPUTS) * 2 - 1, torch.rand(ROWS, OUTPUTS) * 2 - 1
    net = torch.nn.parallel.DistributedDataParallel(model) if way == "ddp" else model
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    parameters = list(model.parameters())
    took = []
    for k in range(330):
        begin = time.perf_counter()
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        if way == "flat":
            flat = torch.cat([p.grad.reshape(-1) for p in parameters])
            dist.all_reduce(flat)
            flat /= 2
            at = 0
            for p in parameters:
                p.grad.copy_(flat[at:at + p.numel()].view_as(p))
                at += p.numel()
        optimizer.step()
        loss.item()
        if k >= 30:
            took.append(1e3 * (time.perf_counter() - begin))
    if rank == 0:
        pathlib.Path(out).write_text(f"{statistics.median(took)} {min(took)}")
    dist.destroy_process_group()


def torch_times(way):
    """Median and least, in milliseconds."""
    import torch.multiprocessing as mp
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        mp.spawn(worker, args=(way, pathlib.Path(folder) / "meet", str(out)), nprocs=2)
        return tuple(float(t) for t in out.read_text().split())


def onto_times(mpi):
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "training_step"
        subprocess.run([f"mpicxx.{mpi}", "-std=c++20", "-O2", f"-I{ROOT / 'include'}", ROOT / "benchmarks/cluster/training_step.cpp",
                        "-o", program, "-pthread"], check=True)
        for _ in range(3):
            out = subprocess.run([f"mpirun.{mpi}", "-n", "2", program], env=environment, check=True, capture_output=True, text=True).stdout
            yield [(what, float(median), float(least)) for what, median, least in re.findall(r"(.*): (\S+) (\S+), loss", out)]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mpi", default="openmpi", choices=("openmpi", "mpich"))
    mpi = options.parse_args().mpi
    rows = [row for run in onto_times(mpi) for row in run]
    rows += [(f"torch {way}", *torch_times(way)) for _ in range(3) for way in ("flat", "ddp")]
    best = {}
    for what, median, least in rows:  # of three runs the one with the least median
        best[what] = min(best.get(what, (median, least)), (median, least))
    base = best["onto, towers"]
    for what, (median, least) in best.items():
        print(f"| {mpi} | {what} | {median:.2f} | {least:.2f} | {median / base[0]:.2f} |")
    print(f"load {os.getloadavg()[0]:.0f}")


if __name__ == "__main__":
    main()
