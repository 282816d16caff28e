// Builds the page: `node build.mjs --out DIR [--dev | --watch]`; `--test` bundles the unit tests into build/test instead.
import { build, context } from "esbuild";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const here = dirname(fileURLToPath(import.meta.url));
const { values } = parseArgs({
  options: {
    out: { type: "string" },
    dev: { type: "boolean", default: false },
    test: { type: "boolean", default: false },
    watch: { type: "boolean", default: false },
  },
});

const common = { bundle: true, target: "es2022", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning" };

async function buildPage(out, dev, watch) {
  const assets = join(out, "assets");
  await rm(assets, { recursive: true, force: true });
  await mkdir(assets, { recursive: true });
  await copyFile(join(here, "index.html"), join(out, "index.html"));
  const options = {
    ...common,
    absWorkingDir: here,
    entryPoints: { app: "src/main.tsx" },
    outdir: assets,
    format: "iife",
    charset: "utf8",
    minify: !dev,
    sourcemap: dev ? "linked" : false,
    legalComments: "none",
    metafile: true,
  };
  if (watch) {
    await (await context({ ...options, logLevel: "info" })).watch();
    return;
  }
  const result = await build(options);
  await writeFile(join(assets, "licences.txt"), await licences(result.metafile));
}

/** The licences of all packages of which a part is in the bundle. */
async function licences(metafile) {
  const names = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) names.add(found[1]);
  }
  const parts = [];
  for (const name of [...names].sort()) parts.push(await licence(name));
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}

async function licence(name) {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((each) => /^(licen[cs]e|copying)/i.test(each));
  const text = file ? await readFile(join(folder, file), "utf8") : "(the package holds no text of its licence)\n";
  return `${name} ${about.version}, ${about.license}\n\n${text.trimEnd()}\n`;
}

async function buildTests() {
  const out = join(here, "build", "test");
  await rm(out, { recursive: true, force: true });
  const names = (await readdir(join(here, "test"))).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    absWorkingDir: here,
    entryPoints: names.map((name) => join("test", name)),
    outdir: out,
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "node",
    external: ["node:*"],
  });
}

if (values.test) await buildTests();
else if (values.out) await buildPage(resolve(values.out), values.dev || values.watch, values.watch);
else {
  console.error("usage: node build.mjs --out DIR [--dev | --watch] | --test");
  process.exitCode = 2;
}
