// Let a Panda follow a circle, in node or in a page: node follow.mjs poise.wasm panda.poise
import { readFile } from "node:fs/promises";
import { Poise } from "../../src/poise/browser/poise.js"; // "poise-ik", where the package is installed

const [wasm, file] = process.argv.slice(2);
const poise = await Poise.load(readFile(wasm)); // in a page: fetch("poise.wasm")
const arm = poise.solver(await readFile(file));

let q = arm.home;
for (let k = 0; k < 240; k++) {
  const turn = (2 * Math.PI * k) / 120;
  q = arm.step(q, [0.45, 0.2 * Math.cos(turn), 0.4 + 0.1 * Math.sin(turn), 0, 1, 0, 0]);
}
const [x, y, z] = arm.pose("panda_hand", q);
console.log(`the hand is at ${x.toFixed(3)} ${y.toFixed(3)} ${z.toFixed(3)} m`);
