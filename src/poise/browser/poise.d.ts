/** How a call ended. */
export type Status =
  /* generated: statuses */
  | "OK"
  | "LOCAL_MINIMUM"
  | "BUDGET"
  | "COLLISION"
  | "NOT_FINITE"
  | "BAD_INPUT"
  | "LIMIT"
  | "LOOPS_OPEN"
  | "NO_FILE"
  | "DAMAGED"
  | "NEWER"
  | "OLDER"
  | "NO_CPU"
  | "NO_SOLVER"
  | "NO_TRACKER"
  | "NO_SHAPES"
  | "BAD_ARGUMENT"
  /* end */

/** Their names, in the order of their numbers. */
export const STATUSES: readonly Status[];

/** Numbers: seven a pose, x y z then the quaternion w x y z; nq a configuration [rad and m]. */
export type Numbers = ArrayLike<number>;

/** What a call says that could not be made. */
export class PoiseError extends Error {
  readonly status: Status;
}

/** The compiled library. */
export class Poise {
  /** Of poise.wasm: its bytes, a compiled module, or a response of `fetch` or the promise of one. */
  static load(
    source: BufferSource | WebAssembly.Module | Response | Promise<BufferSource | WebAssembly.Module | Response>,
  ): Promise<Poise>;
  /** A solver or a tracker, of the bytes that `export` wrote; its memory stays with this library.
      Throws PoiseError for those of anything else. */
  solver(file: ArrayBuffer | Uint8Array): Solver;
}

/** How a search ended. */
export interface Solution {
  /** (nq) the answer, or the closest that was found, within the limits of joints; null for BAD_INPUT, and of what has more
      to hold for every status but OK. */
  q: Float64Array | null;
  success: boolean;
  status: Status;
  /** The status as a sentence. */
  message: string;
  iterations: number;
  restarts: number;
  /** The start that led to q: 0 for q0, -1 for a closed form. */
  start: number;
  /** From q0 [rad and m]. */
  distance: number;
  /** The sum of the squares of all errors, weighted. */
  cost: number;
  /** What is left of each task, in its own unit [m or rad]; null for BAD_INPUT. */
  errors: Float64Array | null;
}

/** The two shapes that are nearest to each other. */
export interface Proximity {
  /** [m], negative where they are in each other, infinite where no two may meet. */
  distance: number;
  /** The names of their links, or obstacles. */
  pair: [string, string];
  /** The nearest points [m], in the world. */
  points: [Float64Array, Float64Array];
  /** The unit vector in which the second gets away from the first. */
  away: Float64Array;
}

/** What was loaded, and one thread's work with it. */
export class Solver {
  readonly nq: number;
  readonly nv: number;
  /** The frames that tasks lead, one for each that has seven numbers as target; "" of one without. */
  readonly tasks: readonly string[];
  /** Numbers of a posture behind them. */
  readonly posture: number;
  readonly coordinates: readonly string[];
  readonly frames: readonly string[];
  readonly shapes: readonly string[];
  readonly obstacles: readonly string[];
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  readonly home: Float64Array;
  /** The targets that it begins with: seven numbers a task, then a posture. */
  readonly targets: Float64Array;
  /** Solve for targets, seven numbers a task, from q0; null stands for those of the file, and for its home. */
  solve(targets?: Numbers | null, q0?: Numbers | null, options?: { milliseconds?: number | null }): Solution;
  /** Where one step leads from q, or from where the last one led, towards targets, or those of the last step.
      `measured` is where the robot is: no farther ahead of it than the tracker's following error. */
  step(q?: Numbers | null, targets?: Numbers | null, options?: { measured?: Numbers | null }): Float64Array;
  /** Forget all steps, and where obstacles were moved to. */
  reset(): void;
  pose(frame: string, q: Numbers): Float64Array;
  /** Of all frames, seven numbers each. */
  poses(q: Numbers): Float64Array;
  /** 6 x nv, row by row, linear rows first, along the axes of the world. */
  jacobian(frame: string, q: Numbers): Float64Array;
  distance(q: Numbers): Proximity;
  /** Bring an obstacle to a pose. */
  move(obstacle: string, pose: Numbers): void;
}
