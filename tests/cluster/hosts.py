# SPDX-License-Identifier: BSL-1.0
# Two hosts on one machine: network namespaces with a link between them, on which processes are started as on others.
import contextlib
import os
import shutil
import signal
import subprocess
import time

AGENT = """#!/bin/sh
# Starts a command on a host, as ssh does.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1; shift
case $host in *.1) at=a;; *) at=b;; esac
exec ip netns exec SPACE$at unshare -u sh -c "hostname host-$at; $*"
"""


class Hosts:
    """Host a has room for two processes, host b for one."""

    def __init__(self, space, agent):
        self.space, self.agent = space, agent

    def launcher(self, mpi, processes):
        """The command that starts so many processes, the last one on host b."""
        inside = ["ip", "netns", "exec", f"{self.space}a", "unshare", "-u", "sh", "-c", 'hostname host-a; exec "$@"', "sh"]
        hosts = "10.77.0.1:2,10.77.0.2:1"
        if mpi == "openmpi":
            net = "10.77.0.0/24"
            return [*inside, "mpirun.openmpi", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", net,
                    "--mca", "oob_tcp_if_include", net, "--mca", "plm_rsh_agent", self.agent, "--host", hosts, "-n", str(processes)]
        return [*inside, "env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0", "mpirun.mpich", "-launcher", "ssh", "-launcher-exec", self.agent,
                "-localhost", "10.77.0.1", "-iface", "eth0", "-hosts", hosts, "-n", str(processes)]

    def cut(self, begun, seconds):
        """Takes the link down once there is a file `begun`, and up again, since the launchers wait for each other's end."""
        limit = time.monotonic() + 20
        while not begun.exists() and time.monotonic() < limit:
            time.sleep(0.05)
        time.sleep(0.3)
        self.link("down")
        time.sleep(seconds)
        self.link("up")

    def link(self, state):
        subprocess.run(["ip", "-n", f"{self.space}a", "link", "set", "eth0", state], check=True)

    def end(self):
        for host in "ab":
            pids = subprocess.run(["ip", "netns", "pids", f"{self.space}{host}"], capture_output=True, text=True, check=False)
            for pid in pids.stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", f"{self.space}{host}"], capture_output=True, check=False)


def is_up(space):
    shown = subprocess.run(["ip", "-n", space, "link", "show", "eth0"], capture_output=True, text=True, check=False)
    return "state UP" in shown.stdout


@contextlib.contextmanager
def two_hosts(folder):
    """(hosts, None), or (None, why there are none)."""
    if not all(shutil.which(tool) for tool in ("ip", "unshare", "hostname")):
        yield None, "ip, unshare or hostname is not installed"
        return
    space = f"o{os.getpid()}"
    agent = folder / "agent.sh"
    agent.write_text(AGENT.replace("SPACE", space))
    agent.chmod(0o755)
    hosts = Hosts(space, str(agent))
    a, b = f"{space}a", f"{space}b"
    commands = [f"netns add {a}", f"netns add {b}", f"link add eth0 netns {a} type veth peer name eth0 netns {b}",
                *(f"-n {n} addr add 10.77.0.{k}/24 dev eth0" for k, n in ((1, a), (2, b))),
                *(f"-n {n} link set {d} up" for n in (a, b) for d in ("lo", "eth0"))]
    try:
        for command in commands:
            done = subprocess.run(["ip", *command.split()], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                yield None, f"ip {command}: {done.stderr.strip()}"
                return
        limit = time.monotonic() + 5
        while time.monotonic() < limit and not all(is_up(n) for n in (a, b)):
            time.sleep(0.05)
        done = subprocess.run(["ip", "netns", "exec", a, "unshare", "-u", "hostname", "host-a"], capture_output=True, text=True,
                              check=False)
        yield (hosts, None) if done.returncode == 0 else (None, done.stderr.strip())
    finally:
        hosts.end()
