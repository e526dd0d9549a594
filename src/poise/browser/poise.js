/* Inverse kinematics that keeps limits, in a page or in node: solvers and trackers that `export` wrote in Python.

     const poise = await Poise.load(fetch("poise.wasm"));
     const arm = poise.solver(await (await fetch("arm.poise")).arrayBuffer());
     const { q, status } = arm.solve([0.4, 0.1, 0.5, 0, 1, 0, 0]);

   Units are metres and radians.  A pose has seven numbers, x y z, then the quaternion w x y z. */

/* What the memory of a call's report and of the nearest shapes looks like, see poise.h. */
const REPORT = { iterations: 8, restarts: 16, start: 24, distance: 32, cost: 40, errors: 48, bytes: 56 };
const NEAREST = { distance: 0, first: 8, second: 12, atFirst: 16, atSecond: 40, away: 64, bytes: 88 };
const WHAT = { nq: 0, nv: 1, targets: 2, posture: 3, tasks: 4, errors: 5, coordinates: 6, frames: 7, shapes: 8, obstacles: 9 };

/* generated: statuses */
export const STATUSES = [
  "OK",
  "LOCAL_MINIMUM",
  "BUDGET",
  "COLLISION",
  "NOT_FINITE",
  "BAD_INPUT",
  "LIMIT",
  "LOOPS_OPEN",
  "NO_FILE",
  "DAMAGED",
  "NEWER",
  "OLDER",
  "NO_CPU",
  "NO_SOLVER",
  "NO_TRACKER",
  "NO_SHAPES",
  "BAD_ARGUMENT",
];
/* end */

/** What a call says that could not be made: its `status` is one of STATUSES. */
export class PoiseError extends Error {
  constructor(status, message) {
    super(message);
    this.name = "PoiseError";
    this.status = status;
  }
}

/** The compiled library. */
export class Poise {
  #deadline = Infinity;
  #end;

  /** Of poise.wasm: its bytes, a compiled module, or a response of `fetch` or the promise of one. */
  static async load(source) {
    const poise = new Poise();
    const imports = { poise: { late: () => (performance.now() >= poise.#deadline ? 1 : 0) } };
    const given = await source;
    const isResponse = typeof Response !== "undefined" && given instanceof Response;
    if (isResponse && !given.ok) throw new Error(`${given.url} cannot be fetched: ${given.status}`);
    const bytes = isResponse ? await given.arrayBuffer() : given;
    const made = await WebAssembly.instantiate(bytes, imports);
    poise.exports = (made.instance ?? made).exports;
    poise.#end = poise.exports.__heap_base.value;
    return poise;
  }

  /** A solver or a tracker, of the bytes that `export` wrote; throws PoiseError for those of anything else. */
  solver(file) {
    const bytes = file instanceof Uint8Array ? file : new Uint8Array(file);
    const mark = this.#end;
    const { pz_size, pz_load, pz_begin, pz_work_size } = this.exports;
    const at = this.take(bytes.length);
    new Uint8Array(this.memory).set(bytes, at);
    const memory = this.take(pz_size(at, bytes.length));
    const found = this.take(8);
    const status = pz_load(at, bytes.length, memory, found);
    if (status) {
      this.#end = mark;
      throw this.error(status);
    }
    const solver = new Uint32Array(this.memory, found, 1)[0];
    const own = this.take(pz_work_size(solver));
    return new Solver(this, solver, own, pz_begin(solver, own));
  }

  /** Let searches end at a time of `performance.now()`. */
  set deadline(time) {
    this.#deadline = time;
  }

  get memory() {
    return this.exports.memory.buffer;
  }

  /** Bytes that stay with this library, from a multiple of 64 on. */
  take(bytes) {
    const at = (this.#end + 63) & ~63;
    this.#end = at + bytes;
    const missing = this.#end - this.memory.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    return at;
  }

  /** A text that ends with a zero byte. */
  text(at) {
    const bytes = new Uint8Array(this.memory, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }

  error(status) {
    return new PoiseError(STATUSES[status], this.text(this.exports.pz_message(status)));
  }
}

/** What was loaded, and one thread's work with it. */
export class Solver {
  #poise;
  #solver;
  #own;
  #work;
  #room;

  constructor(poise, solver, own, work) {
    this.#poise = poise;
    this.#solver = solver;
    this.#own = own;
    this.#work = work;
    const count = (what) => Number(poise.exports.pz_count(solver, WHAT[what]));
    const names = (what) =>
      Array.from({ length: count(what) }, (_, i) => poise.text(poise.exports.pz_name(solver, WHAT[what], BigInt(i))));
    for (const what of ["nq", "nv", "posture"]) this[what] = count(what);
    for (const what of ["tasks", "coordinates", "frames", "shapes", "obstacles"]) this[what] = names(what);
    const targets = count("targets");
    this.#room = {
      targets: poise.take(8 * targets),
      q: poise.take(8 * this.nq),
      robot: poise.take(8 * this.nq),
      out: poise.take(8 * Math.max(this.nq, 7 * this.frames.length, 6 * this.nv)),
      report: poise.take(Math.max(REPORT.bytes, NEAREST.bytes)),
      numbers: targets,
      errors: count("errors"),
    };
    for (const name of ["lower", "upper", "home"])
      this[name] = this.#copy(poise.exports[`pz_${name}`](solver), this.nq);
    this.targets = this.#copy(poise.exports.pz_targets(solver), targets);
  }

  /** Solve for targets, seven numbers a task, from q0: those of the file where there are none.  `milliseconds` is how
      long it may search. */
  solve(targets = null, q0 = null, { milliseconds } = {}) {
    this.#poise.deadline = performance.now() + (milliseconds ?? Infinity);
    const { out, report } = this.#room;
    new Float64Array(this.#poise.memory, out, this.nq).fill(NaN); // what is left alone is no answer
    const code = this.#poise.exports.pz_solve_until(this.#work, this.#targets(targets), this.#q(q0), out, report);
    if (STATUSES[code] === "NO_SOLVER") throw this.#poise.error(code);
    const told = new DataView(this.#poise.memory, report, REPORT.bytes);
    const solved = STATUSES[code] !== "BAD_INPUT";
    const found = !Number.isNaN(new Float64Array(this.#poise.memory, out, 1)[0]);
    return {
      q: found ? this.#copy(out, this.nq) : null,
      success: code === 0,
      status: STATUSES[code],
      message: this.#poise.text(this.#poise.exports.pz_message(code)),
      iterations: Number(told.getBigInt64(REPORT.iterations, true)),
      restarts: Number(told.getBigInt64(REPORT.restarts, true)),
      start: Number(told.getBigInt64(REPORT.start, true)),
      distance: told.getFloat64(REPORT.distance, true),
      cost: told.getFloat64(REPORT.cost, true),
      errors: solved ? this.#copy(told.getUint32(REPORT.errors, true), this.#room.errors) : null,
    };
  }

  /** Where one step leads from q, or from where the last one led, towards targets, or those of the last step.
      `measured` is where the robot is: no farther ahead of it than the tracker's following error. */
  step(q = null, targets = null, { measured } = {}) {
    const { out, robot } = this.#room;
    const at = measured == null ? 0 : this.#put(robot, measured, this.nq, "a configuration");
    const code = this.#poise.exports.pz_step_measured(this.#work, this.#q(q), this.#targets(targets), at, out);
    this.#check(code, ["NOT_FINITE"]);
    return this.#copy(out, this.nq);
  }

  /** Forget all steps, and where obstacles were moved to. */
  reset() {
    this.#poise.exports.pz_begin(this.#solver, this.#own);
  }

  /** The pose of a frame, by its name. */
  pose(frame, q) {
    const { out } = this.#room;
    this.#check(this.#poise.exports.pz_pose(this.#work, this.#q(q), this.#number("frames", frame), out));
    return this.#copy(out, 7);
  }

  /** The poses of all frames, seven numbers each. */
  poses(q) {
    const { out } = this.#room;
    this.#check(this.#poise.exports.pz_poses(this.#work, this.#q(q), out));
    return this.#copy(out, 7 * this.frames.length);
  }

  /** The Jacobian of a frame, 6 x nv, row by row, linear rows first, along the axes of the world. */
  jacobian(frame, q) {
    const { out } = this.#room;
    this.#check(this.#poise.exports.pz_jacobian(this.#work, this.#q(q), this.#number("frames", frame), out));
    return this.#copy(out, 6 * this.nv);
  }

  /** The two shapes that are nearest to each other. */
  distance(q) {
    const { report } = this.#room;
    this.#check(this.#poise.exports.pz_distance(this.#work, this.#q(q), report));
    const told = new DataView(this.#poise.memory, report, NEAREST.bytes);
    const pair = [NEAREST.first, NEAREST.second].map((at) => this.shapes[told.getInt32(at, true)] ?? "");
    return {
      distance: told.getFloat64(NEAREST.distance, true),
      pair,
      points: [this.#copy(report + NEAREST.atFirst, 3), this.#copy(report + NEAREST.atSecond, 3)],
      away: this.#copy(report + NEAREST.away, 3),
    };
  }

  /** Bring an obstacle, by its name, to a pose. */
  move(obstacle, pose) {
    const { out } = this.#room;
    this.#put(out, pose, 7, "a pose");
    this.#check(this.#poise.exports.pz_move(this.#work, this.#number("obstacles", obstacle), out));
  }

  #number(what, name) {
    const found = this[what].indexOf(name);
    if (found < 0) throw new RangeError(`there is no ${JSON.stringify(name)} among ${what}: ${this[what].join(", ")}`);
    return BigInt(found);
  }

  #check(code, taken = []) {
    if (code && !taken.includes(STATUSES[code])) throw this.#poise.error(code);
  }

  #copy(at, count) {
    return new Float64Array(this.#poise.memory, at, count).slice();
  }

  #put(at, numbers, count, what) {
    if (numbers.length !== count) throw new RangeError(`${what} has ${count} numbers, got ${numbers.length}`);
    new Float64Array(this.#poise.memory, at, count).set(numbers);
    return at;
  }

  #q(q) {
    return q == null ? 0 : this.#put(this.#room.q, q, this.nq, "a configuration");
  }

  #targets(targets) {
    return targets == null ? 0 : this.#put(this.#room.targets, targets, this.#room.numbers, "the targets together");
  }
}
