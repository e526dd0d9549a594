/* Configurations of poise on robots of urdf-loader, joint by joint, by their names.

     import { configurationOf, show } from "poise-ik/urdf-loader";
     show(robot, arm, arm.solve(target, configurationOf(robot, arm)).q);

   Joints that follow others have no place in a configuration: urdf-loader moves them itself. */

/** (nq) where a robot's joints are. */
export function configurationOf(robot, solver) {
  return Float64Array.from(jointsOf(robot, solver), (joint) => joint.angle);
}

/** Bring a robot's joints to a configuration (nq), to the last bit: they are within their limits already. */
export function show(robot, solver, q) {
  jointsOf(robot, solver).forEach((joint, k) => {
    const asked = joint.ignoreLimits;
    joint.ignoreLimits = true; // a file's limits may have been rounded on their way here
    joint.setJointValue(q[k]);
    joint.ignoreLimits = asked;
  });
}

function jointsOf(robot, solver) {
  return solver.coordinates.map((name) => {
    const joint = robot.joints[name];
    if (!joint || !["revolute", "continuous", "prismatic"].includes(joint.jointType))
      throw new RangeError(
        `the robot has no joint ${JSON.stringify(name)} of one number, which the solver moves: export the solver of the ` +
          `same file, and lock what stands still; its joints are ${Object.keys(robot.joints).join(", ")}`,
      );
    return joint;
  });
}
