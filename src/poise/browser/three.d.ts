import type { Numbers } from "./poise.js";

/** What is asked of an object of three.js: any `Object3D`. */
export interface Placed {
  parent: unknown;
  position: object;
  quaternion: object;
  scale: object;
  matrix: object;
  matrixWorld: object;
  updateWorldMatrix(updateParents: boolean, updateChildren: boolean): void;
}

/** The pose of an object as seen from a base: metres, then the quaternion w x y z. */
export function poseOf(object: Placed, base?: Placed | null): Float64Array;

/** Bring an object to a pose as seen from a base; its size stays. */
export function place(object: Placed, pose: Numbers, base?: Placed | null): void;
