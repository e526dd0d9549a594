// What poise.wasm answers: node answers.mjs poise.wasm problems.json
import { readFile } from "node:fs/promises";
import { Poise } from "../../src/poise/browser/poise.js";

const [wasm, given] = process.argv.slice(2);
const poise = await Poise.load(readFile(wasm));
const asked = JSON.parse(await readFile(given));
const bytes = (text) => Uint8Array.from(Buffer.from(text, "base64"));
const found = asked.map(({ file, problems, steps }) => {
  const solver = poise.solver(bytes(file));
  const solved = problems.map(([targets, q0]) => {
    const { q, success, status } = solver.solve(targets, q0, { milliseconds: null });
    return { q: q && [...q], success, status }; // no q where what must hold is not found
  });
  const way = steps.map(([q, targets, measured]) => [...solver.step(q, targets, { measured })]);
  const q = solver.home;
  const [frame] = solver.frames.slice(-2);
  const near = solver.shapes.length ? solver.distance(q) : null;
  return {
    solved,
    way,
    pose: [...solver.pose(frame, q)],
    jacobian: [...solver.jacobian(frame, q)],
    near: near && [near.distance, near.pair],
    names: [solver.coordinates, solver.frames, solver.obstacles],
  };
});
const refused = [];
for (const wrong of [new Uint8Array(3), bytes(asked[0].file).subarray(8), bytes(asked[0].file).fill(7, 100, 200)]) {
  try {
    poise.solver(wrong);
  } catch (error) {
    refused.push([error.status, error.message]);
  }
}
console.log(JSON.stringify({ found, refused }));
