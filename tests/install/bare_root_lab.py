# SPDX-License-Identifier: MIT
"""Common parts of tests in bare roots: how a root of another distribution is made, and how a command runs in it without a network.

Needs root, debootstrap, and a mirror of each release the first time; the roots stay in PACELINE_ROOTS.
"""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import bundle_lab as lab

ROOTS = Path(os.environ.get("PACELINE_ROOTS", "build/bare_roots")).resolve()
IN_ROOT = "env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONPATH=/opt/site"


def make_root(release, packages):
    """The folder of a release's root; a reason instead where it cannot be had."""
    root = ROOTS / "-".join((release, *packages))
    if (root / ".complete").exists():
        return root, None
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", release, str(root)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return None, f"{release}: {(made.stdout + made.stderr).strip().splitlines()[-1]}"
    (root / ".complete").touch()
    return root, None


def make_roots(releases, *packages):
    """Release to root, of those that can be had; ends the test where none can."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        lab.skip("this test makes bare roots, which needs root and debootstrap")
    made, reasons = {}, []
    for release in releases:
        root, reason = make_root(release, packages)
        if root:
            made[release] = root
        else:
            reasons.append(reason)
            print(f"without {reason}", flush=True)
    return made or lab.skip("; ".join(reasons))


def run_in(root, site, script):
    """In namespaces of its own: what is mounted goes with the process, and no network is there but the loopback."""
    for name in ("opt/site", "root"):
        (root / name).mkdir(parents=True, exist_ok=True)
    mounts = f"mount --bind {shlex.quote(str(site))} {root}/opt/site && mount -o remount,ro,bind {root}/opt/site && mount -t proc proc {root}/proc && " \
             f"mount --rbind /dev {root}/dev && mount --rbind /sys {root}/sys && mount -t tmpfs tmpfs {root}/dev/shm"
    command = f"ip link set lo up; {mounts} && exec chroot {root} {IN_ROOT} sh -ec {shlex.quote(script)}"
    return subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "--propagation", "private", "sh", "-c", command], capture_output=True,
                          text=True, check=False, timeout=600)


def empty_home(root):
    shutil.rmtree(root / "root", ignore_errors=True)
    (root / "root").mkdir()


def name_of(root):
    return re.search(r'PRETTY_NAME="(.*)"', (root / "etc/os-release").read_text()).group(1)
