# SPDX-License-Identifier: MIT
"""Pictures as inputs: what preparing them takes is measured by itself, and is in no latency."""

import csv
import io
import zlib

import paceline_cli as cli

PARTS = ["decode", "resize", "normalise"]
# A JPEG of 8 x 8 grey pixels.
JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300" + "01" * 64 + "ffc0000b080008000801011100"
    "ffc4001f0000010501010101010100000000000000000102030405060708090a0b"
    "ffc400b5100002010303020403050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a"
    "25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4"
    "a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa"
    "ffda0008010100003f00" "28" "ffd9")


class Pictures(cli.CliTest):
    def picture(self, name, side):
        """A black PNG."""
        path = self.folder / "pictures" / name
        path.parent.mkdir(exist_ok=True)
        chunks = [(b"IHDR", side.to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])), (b"IDAT", zlib.compress(bytes(side * (3 * side + 1)), 1)), (b"IEND", b"")]
        path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
            len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big") for kind, data in chunks))

    def on_pictures(self, *more):
        return self.infer("--image-dir", "pictures", *more, shapes="input:{batch}x3x8x8")

    def parts(self):
        return self.summary()["cases"][0]["picture_parts"]


class Parts(Pictures):
    def test_each_part_has_a_median_over_the_pictures(self):
        for number in range(30):
            self.picture(f"{number:02}.png", 300)
        result = self.on_pictures("--accuracy-samples", "30")
        self.assert_code(result, 0)
        parts = self.parts()
        self.assertEqual([part["name"] for part in parts], PARTS)
        for part in parts:
            self.assertEqual(part["n"], 30)
            median = part["p50_ns"]
            if median["ci_low"] is not None:  # times that depend on one another are worth fewer
                self.assertLessEqual(median["ci_low"], median["value"])
                self.assertLessEqual(median["value"], median["ci_high"])
        decode, resize, _ = (part["p50_ns"]["value"] for part in parts)
        self.assertGreater(decode, 10_000)  # 270,000 bytes of pixels
        self.assertGreater(resize, 10_000)
        self.assertRegex(result.out, r"median per picture, ms +decode")
        self.assertIn("not part of the latency", " ".join(result.out.split()))
        page = (self.only_run() / "report.html").read_text()
        self.assertIn("Preparing a picture", page)
        table = next(csv.DictReader(io.StringIO(self.run_cli("report", "-s", self.only_run(), "-f", "csv").out)))
        self.assertAlmostEqual(float(table["decode_ms"]), decode / 1e6, places=3)

    def test_two_pictures_have_no_interval(self):
        self.picture("a.png", 50)
        (self.folder / "pictures/b.jpg").write_bytes(JPEG)
        self.assert_code(self.on_pictures(), 0)
        for part in self.parts():
            self.assertEqual(part["n"], 2)
            self.assertIsNone(part["p50_ns"]["ci_low"])
            self.assertTrue(part["p50_ns"]["ci_low_reason"])

    def test_a_large_picture_takes_its_time(self):
        self.picture("a.png", 2000)
        self.assert_code(self.on_pictures(), 0)
        self.assertGreater(self.parts()[0]["p50_ns"]["value"], 1e6)  # 12 MB of pixels

    def test_a_gate_may_name_them_and_generated_inputs_have_none(self):
        for number in range(30):
            self.picture(f"{number:02}.png", 50)
        self.assertIn("expect decode_ms < 10000", self.on_pictures("--accuracy-samples", "30", "--expect", "decode_ms < 10000").out)
        result = self.infer("--expect", "decode_ms < 10000", "-o", "other", shapes="input:{batch}x3x8x8")
        self.assertIn("no picture was read", result.out + result.err)

    def test_a_resumed_run_keeps_them(self):
        self.picture("a.png", 50)
        self.write("pictures/notes.txt", "x")
        self.write("pictures/b.tif", "x")
        self.assert_code(self.on_pictures(), 0)
        before = self.parts()
        left_out = self.summary()["cases"][0]["pictures_left_out"]
        self.assertEqual(left_out, "1 .tif, 1 .txt")
        self.assert_code(self.run_cli("run", "--resume", self.only_run()), 0)
        self.assertEqual(self.parts(), before)
        self.assertEqual(self.summary()["cases"][0]["pictures_left_out"], left_out)


if __name__ == "__main__":
    cli.main()
