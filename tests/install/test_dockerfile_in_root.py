# SPDX-License-Identifier: MIT
"""The steps of the Dockerfile's CPU stage, one after the other, in a bare Debian 12; then the image's command measures something.

Needs root, debootstrap and a mirror of Debian. The root stays in PACELINE_ROOTS and is copied for each run. What set-up has unpacked on this
machine (PACELINE_DEPS) is put in place, and the compiler cache is shared: so wheels are not fetched again. Takes 10 to 40 minutes.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import unittest
from pathlib import Path

import dockerfile_lab as lab
from bundle_lab import DEPS, INFER, skip

ROOTS = Path(os.environ.get("PACELINE_ROOTS", "build/bare_roots")).resolve()
UNPACKED = ("torch", "onnxruntime", "openvino")
CACHE = ROOTS / "ccache"  # kept beside the roots
FROM_HOST = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "PIP_INDEX_URL", "MAKEFLAGS")


def bare_root():
    """A Debian 12 with nothing but its base, as debian:12-slim is."""
    root = ROOTS / "bookworm"
    if not (root / ".complete").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        made = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", str(root)], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            skip(f"no bare root: {(made.stdout + made.stderr).strip().splitlines()[-1]}")
        (root / ".complete").touch()
    return root


class Steps(unittest.TestCase):
    def setUp(self):
        bare = bare_root()
        self.root = ROOTS / "dockerfile"
        subprocess.run(["rm", "-rf", "--one-file-system", str(self.root)], check=True)
        subprocess.run(["cp", "-a", str(bare), str(self.root)], check=True)
        self.addCleanup(subprocess.run, ["rm", "-rf", "--one-file-system", str(self.root)], check=False)
        for name in ("etc/apt", "etc/resolv.conf", "etc/pip.conf", "etc/ssl"):  # how this machine reaches its mirrors
            if (Path("/") / name).exists():
                subprocess.run(["cp", "-aT", "--remove-destination", f"/{name}", str(self.root / name)], check=True)
        self.folder, self.env = "/", {"HOME": "/root", "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.env.update({name: os.environ[name] for name in FROM_HOST if name in os.environ})

    def run_step(self, command, timeout=5400):
        root = self.root
        (root / "ccache").mkdir(parents=True, exist_ok=True)
        mounts = [f"mount -t proc proc {root}/proc", f"mount --rbind /dev {root}/dev", f"mount --rbind /sys {root}/sys"]
        CACHE.mkdir(parents=True, exist_ok=True)
        mounts.append(f"mount --bind {CACHE} {root}/ccache")
        inside = f"cd {shlex.quote(self.folder)} && {command}"
        environment = " ".join(shlex.quote(f"{name}={value}") for name, value in {**self.env, "CCACHE_DIR": "/ccache"}.items())
        script = f"{' && '.join(mounts)} && exec chroot {root} env -i {environment} sh -c {shlex.quote(inside)}"
        done = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "sh", "-c", script], capture_output=True, text=True,
                              check=False, timeout=timeout)
        print(f"{done.returncode}: {command}", flush=True)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-4000:]}\n---\n{done.stderr[-4000:]}")
        return done.stdout

    def copy(self, argument):
        self.assertEqual(argument, ". .")
        target = self.root / self.folder.lstrip("/")
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=lab.ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            source = lab.ROOT / name
            if source.is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target / name, follow_symlinks=False)
        for name in UNPACKED:
            if (DEPS / name / ".pins").is_file():
                (target / ".deps").mkdir(exist_ok=True)
                subprocess.run(["cp", "-a", str(DEPS / name), str(target / ".deps")], check=True)

    def set_environment(self, argument):
        self.env.update(word.split("=", 1) for word in shlex.split(argument))

    def change_folder(self, argument):
        self.folder = argument
        (self.root / argument.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def test_the_steps_of_the_stage_for_cpus(self):
        stage = lab.stages()["cpu"]
        does = {"RUN": self.run_step, "COPY": self.copy, "ENV": self.set_environment, "WORKDIR": self.change_folder,
                "ENTRYPOINT": lambda _: None, "CMD": lambda _: None}
        self.assertFalse((self.root / "usr/bin/make").exists(), "the root is not bare")
        for instruction, argument in stage.instructions:
            does[instruction](argument)
        entry = stage.last_list("ENTRYPOINT")
        self.assertRegex(self.run_step(shlex.join([*entry, *stage.last_list("CMD")])), "usage: paceline")
        self.run_step(shlex.join([*entry, *INFER]))
        summary, = (self.root / "work").glob("results/*/*/run_summary.json")
        self.assertEqual([case["outcome"] for case in json.loads(summary.read_text())["cases"]], ["ok", "ok"])
        print(re.sub(r"\n.*", "", self.run_step("paceline --version"), flags=re.S))


if __name__ == "__main__":
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        skip("this test makes a bare root, which needs root and debootstrap")
    unittest.main()
