import type { Numbers, Solver } from "./poise.js";

/** What is asked of a robot of urdf-loader: a `URDFRobot`. */
export interface Jointed {
  joints: { [name: string]: { jointType: string; ignoreLimits: boolean; setJointValue(...values: number[]): boolean } };
}

/** (nq) where a robot's joints are.  Throws RangeError for a joint that it lacks. */
export function configurationOf(robot: Jointed, solver: Solver): Float64Array;

/** Bring a robot's joints to a configuration (nq).  Throws RangeError for a joint that it lacks. */
export function show(robot: Jointed, solver: Solver, q: Numbers): void;
