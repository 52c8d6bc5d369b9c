"""Network namespaces, in which the tests of this folder have machines with addresses of their own."""
import os
import shutil
import subprocess


def why_not():
    """The reason why there can be none here, or None."""
    if os.geteuid() != 0:
        return "only root may make network namespaces"
    if not shutil.which("ip"):
        return "there is no `ip` (package iproute2)"
    trial = f"ostraka-{os.getpid()}-trial"
    try:
        for command in (["netns", "add", trial], ["netns", "exec", trial, "true"], ["-n", trial, "link", "set", "lo", "up"]):
            subprocess.run(["ip", *command], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        return "network namespaces are not allowed here: " + error.stderr.strip()
    finally:
        subprocess.run(["ip", "netns", "del", trial], check=False, capture_output=True)
    return None
