#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The components of others in a bundle, as SPDX 2.3 in JSON: from the files themselves, the build folder, and the records of dpkg and pip.

usage: sbom.py BUNDLE BUILD_DIR FILE.spdx.json SECONDS_SINCE_1970
"""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import time

import libraries


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def owners(paths):
    """File to Debian's package, each found under a place that dpkg knows."""
    places = {candidate: path for path in paths for candidate in (str(path), str(path.resolve()), f"/usr{path}")}
    lines = said("dpkg", "-S", *places).splitlines()
    found = {places[file]: line.split(":")[0] for line in lines if (file := line.split(": ", 1)[-1]) in places}
    lost = sorted(str(path) for path in set(paths) - set(found))
    if lost:
        raise SystemExit(f"sbom: no package of dpkg has '{lost[0]}'")
    return found


def facts(package):
    version, source, architecture = said("dpkg-query", "-W", "-f", "${Version}\t${source:Package}\t${Architecture}\n", package).splitlines()[0].split("\t")
    return version, source, architecture


def compiled_in(build):
    """Packages with archives that are linked in or headers that were compiled, by what ninja knows of the files of /usr."""
    links = re.findall(r"^build (?:bin/paceline|lib/paceline/plugins/\S+\.so): (?:.+\n)+", (build / "build.ninja").read_text(), re.M)
    archives = set(re.findall(r"/usr/lib/\S+?\.a\b", "".join(links)))
    headers = set(re.findall(r"^\s+(/usr/include/\S+)$", said("ninja", "-C", str(build), "-t", "deps"), re.M))
    headers |= set(re.findall(r"=(/usr/include/\S+\.proto)$", (build / "CMakeCache.txt").read_text(), re.M))   # classes generated from it
    # One file of each folder is enough to name its package.
    folders = {str(pathlib.Path(name).parent): name for name in sorted(headers)}
    return [set(owners([pathlib.Path(name) for name in names if pathlib.Path(name).exists()]).values()) for names in (archives, folders.values())]


def python_entry(package, version):
    """A Python package with headers that were compiled; its libraries are not in the bundle."""
    return {**entry(package, version), "externalRefs": [reference_of(f"pkg:pypi/{package}@{version}")]}


def package_entry(package):
    version, source, architecture = facts(package)
    return {**entry(package, version), "supplier": "Organization: Debian", "sourceInfo": f"built from the source package {source}",
            "externalRefs": [reference_of(f"pkg:deb/debian/{package}@{version}?arch={architecture}")]}


def reference_of(purl):
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}


def entry(package, version):
    return {"SPDXID": f"SPDXRef-Package-{re.sub('[^A-Za-z0-9.-]', '-', package)}-{re.sub('[^A-Za-z0-9.-]', '-', version)}", "name": package, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION"}


def file_entry(bundle, path):
    name = str(path.relative_to(bundle))
    return {"SPDXID": f"SPDXRef-File-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "fileName": f"./{name}",
            "checksums": [{"algorithm": algorithm.upper(), "checksumValue": hashlib.new(algorithm, path.read_bytes()).hexdigest()} for algorithm in ("sha1", "sha256")],
            "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}


def document(bundle, build, seconds):
    about = json.loads((bundle / "bundle.json").read_text())
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    root = {"SPDXID": "SPDXRef-Package-paceline", "name": "paceline", "versionInfo": about["paceline"], "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": "MIT", "licenseDeclared": "MIT", "copyrightText": "NOASSERTION", "sourceInfo": f"commit {about['commit']}"}
    files, relations, packages = [], [("SPDXRef-DOCUMENT", "DESCRIBES", root["SPDXID"])], {}

    def reference(package):
        return packages.setdefault(package, package_entry(package))["SPDXID"]

    known = libraries.places()
    shared = sorted((bundle / "lib").glob("*.so*"))
    owner = owners([known[path.name] for path in shared])
    for path in shared:
        file = file_entry(bundle, path)
        files.append(file)
        package = owner[known[path.name]]
        relations += [(root["SPDXID"], "CONTAINS", file["SPDXID"]), (file["SPDXID"], "GENERATED_FROM", reference(package)),
                      (root["SPDXID"], "DYNAMIC_LINK", reference(package))]
    archives, headers = compiled_in(build)
    relations += [(root["SPDXID"], "STATIC_LINK", reference(package)) for package in sorted(archives)]
    relations += [(reference(package), "BUILD_DEPENDENCY_OF", root["SPDXID"]) for package in sorted(headers - archives)]
    engines = [("torch", release) for release in about["torch"]]
    if "==" in about["extras"].get("openvino", ""):
        engines.append(tuple(about["extras"]["openvino"].split("==")))
    for engine in engines:
        packages[engine] = python_entry(*engine)
        relations.append((packages[engine]["SPDXID"], "BUILD_DEPENDENCY_OF", root["SPDXID"]))
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"paceline-{about['paceline']}",
            "documentNamespace": f"urn:paceline:{about['paceline']}:{about['commit']}", "creationInfo": {"created": created, "creators": ["Tool: scripts/bundle/sbom.py"]},
            "packages": [root, *packages.values()], "files": files,
            "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in relations]}


def main():
    bundle, build, target = map(pathlib.Path, sys.argv[1:4])
    target.write_text(json.dumps(document(bundle, build, int(sys.argv[4])), indent=1) + "\n")


if __name__ == "__main__":
    main()
