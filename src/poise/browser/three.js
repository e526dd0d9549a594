/* Poses of poise, seven numbers, and objects of three.js, of any version: nothing of three.js is imported here.

     import { poseOf, place } from "poise-ik/three";
     const { q } = arm.solve(poseOf(target, robot));
     place(gripper, arm.pose("panda_hand", q), robot);

   `base` is the object whose axes are those of the robot's root, such as what urdf-loader returns: it may be turned and
   moved, as a robot with z up is in a scene with y up.  Without one poses are those of the scene. */

/** The pose of an object as seen from a base: metres, then the quaternion w x y z. */
export function poseOf(object, base = null) {
  const matrix = worldOf(object).clone();
  if (base) matrix.premultiply(worldOf(base).clone().invert());
  const [at, turn] = [object.position.clone(), object.quaternion.clone()];
  matrix.decompose(at, turn, object.scale.clone());
  return Float64Array.of(at.x, at.y, at.z, turn.w, turn.x, turn.y, turn.z);
}

/** Bring an object to a pose as seen from a base; its size stays. */
export function place(object, pose, base = null) {
  const [x, y, z, qw, qx, qy, qz] = pose;
  const size = object.scale.clone();
  const [at, turn] = [object.position.clone().set(x, y, z), object.quaternion.clone().set(qx, qy, qz, qw)];
  const matrix = object.matrix.clone().compose(at, turn, size.clone().set(1, 1, 1));
  if (base) matrix.premultiply(worldOf(base));
  if (object.parent) matrix.premultiply(worldOf(object.parent).clone().invert());
  matrix.decompose(object.position, object.quaternion, size);
}

/** Where it is now, not where it was drawn last. */
function worldOf(object) {
  object.updateWorldMatrix(true, false);
  return object.matrixWorld;
}
